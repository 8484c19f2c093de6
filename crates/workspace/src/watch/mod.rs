//! What happens in a workspace while somebody follows it.
//!
//! All who follow share one watcher, which begins with the first of them and ends with the last: for a workspace that
//! nobody follows nothing runs and nothing is held.

mod barrier;
mod burst;
mod files;
mod git;
mod pace;
mod run;

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::{broadcast, watch};
use tokio_util::task::AbortOnDropHandle;

use crate::repository::Repository;
use run::Run;

pub(crate) use barrier::{Barrier, Moment};
pub use burst::{Change, ChangeKind};

/// Events that wait for a follower at most; who is further behind is told so.
const BEHIND: usize = 256;

/// Why a workspace cannot be watched.
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

/// What happened in a workspace.
#[derive(Clone, Debug)]
pub enum Live {
    /// These files changed; the index knows already.
    Files(Arc<[Change]>),
    /// What happened was not told one by one: everything was looked at again, and so many files are other than before.
    Rescanned(usize, Why),
    /// Git's state may be another.
    Git,
    /// It is watched no more, or not wholly: what changes is told later, as [`Why::Blind`].
    Failed(Error),
}

/// Why everything was looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// More happened than the system keeps for us.
    Lost,
    /// What git ignores is something else now.
    Rules,
    /// Not everything can be watched.
    Blind,
    /// The follower was too slow to be told of each change.
    Slow,
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
        let _ = self.watch.state.clone().wait_for(|state| state.is_ready).await;
    }

    /// Why not everything is watched, if it is not.
    pub fn trouble(&self) -> Option<Error> {
        self.watch.state.borrow().trouble.clone()
    }

    /// The next event; a follower that was too slow is told to look at everything again.
    pub async fn next(&mut self) -> Live {
        match self.events.recv().await {
            Ok(event) => event,
            Err(broadcast::error::RecvError::Lagged(missed)) => Live::Rescanned(missed as usize, Why::Slow),
            // Cannot be while the watch is held; and if it were, there would never be another event.
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
}

/// How a watcher is.
#[derive(Debug, Default)]
struct State {
    is_ready: bool,
    trouble: Option<Error>,
}

/// A workspace that is watched.
#[derive(Debug)]
struct Watching {
    events: broadcast::Sender<Live>,
    state: watch::Receiver<State>,
    task: AbortOnDropHandle<()>,
}

/// The watcher of a workspace, while there is one.
#[derive(Debug, Default)]
pub(crate) struct Watch(Mutex<Weak<Watching>>);

impl Watch {
    pub(crate) fn follow(&self, repository: &Arc<Repository>) -> Follow {
        let mut current = self.0.lock();
        // One that failed is begun anew by whoever comes next.
        let watch = current.upgrade().filter(|watch| !watch.task.is_finished()).unwrap_or_else(|| {
            let (events, _) = broadcast::channel(BEHIND);
            let (told, state) = watch::channel(State::default());
            let task = tokio::spawn(Run::new(repository.clone(), events.clone(), told).run());
            Arc::new(Watching { events, state, task: AbortOnDropHandle::new(task) })
        });
        *current = Arc::downgrade(&watch);
        Follow { events: watch.events.subscribe(), watch }
    }
}
