//! What a connection has to tell.

use roost_engine::adapter::{AdapterError, Draft};

use super::{Connection, Task};

/// Notices that are kept for the next turn at most; the rest of a flood is dropped.
const EARLY: usize = 32;

/// The turn that runs, and the drafts of it that the session has not taken yet.
pub(crate) struct Outbox<T> {
    /// The turn, until its end is delivered.
    pub(crate) turn: Option<T>,
    /// What the session has not taken yet.
    pub(crate) drafts: Vec<Draft>,
    /// Notices from before the turn.
    pub(crate) early: Vec<Draft>,
}

impl<T> Default for Outbox<T> {
    fn default() -> Self {
        Self { turn: None, drafts: Vec::new(), early: Vec::new() }
    }
}

impl<T: AsRef<Task>> Outbox<T> {
    /// Refuses a second turn while one runs.
    pub(crate) fn refuse_if_busy<C: Connection>(&self) -> Result<(), AdapterError> {
        if self.turn.is_none() {
            return Ok(());
        }
        let message = format!("{} has not ended its last turn yet", C::NAME);
        Err(AdapterError::Runtime { message, raw: None })
    }

    /// Begins a turn: with its request, and with the notices that came before it.
    pub(crate) fn begin(&mut self, turn: T) {
        self.drafts = turn.as_ref().request_started().into_iter().collect();
        self.drafts.append(&mut self.early);
        self.turn = Some(turn);
    }

    /// The turn, if it has not ended, and where its drafts go.
    pub(crate) fn live(&mut self) -> Option<(&mut T, &mut Vec<Draft>)> {
        let turn = self.turn.as_mut().filter(|turn| !turn.as_ref().is_over())?;
        Some((turn, &mut self.drafts))
    }

    /// Says something to people: now, or with the next turn.
    pub(crate) fn notice(&mut self, notice: Draft) {
        match self.turn {
            Some(_) => self.drafts.push(notice),
            None if self.early.len() < EARLY => self.early.push(notice),
            None => {}
        }
    }
}
