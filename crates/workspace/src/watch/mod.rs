//! Watches a workspace while somebody follows it.
//!
//! All followers share one watcher, which starts with the first of them and ends with the last. Nothing runs for a
//! workspace that nobody follows.

mod barrier;
mod burst;
mod files;
mod git;
mod run;
mod throttle;

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::{broadcast, watch};
use tokio_util::task::AbortOnDropHandle;

use crate::repository::Repository;
use run::WatchTask;

pub use barrier::remove_old_marks;
pub(crate) use barrier::{Barrier, Moment};
pub use burst::{Change, ChangeKind};

/// Events that wait for one follower; one that is further behind gets [`RescanReason::Slow`].
const BEHIND: usize = 256;

/// Why a workspace cannot be watched completely.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the workspace cannot be watched as a whole: {0}; it is looked at every {poll} seconds instead", poll = run::POLL.as_secs())]
pub struct Error(String);

impl From<notify::Error> for Error {
    fn from(error: notify::Error) -> Self {
        Self(match error.kind {
            notify::ErrorKind::MaxFilesWatch => {
                "the system watches no more folders (fs.inotify.max_user_watches says how many)".to_owned()
            }
            _ => error.to_string(),
        })
    }
}

/// An event of a watched workspace.
#[derive(Clone, Debug)]
pub enum WorkspaceEvent {
    /// These files changed; the index is already up to date.
    Files(Arc<[Change]>),
    /// Everything was rescanned, and this many files changed; they are not listed one by one.
    Rescanned(usize, RescanReason),
    /// The state of git may have changed.
    Git,
    /// The workspace is not watched completely any more. Changes come later, as [`RescanReason::Blind`].
    Failed(Error),
}

/// Why everything was rescanned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RescanReason {
    /// The system dropped events, because its queue was full.
    Lost,
    /// A `.gitignore` changed.
    Rules,
    /// Not everything can be watched, so the files are polled.
    Blind,
    /// The follower was too slow to get each change.
    Slow,
}

/// Follows a workspace until it is dropped.
#[derive(Debug)]
pub struct WorkspaceFollower {
    events: broadcast::Receiver<WorkspaceEvent>,
    watch: Arc<ActiveWatch>,
}

impl WorkspaceFollower {
    /// Waits until everything is watched that can be. Everything after that is reported.
    pub async fn ready(&self) {
        // The sender is gone only together with the watcher.
        let _ = self.watch.state.clone().wait_for(|state| state.is_ready).await;
    }

    /// Why not everything is watched, if it is not.
    pub fn trouble(&self) -> Option<Error> {
        self.watch.state.borrow().trouble.clone()
    }

    /// The next event. A follower that was too slow gets `Rescanned`. Cancel safe.
    pub async fn next(&mut self) -> WorkspaceEvent {
        match self.events.recv().await {
            Ok(event) => event,
            Err(broadcast::error::RecvError::Lagged(missed)) => {
                WorkspaceEvent::Rescanned(missed as usize, RescanReason::Slow)
            }
            // Cannot be while the watch is held; and if it were, there would never be another event.
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
}

/// What followers wait for and ask about; the watch task writes it.
#[derive(Debug, Default)]
struct WatchState {
    is_ready: bool,
    trouble: Option<Error>,
}

/// A running watcher, which its followers keep alive.
#[derive(Debug)]
struct ActiveWatch {
    events: broadcast::Sender<WorkspaceEvent>,
    state: watch::Receiver<WatchState>,
    task: AbortOnDropHandle<()>,
}

/// The watcher of a workspace, as long as somebody follows it.
#[derive(Debug, Default)]
pub(crate) struct Watch(Mutex<Weak<ActiveWatch>>);

impl Watch {
    pub(crate) fn follow(&self, repository: &Arc<Repository>) -> WorkspaceFollower {
        let mut current = self.0.lock();
        // One that failed is begun anew by whoever comes next.
        let watch = current.upgrade().filter(|watch| !watch.task.is_finished()).unwrap_or_else(|| {
            let (events, _) = broadcast::channel(BEHIND);
            let (sender, state) = watch::channel(WatchState::default());
            let task = tokio::spawn(WatchTask::new(repository.clone(), events.clone(), sender).run());
            Arc::new(ActiveWatch { events, state, task: AbortOnDropHandle::new(task) })
        });
        *current = Arc::downgrade(&watch);
        WorkspaceFollower { events: watch.events.subscribe(), watch }
    }
}
