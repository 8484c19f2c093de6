//! The workspaces that somebody follows or searches: their indexes, and what happens there as clients are told it.
//!
//! None of it is in the log. What happens in a workspace is worked out once, whoever follows it, and each client takes it
//! at its own speed; who falls behind is told to look again. A workspace that nobody uses has nothing here that runs.

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
use crate::workspaces::Entry as Workspace;

/// How long an index is kept up to date after it was last asked.
const LINGER: Duration = Duration::from_secs(60);

/// How long a client waits for its subscription to be in effect at most.
const PATIENCE: Duration = Duration::from_secs(10);

/// Messages that wait for a client at most; who is further behind is told to look again.
const BEHIND: usize = 128;

/// The workspaces that somebody follows or searches.
pub(crate) struct Live {
    /// Where indexes are kept between two runs.
    folder: PathBuf,
    open: Mutex<HashMap<String, Arc<Repository>>>,
    followed: Mutex<HashMap<String, Weak<Followed>>>,
    /// Until when each index is kept up to date for those who search.
    lingering: Mutex<HashMap<Lingering, Linger>>,
    /// The branches that a client's call led to and recorded.
    switched: Mutex<HashMap<String, String>>,
}

/// A workspace's folder that is kept up to date; another one may be in its place later.
type Lingering = (String, usize);

/// Until when it is; forgotten together with its workspace.
struct Linger {
    until: Instant,
    _forgotten: DropGuard,
}

/// A workspace that somebody follows.
struct Followed {
    repository: Arc<Repository>,
    messages: broadcast::Sender<Utf8Bytes>,
    teller: AbortOnDropHandle<()>,
}

impl Followed {
    /// It tells of this folder, and still does.
    fn tells_of(&self, repository: &Arc<Repository>) -> bool {
        Arc::ptr_eq(&self.repository, repository) && !self.teller.is_finished()
    }
}

/// One client's share of a followed workspace; ends when dropped.
pub(crate) struct LiveFeed {
    _task: AbortOnDropHandle<()>,
}

impl Live {
    pub(crate) fn new(state: PathBuf) -> Self {
        Self {
            folder: state.join("index"),
            open: Mutex::default(),
            followed: Mutex::default(),
            lingering: Mutex::default(),
            switched: Mutex::default(),
        }
    }

    /// A workspace's folder with its index.
    pub(crate) async fn repository(&self, entry: &Workspace) -> Result<Arc<Repository>, Fault> {
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

    /// A workspace's index, up to date; it is kept so for a while.
    pub(crate) async fn index(
        &self,
        host: &Arc<Host>,
        entry: &Workspace,
    ) -> Result<(Arc<Repository>, Arc<Index>), Fault> {
        let repository = self.repository(entry).await?;
        let index = repository.current().await.map_err(fault::workspace)?;
        self.linger(host, entry.id.to_string(), &repository);
        Ok((repository, index))
    }

    /// A workspace's index with the right names, if not yet the right sizes; it is brought and kept up to date.
    pub(crate) async fn named(&self, host: &Arc<Host>, entry: &Workspace) -> Result<Arc<Index>, Fault> {
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

    /// Tells a client what happens in a workspace from now on, and first how it is. Returns when nothing will be missed.
    pub(crate) async fn follow(
        &self,
        host: &Arc<Host>,
        connection: &Arc<Connection>,
        entry: &Workspace,
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
            match all.get(&id).and_then(Weak::upgrade).filter(|followed| followed.tells_of(&repository)) {
                Some(followed) => {
                    trouble = follow.trouble();
                    (followed.clone(), followed.messages.subscribe())
                }
                None => {
                    let (messages, received) = broadcast::channel(BEHIND);
                    // What was switched while nobody followed is told nobody.
                    self.take_switched(&id);
                    let teller = WorkspaceEvents::new(
                        host.clone(),
                        entry.id.clone(),
                        repository.clone(),
                        branch,
                        messages.clone(),
                    );
                    let teller = AbortOnDropHandle::new(host.delivery.background.handle().spawn(teller.run(follow)));
                    let followed = Arc::new(Followed { repository: repository.clone(), messages, teller });
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

    /// A client's call led to another branch, and recorded it.
    pub(crate) fn switched(&self, id: &str, branch: &str) {
        lock(&self.switched).insert(id.to_owned(), branch.to_owned());
    }

    /// The branch that a client's call led to since this was last asked.
    fn take_switched(&self, id: &str) -> Option<String> {
        lock(&self.switched).remove(id)
    }

    /// Forgets a workspace that is one no more.
    pub(crate) async fn forget(&self, id: &str) {
        lock(&self.open).remove(id);
        lock(&self.followed).remove(id);
        lock(&self.lingering).retain(|(workspace, _), _| workspace != id);
        lock(&self.switched).remove(id);
        // It may never have been kept.
        let _ = tokio::fs::remove_file(self.folder.join(id)).await;
    }
}

/// What a client is told whose workspace cannot be followed.
pub(crate) fn failed(workspace: &str, message: &str) -> Utf8Bytes {
    ephemeral("watch_failed", json!({ "workspace_id": workspace, "message": message }))
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each change is one statement, so a panic elsewhere cannot have left it broken.
    shared.lock()
}
