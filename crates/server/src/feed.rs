//! Following the log for a client: a position in it, and no queue.

mod cdev;
mod normalized;
mod resume_point;

use std::collections::HashMap;

use roost_log::Cursor;
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::AbortOnDropHandle;

use crate::cdev::notify::Naming;

pub(crate) use cdev::{Selection, Wanted, is_named, truncated};
pub(crate) use resume_point::ResumePoint;

use roost_rpc::{EventFormat, Fault};

use crate::tail::Watching;

/// What a cdev feed is told while it runs.
pub(crate) enum Command {
    /// Send what this session told after this place, up to where the feed is; then watch it.
    Watch {
        session: String,
        workspace: Option<String>,
        after: Option<ResumePoint>,
        /// Answered when it is watched and nothing will be missed, with the place that the feed has come to.
        done: oneshot::Sender<Result<Cursor, Fault>>,
    },
    /// Send again what waits for an answer in this session.
    Remind { session: String },
}

/// A running feed; ends when dropped.
pub(crate) struct Feed {
    task: AbortOnDropHandle<()>,
    /// Absent for the log's own form, which has nothing to be told.
    commands: Option<mpsc::Sender<Command>>,
    /// The client did not ask for it.
    is_default: bool,
    /// How the agent's events are called in it.
    naming: Naming,
}

impl Feed {
    /// Ends it and waits until it has sent its last: one that is only dropped may be in the middle of sending.
    pub(crate) async fn end(self) {
        self.task.abort();
        // It was aborted, so it ends as such.
        let _ = self.task.await;
    }
}

/// The feeds of a connection: one of each form at most.
#[derive(Default)]
pub(crate) struct Feeds {
    cdev: Option<Feed>,
    normalized: Option<Feed>,
    /// Past sessions, of which the log tells nothing; they come in the form of the cdev protocol and end with it.
    past: HashMap<String, Watching>,
}

impl Feeds {
    /// Starts to follow in a form and gives what it replaces, which the caller ends. Whoever asks for the log's own form
    /// did not mean the cdev events that come unasked.
    #[must_use]
    pub(crate) fn put(&mut self, format: EventFormat, feed: Feed) -> Vec<Feed> {
        let replaced = match format {
            EventFormat::Cdev => [self.cdev.replace(feed), None],
            EventFormat::Normalized => {
                let unasked = self.cdev.take_if(|feed| feed.is_default);
                if unasked.is_some() {
                    self.past.clear();
                }
                [self.normalized.replace(feed), unasked]
            }
        };
        replaced.into_iter().flatten().collect()
    }

    /// Takes out a form, or every one if none is named; the caller ends it.
    #[must_use]
    pub(crate) fn remove(&mut self, format: Option<EventFormat>) -> Vec<Feed> {
        let cdev = if format != Some(EventFormat::Normalized) {
            self.past.clear();
            self.cdev.take()
        } else {
            None
        };
        let normalized = if format != Some(EventFormat::Cdev) { self.normalized.take() } else { None };
        [cdev, normalized].into_iter().flatten().collect()
    }

    /// Ends every feed and every tail, when the client leaves.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The cdev feed's ear.
    pub(crate) fn commands(&self) -> Option<mpsc::Sender<Command>> {
        self.cdev.as_ref().and_then(|feed| feed.commands.clone())
    }

    /// How the agent's events are called; `None` where none are sent.
    pub(crate) fn naming(&self) -> Option<Naming> {
        self.cdev.as_ref().map(|feed| feed.naming)
    }

    /// Whether a past session is told of already.
    pub(crate) fn has_tail(&self, session: &str) -> bool {
        self.past.contains_key(session)
    }

    /// Tells of a past session.
    pub(crate) fn add_tail(&mut self, session: &str, watching: Watching) {
        self.past.insert(session.into(), watching);
    }

    /// Tells of a past session no more.
    pub(crate) fn stop_tail(&mut self, session: &str) {
        self.past.remove(session);
    }

    /// Nothing is followed.
    pub(crate) fn is_empty(&self) -> bool {
        self.cdev.is_none() && self.normalized.is_none()
    }
}
