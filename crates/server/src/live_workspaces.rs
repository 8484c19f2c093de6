//! The indexes and the live events of the workspaces that somebody follows or searches.
//!
//! None of it is in the log. The events of a workspace are computed once for all followers, and each client reads them
//! at its own speed; one that falls behind gets `files_rescanned` instead. Nothing runs for a workspace that nobody
//! uses.

mod workspace_events;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::extract::ws::Utf8Bytes;
use parking_lot::{Mutex, MutexGuard};
use roost_rpc::Fault;
use roost_workspace::index::Index;
use roost_workspace::watch::remove_old_marks;
use roost_workspace::{Repository, Root};
use serde_json::json;
use tokio::sync::broadcast;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::AbortOnDropHandle;
use workspace_events::WorkspaceEvents;

use crate::blocking::blocking;
use crate::connection::{Connection, ephemeral};
use crate::fault;
use crate::host::Host;
use crate::workspaces::WorkspaceEntry;

/// How long an index is kept up to date after its last use.
const LINGER: Duration = Duration::from_secs(60);

/// The most that a subscription waits for the watcher to be ready; then it is answered all the same.
const PATIENCE: Duration = Duration::from_secs(10);

/// Messages that wait for one client; a client that is further behind gets `files_rescanned`.
const BEHIND: usize = 128;

/// The open repositories, their followers and their lingering indexes, by workspace id.
pub(crate) struct LiveWorkspaces {
    /// The folder of the index snapshots, one file for each workspace.
    folder: PathBuf,
    open: Mutex<HashMap<String, Arc<Repository>>>,
    followed: Mutex<HashMap<String, Weak<FollowedWorkspace>>>,
    /// How long each index is still kept up to date after a search.
    lingering: Mutex<HashMap<LingerKey, Linger>>,
    /// The branches that calls of clients have checked out and recorded, by workspace, so that they are not recorded
    /// twice.
    switched: Mutex<HashMap<String, String>>,
}

/// A workspace id and the address of its `Repository`, which another may replace later.
type LingerKey = (String, usize);

/// When lingering ends; dropping it ends it at once.
struct Linger {
    until: Instant,
    _forgotten: DropGuard,
}

/// A workspace with at least one follower, and the task that publishes its events.
struct FollowedWorkspace {
    repository: Arc<Repository>,
    messages: broadcast::Sender<Utf8Bytes>,
    publisher: AbortOnDropHandle<()>,
}

impl FollowedWorkspace {
    /// Whether its task publishes the events of this repository, and still runs.
    fn serves(&self, repository: &Arc<Repository>) -> bool {
        Arc::ptr_eq(&self.repository, repository) && !self.publisher.is_finished()
    }
}

/// The task that sends a workspace's events to one client; dropping it unsubscribes.
pub(crate) struct LiveFeed {
    _task: AbortOnDropHandle<()>,
}

impl LiveWorkspaces {
    pub(crate) fn new(state: PathBuf) -> Self {
        Self {
            folder: state.join("index"),
            open: Mutex::default(),
            followed: Mutex::default(),
            lingering: Mutex::default(),
            switched: Mutex::default(),
        }
    }

    /// Removes the watchers' folders of marks: at the start those of a daemon that was killed, at the end its own.
    pub(crate) async fn remove_marks(&self) {
        let folder = self.folder.clone();
        // It fails only if the runtime is shutting down; the next start does it then.
        let _ = blocking(move || remove_old_marks(&folder)).await;
    }

    /// The repository of a workspace; opened anew if another folder is at its path by now.
    pub(crate) async fn repository(&self, entry: &WorkspaceEntry) -> Result<Arc<Repository>, Fault> {
        let id = entry.id.to_string();
        let known = lock(&self.open).get(&id).cloned();
        let (path, snapshot, last) = (entry.path.clone(), self.folder.join(&id), known.clone());
        let opened = blocking(move || match last {
            Some(last) if last.root().is_there() => Ok(last),
            // The folder is another by now, or is opened for the first time.
            _ => Root::open(path.as_ref()).map(|root| Arc::new(Repository::new(root, Some(snapshot)))),
        });
        let opened = opened.await?.map_err(fault::workspace)?;
        let mut open = lock(&self.open);
        let is_same = |current: &Arc<Repository>| known.as_ref().is_some_and(|known| Arc::ptr_eq(known, current));
        // Two who come at once share the one that was first.
        let repository = open.get(&id).filter(|current| !is_same(current)).cloned().unwrap_or(opened);
        open.insert(id, repository.clone());
        Ok(repository)
    }

    /// The repository and its index, up to date. The index is then kept so for `LINGER`.
    pub(crate) async fn index(
        &self,
        host: &Arc<Host>,
        entry: &WorkspaceEntry,
    ) -> Result<(Arc<Repository>, Arc<Index>), Fault> {
        let repository = self.repository(entry).await?;
        let index = repository.current().await.map_err(fault::workspace)?;
        self.linger(host, entry.id.to_string(), &repository);
        Ok((repository, index))
    }

    /// The index with the right names; sizes may still be those that git remembers. It is then kept up to date for
    /// `LINGER`.
    pub(crate) async fn named(&self, host: &Arc<Host>, entry: &WorkspaceEntry) -> Result<Arc<Index>, Fault> {
        let repository = self.repository(entry).await?;
        let index = repository.named().await.map_err(fault::workspace)?;
        self.linger(host, entry.id.to_string(), &repository);
        Ok(index)
    }

    fn linger(&self, host: &Arc<Host>, id: String, repository: &Arc<Repository>) {
        let id = (id, Arc::as_ptr(repository).addr());
        let until = Instant::now() + LINGER;
        let forgotten = CancellationToken::new();
        match lock(&self.lingering).entry(id.clone()) {
            Entry::Occupied(mut kept) => return kept.get_mut().until = until,
            _ if host.daemon.closing.is_cancelled() => return,
            Entry::Vacant(place) => {
                place.insert(Linger { until, _forgotten: forgotten.clone().drop_guard() });
            }
        }
        let (host, follow) = (host.clone(), repository.follow());
        host.clone().daemon.spawn(async move {
            let live = &host.repositories.live;
            loop {
                let until = lock(&live.lingering).get(&id).map(|linger| linger.until);
                let Some(until) = until.filter(|until| *until > Instant::now()) else { break };
                tokio::select! {
                    () = tokio::time::sleep_until(until) => {}
                    () = forgotten.cancelled() => break,
                    () = host.daemon.closing.cancelled() => break,
                }
            }
            lock(&live.lingering).remove(&id);
            drop(follow);
        });
    }

    /// Sends a client the git status of a workspace, and then its events. Returns when nothing will be missed.
    pub(crate) async fn follow(
        &self,
        host: &Arc<Host>,
        connection: &Arc<Connection>,
        entry: &WorkspaceEntry,
    ) -> Result<LiveFeed, Fault> {
        let id = entry.id.to_string();
        let repository = self.repository(entry).await?;
        let follow = repository.follow();
        // A big folder takes its time; then the client rather has its answer.
        let _ = tokio::time::timeout(PATIENCE, follow.ready()).await;
        let branch = workspace_events::branch(&repository).await;
        // The first to follow is told by the teller, which begins with it.
        let mut trouble = None;
        let (followed, mut messages) = {
            let mut all = lock(&self.followed);
            all.retain(|_, followed| followed.strong_count() > 0);
            match all.get(&id).and_then(Weak::upgrade).filter(|followed| followed.serves(&repository)) {
                Some(followed) => {
                    trouble = follow.trouble();
                    (followed.clone(), followed.messages.subscribe())
                }
                None => {
                    let (messages, received) = broadcast::channel(BEHIND);
                    // What was switched while nobody followed is told nobody.
                    self.take_switched(&id);
                    let publisher = WorkspaceEvents::new(
                        host.clone(),
                        entry.id.clone(),
                        repository.clone(),
                        branch,
                        messages.clone(),
                    );
                    let publisher =
                        AbortOnDropHandle::new(host.delivery.background.handle().spawn(publisher.run(follow)));
                    let followed = Arc::new(FollowedWorkspace { repository: repository.clone(), messages, publisher });
                    all.insert(id.clone(), Arc::downgrade(&followed));
                    (followed, received)
                }
            }
        };
        let connection = connection.clone();
        let task = host.delivery.background.handle().spawn(async move {
            // Held as long as this client wants it.
            let _followed = followed;
            if let Some(error) = trouble
                && !connection.send(failed(&id, &error.to_string())).await
            {
                return;
            }
            if let Some(status) = workspace_events::status(&id, &repository).await
                && !connection.send(status.message()).await
            {
                return;
            }
            loop {
                let message = match messages.recv().await {
                    Ok(message) => message,
                    Err(broadcast::error::RecvError::Lagged(missed)) => {
                        workspace_events::rescanned(&id, missed, "this client was too slow to be told of each change")
                    }
                    Err(broadcast::error::RecvError::Closed) => return,
                };
                if !connection.send(message).await {
                    return;
                }
            }
        });
        Ok(LiveFeed { _task: AbortOnDropHandle::new(task) })
    }

    /// Notes that a client's call has checked out another branch and recorded that in the log.
    pub(crate) fn switched(&self, id: &str, branch: &str) {
        lock(&self.switched).insert(id.to_owned(), branch.to_owned());
    }

    /// Takes the branch that a client's call has checked out since this was last called.
    fn take_switched(&self, id: &str) -> Option<String> {
        lock(&self.switched).remove(id)
    }

    /// Forgets a workspace that was removed, with its index snapshot.
    pub(crate) async fn forget(&self, id: &str) {
        lock(&self.open).remove(id);
        lock(&self.followed).remove(id);
        lock(&self.lingering).retain(|(workspace, _), _| workspace != id);
        lock(&self.switched).remove(id);
        // It may never have been kept.
        let _ = tokio::fs::remove_file(self.folder.join(id)).await;
    }
}

/// The `watch_failed` notification, for a client whose workspace cannot be followed.
pub(crate) fn failed(workspace: &str, message: &str) -> Utf8Bytes {
    ephemeral("watch_failed", json!({ "workspace_id": workspace, "message": message }))
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each change is one statement, so a panic elsewhere cannot have left it broken.
    shared.lock()
}
