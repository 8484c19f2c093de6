//! Background work of the writer thread (retention, compaction), done in small steps between groups of appends.

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::error::Result;

/// Work that is split into several short transactions, so that appends wait only for one of them.
pub(crate) trait Steps: Send {
    /// The result of the whole work.
    type Outcome: Send;

    /// Does one step; returns `None` while there is more to do.
    fn step(&mut self, db: &Connection) -> Result<Option<Self::Outcome>>;
}

/// Some [`Steps`], and the channel for their outcome.
pub(crate) struct Job(Box<dyn FnMut(&Connection) -> bool + Send>);

impl Job {
    pub(crate) fn new<S: Steps + 'static>(mut steps: S) -> (Self, oneshot::Receiver<Result<S::Outcome>>) {
        let (reply, answer) = oneshot::channel();
        let mut reply = Some(reply);
        let run = move |db: &Connection| {
            let Some(outcome) = steps.step(db).transpose() else { return true };
            if let Some(reply) = reply.take() {
                // Whoever does not wait any more does not want to know.
                let _ = reply.send(outcome);
            }
            false
        };
        (Self(Box::new(run)), answer)
    }

    /// Does one step; returns the job while there is more to do.
    pub(crate) fn step(mut self, db: &Connection) -> Option<Self> {
        (self.0)(db).then_some(self)
    }
}
