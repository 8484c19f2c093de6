//! A thread as it is told when it is taken up again.

use serde::Deserialize;

use super::wire::{Item, Turn, TurnStatus};

/// The answer to `thread/resume`, as far as a turn is looked for in it.
#[derive(Debug, Deserialize)]
pub(super) struct Resumed {
    pub(super) thread: PastThread,
}

/// A thread with its turns.
#[derive(Debug, Deserialize)]
pub(super) struct PastThread {
    #[serde(default)]
    pub(super) turns: Vec<PastTurn>,
}

/// A turn with its items.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PastTurn {
    #[serde(flatten)]
    pub(super) turn: Turn,
    #[serde(default)]
    pub(super) completed_at: Option<u64>,
    #[serde(default)]
    pub(super) items: Vec<PastItem>,
}

impl PastTurn {
    /// Whether it goes on, as far as Codex can tell: a turn whose end is not written down yet is called interrupted.
    pub(super) fn state(&self) -> PastState {
        match self.turn.status {
            TurnStatus::InProgress => PastState::GoesOn,
            TurnStatus::Interrupted if self.completed_at.is_none() => PastState::Unsure,
            _ => PastState::Ended,
        }
    }
}

/// Whether a turn goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PastState {
    GoesOn,
    Ended,
    /// To be asked again.
    Unsure,
}

/// An item and when it was finished.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PastItem {
    #[serde(flatten)]
    pub(super) item: Item,
    /// In milliseconds since 1970.
    #[serde(default)]
    pub(super) completed_at_ms: Option<u64>,
}
