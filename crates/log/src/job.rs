//! Work besides appending, which the writer does in small steps between groups.

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::error::Result;

/// Work that takes several short transactions.
pub(crate) trait Steps: Send {
    /// What it reports at its end.
    type Outcome: Send;

    /// Takes one step; `None` while there is more to do.
    fn step(&mut self, db: &Connection) -> Result<Option<Self::Outcome>>;
}

/// Some [`Steps`] with whoever waits for their outcome.
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

    /// Takes one step; gives the job back while there is more to do.
    pub(crate) fn step(mut self, db: &Connection) -> Option<Self> {
        (self.0)(db).then_some(self)
    }
}
