//! The drafts of a connection that the session has not taken yet.

use roost_engine::adapter::{AdapterError, Draft};

use super::{Connection, Task};

/// How many notices are held for the next turn; more are dropped, so that a flood between turns costs no memory.
const EARLY: usize = 32;

/// The turn that runs, and the drafts of it that the session has not taken yet.
pub(crate) struct Outbox<T> {
    /// The running turn, until the session has received its end.
    pub(crate) turn: Option<T>,
    /// The turn's drafts that the session has not taken yet; while there are any, the runtime is not read.
    pub(crate) drafts: Vec<Draft>,
    /// Notices that came while no turn ran; the next turn reports them first.
    pub(crate) early: Vec<Draft>,
}

impl<T> Default for Outbox<T> {
    fn default() -> Self {
        Self { turn: None, drafts: Vec::new(), early: Vec::new() }
    }
}

impl<T: AsRef<Task>> Outbox<T> {
    /// The error for a second turn while one runs.
    pub(crate) fn refuse_if_busy<C: Connection>(&self) -> Result<(), AdapterError> {
        if self.turn.is_none() {
            return Ok(());
        }
        let message = format!("{} has not ended its last turn yet", C::NAME);
        Err(AdapterError::Runtime { message, raw: None })
    }

    /// Begins a turn. Its first drafts are its request and the notices that came before it.
    pub(crate) fn begin(&mut self, turn: T) {
        self.drafts = turn.as_ref().request_started().into_iter().collect();
        self.drafts.append(&mut self.early);
        self.turn = Some(turn);
    }

    /// The turn, unless it has ended, and the list that its drafts are pushed to.
    pub(crate) fn live(&mut self) -> Option<(&mut T, &mut Vec<Draft>)> {
        let turn = self.turn.as_mut().filter(|turn| !turn.as_ref().is_over())?;
        Some((turn, &mut self.drafts))
    }

    /// Reports a notice in the running turn, else at the start of the next one.
    pub(crate) fn notice(&mut self, notice: Draft) {
        match self.turn {
            Some(_) => self.drafts.push(notice),
            None if self.early.len() < EARLY => self.early.push(notice),
            None => {}
        }
    }
}
