//! Feeds: each follows the log for one client. A feed is a position in the log, not a queue.

mod cdev;
mod deltas;
mod normalized;
mod resume_point;

use std::collections::HashMap;

use roost_log::Cursor;
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::AbortOnDropHandle;

use crate::cdev::notify::Naming;

pub(crate) use cdev::{NotificationFilter, Selection, is_named, truncated};
pub(crate) use deltas::EVENT as DELTA_EVENT;
pub(crate) use resume_point::ResumePoint;

use roost_rpc::{EventFormat, Fault};

use crate::tail::TailHandle;

/// A request to a running cdev feed.
pub(crate) enum FeedCommand {
    /// Send the notifications of this session from `after` up to the feed's own position; then watch the session.
    Watch {
        session: String,
        workspace: Option<String>,
        after: Option<ResumePoint>,
        /// Gets the feed's position once the session is watched, so that nothing can be missed after it.
        done: oneshot::Sender<Result<Cursor, Fault>>,
    },
    /// Send the pending approvals and questions of this session again.
    Remind { session: String },
}

/// A running feed. Dropping it ends its task.
pub(crate) struct Feed {
    task: AbortOnDropHandle<()>,
    /// Absent for the normalized format, which takes no commands.
    commands: Option<mpsc::Sender<FeedCommand>>,
    /// Whether the feed was started by `initialize`, unasked.
    is_default: bool,
    /// Whether agent events are called `claude_*` or `agent_*`.
    naming: Naming,
    /// Whether approvals may be shown as a terminal's panel.
    shows_panels: bool,
}

impl Feed {
    /// Ends the feed and waits for its task: one that is only dropped may still be in the middle of sending.
    pub(crate) async fn end(self) {
        self.task.abort();
        // It was aborted, so it ends as such.
        let _ = self.task.await;
    }
}

/// The feeds of a connection: at most one for each format.
#[derive(Default)]
pub(crate) struct Feeds {
    cdev: Option<Feed>,
    normalized: Option<Feed>,
    /// Tails of sessions that only their runtimes keep, by session id. They use the cdev format and end with its feed.
    past: HashMap<String, TailHandle>,
}

impl Feeds {
    /// Adds a feed and returns those it replaces, which the caller ends. The normalized format also replaces the
    /// default cdev feed, which the client did not ask for.
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

    /// Takes out the feed of a format, or all feeds; the caller ends them.
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

    /// The sender of the cdev feed's commands; absent where the client has no cdev feed.
    pub(crate) fn commands(&self) -> Option<mpsc::Sender<FeedCommand>> {
        self.cdev.as_ref().and_then(|feed| feed.commands.clone())
    }

    /// How agent events are named; `None` without a cdev feed.
    pub(crate) fn naming(&self) -> Option<Naming> {
        self.cdev.as_ref().map(|feed| feed.naming)
    }

    /// Whether the client may be shown approvals as a terminal's panel.
    pub(crate) fn shows_panels(&self) -> bool {
        self.cdev.as_ref().is_some_and(|feed| feed.shows_panels)
    }

    /// Whether a past session is tailed already.
    pub(crate) fn has_tail(&self, session: &str) -> bool {
        self.past.contains_key(session)
    }

    /// Adds the tail of a past session.
    pub(crate) fn add_tail(&mut self, session: &str, watching: TailHandle) {
        self.past.insert(session.into(), watching);
    }

    /// Stops the tail of a past session.
    pub(crate) fn stop_tail(&mut self, session: &str) {
        self.past.remove(session);
    }

    /// Whether the client follows the log in no format at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.cdev.is_none() && self.normalized.is_none()
    }
}
