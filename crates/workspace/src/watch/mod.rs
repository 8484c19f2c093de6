//! What happens in a workspace while somebody follows it.
//!
//! All who follow share one watcher, which begins with the first of them and ends with the last: for a workspace that
//! nobody follows nothing runs and nothing is held.

mod burst;
mod files;
mod git;
mod pace;
mod sight;

use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{broadcast, mpsc, watch};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until};
use tokio_util::task::AbortOnDropHandle;

use crate::GitDir;
use crate::repository::Repository;
use burst::{Burst, Touch};
use files::FileWatcher;
use git::GitWatcher;
use pace::Pace;

pub use burst::{Change, ChangeKind};
pub(crate) use sight::{Moment, Sight};

/// Events that wait for a follower at most; who is further behind is told so.
const BEHIND: usize = 256;

/// Why a workspace cannot be watched.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the workspace cannot be watched: {0}")]
pub struct Error(String);

impl From<notify::Error> for Error {
    fn from(error: notify::Error) -> Self {
        Self(match error.kind {
            notify::ErrorKind::MaxFilesWatch => {
                "the system watches no more folders; raise fs.inotify.max_user_watches".to_owned()
            }
            _ => error.to_string(),
        })
    }
}

/// What happened in a workspace.
#[derive(Clone, Debug)]
pub enum Live {
    /// These files changed; the index knows already.
    Files(Arc<[Change]>),
    /// Too much happened to be told one by one: everything was looked at again, and so many files are other than before.
    Rescanned(usize),
    /// Git's state may be another.
    Git,
    /// It is watched no more, or not wholly: what follows may be missing.
    Failed(Error),
}

/// Follows a workspace until it is dropped.
#[derive(Debug)]
pub struct Follow {
    events: broadcast::Receiver<Live>,
    watch: Arc<Watching>,
}

impl Follow {
    /// Waits until everything is watched, or cannot be: what happens from then on is told.
    pub async fn ready(&self) {
        // The sender is gone only together with the watcher.
        let _ = self.watch.is_ready.clone().wait_for(|is_ready| *is_ready).await;
    }

    /// The next event; a follower that was too slow is told to look at everything again.
    pub async fn next(&mut self) -> Live {
        match self.events.recv().await {
            Ok(event) => event,
            Err(broadcast::error::RecvError::Lagged(missed)) => Live::Rescanned(missed as usize),
            // Cannot be while the watch is held; and if it were, there would never be another event.
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
}

/// A workspace that is watched.
#[derive(Debug)]
struct Watching {
    events: broadcast::Sender<Live>,
    is_ready: watch::Receiver<bool>,
    task: AbortOnDropHandle<()>,
}

/// The watcher of a workspace, while there is one.
#[derive(Debug, Default)]
pub(crate) struct Watch(Mutex<Weak<Watching>>);

impl Watch {
    pub(crate) fn follow(&self, repository: &Arc<Repository>) -> Follow {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // One that failed is begun anew by whoever comes next.
        let watch = current.upgrade().filter(|watch| !watch.task.is_finished()).unwrap_or_else(|| {
            let (events, _) = broadcast::channel(BEHIND);
            let (ready, is_ready) = watch::channel(false);
            let task = tokio::spawn(run(repository.clone(), events.clone(), ready));
            Arc::new(Watching { events, is_ready, task: AbortOnDropHandle::new(task) })
        });
        *current = Arc::downgrade(&watch);
        Follow { events: watch.events.subscribe(), watch }
    }
}

/// Says that the index is kept fresh, and when it is no more.
struct Fresh(Arc<Repository>);

impl Drop for Fresh {
    fn drop(&mut self) {
        self.0.set_fresh(false);
    }
}

async fn run(repository: Arc<Repository>, events: broadcast::Sender<Live>, ready: watch::Sender<bool>) {
    // Nobody to hear it is no reason to stop: whoever comes next shares this watcher.
    let tell = |event| _ = events.send(event);
    let mut pace = Pace::new(Instant::now());
    let started = {
        let repository = repository.clone();
        spawn_blocking(move || start(&repository)).await
    };
    let (mut files, mut touches, mut git) = match started {
        Ok(Ok(started)) => started,
        Ok(Err(error)) => return tell(Live::Failed(error)),
        Err(_) => return,
    };
    // Only what happens from now on is told, so what was before must be known.
    let _fresh = Fresh(repository.clone());
    rescan(&repository).await;
    repository.set_fresh(true);
    repository.sight().settle(|| !touches.is_empty());
    ready.send_replace(true);

    let mut burst = Burst::default();
    loop {
        tokio::select! {
            touch = touches.recv() => match touch {
                Some(touch) => burst.add(touch, Instant::now()),
                None => return tell(Live::Failed(Error("the system stopped telling of changes".into()))),
            },
            () = at(burst.due()) => {
                let burst = std::mem::take(&mut burst);
                let (repository, taken, sight) = (repository.clone(), files, repository.sight().clone());
                let is_git_new = git.is_none() && (burst.is_lost || burst.touched.contains_key(".git"));
                let settled = spawn_blocking(move || {
                    let git = is_git_new.then(|| watch_git(&repository)).and_then(Result::ok).flatten();
                    (settle(&repository, taken, burst), git)
                });
                let Ok(((back, happened), new_git)) = settled.await else { return };
                files = back;
                sight.settle(|| !touches.is_empty());
                if !happened.is_empty() || new_git.is_some() {
                    pace.touch(Instant::now());
                }
                git = git.or(new_git);
                happened.into_iter().for_each(tell);
            }
            () = changed(&mut git) => pace.touch(Instant::now()),
            () = at(pace.due()) => {
                pace.told(Instant::now());
                let repository = repository.clone();
                if spawn_blocking(move || repository.retrack()).await.is_err() {
                    return;
                }
                tell(Live::Git);
            }
        }
    }
}

type GitTouches = (GitWatcher, watch::Receiver<u64>);
type Started = (FileWatcher, mpsc::Receiver<Touch>, Option<GitTouches>);

fn start(repository: &Repository) -> Result<Started, Error> {
    let git = watch_git(repository)?;
    let (files, touches) = FileWatcher::start(repository.root().clone(), repository.sight().clone())?;
    Ok((files, touches, git))
}

fn watch_git(repository: &Repository) -> Result<Option<GitTouches>, Error> {
    let root = repository.root().path();
    GitDir::of(root).map(|git| GitWatcher::start(&git, root, repository.sight())).transpose()
}

async fn rescan(repository: &Arc<Repository>) {
    let repository = repository.clone();
    // A folder that is gone has no files; that is what the index then says.
    let _ = spawn_blocking(move || repository.rebuild()).await;
}

/// What a burst came to, with the index brought up to date.
fn settle(repository: &Repository, mut files: FileWatcher, burst: Burst) -> (FileWatcher, Vec<Live>) {
    if burst.is_lost {
        let event = look_at_all(repository, &mut files);
        return (files, vec![event]);
    }
    let settled = match files.settle(burst, &repository.index()) {
        Ok(settled) => settled,
        Err(error) => return (files, vec![Live::Failed(error)]),
    };
    repository.apply(&settled.facts);
    let mut happened = Vec::new();
    if !settled.changes.is_empty() {
        happened.push(Live::Files(settled.changes.into()));
    }
    if settled.rules_changed {
        happened.push(look_at_all(repository, &mut files));
    }
    (files, happened)
}

fn look_at_all(repository: &Repository, files: &mut FileWatcher) -> Live {
    if let Err(error) = files.watch_all() {
        return Live::Failed(error);
    }
    let known = repository.index().len();
    // A folder that cannot be read any more has lost every file.
    Live::Rescanned(repository.rebuild().unwrap_or(known))
}

async fn at(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}

async fn changed(git: &mut Option<GitTouches>) {
    if let Some((_, touches)) = git
        && touches.changed().await.is_ok()
    {
        return;
    }
    std::future::pending().await
}
