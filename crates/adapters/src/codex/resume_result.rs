//! The result of `thread/resume`: a thread with its turns so far.

use serde::Deserialize;

use super::wire::{Item, TurnInfo, TurnStatus};

/// The result of `thread/resume`, as far as a turn is looked up in it.
#[derive(Debug, Deserialize)]
pub(super) struct ResumeResult {
    pub(super) thread: PastThread,
}

/// A thread; its turns are missing if the request excluded them.
#[derive(Debug, Deserialize)]
pub(super) struct PastThread {
    #[serde(default)]
    pub(super) turns: Vec<PastTurn>,
}

/// A turn with the items that it has completed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PastTurn {
    #[serde(flatten)]
    pub(super) turn: TurnInfo,
    #[serde(default)]
    pub(super) completed_at: Option<u64>,
    #[serde(default)]
    pub(super) items: Vec<PastItem>,
}

impl PastTurn {
    /// Whether the turn still runs. Codex calls a turn interrupted until its end is written down, so without a time of
    /// completion that is unsure.
    pub(super) fn state(&self) -> PastTurnState {
        match self.turn.status {
            TurnStatus::InProgress => PastTurnState::Running,
            TurnStatus::Interrupted if self.completed_at.is_none() => PastTurnState::Unsure,
            _ => PastTurnState::Ended,
        }
    }
}

/// Whether a turn still runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PastTurnState {
    Running,
    Ended,
    /// The end may not be written down yet: ask again.
    Unsure,
}

/// An item and when it was completed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PastItem {
    #[serde(flatten)]
    pub(super) item: Item,
    /// In milliseconds since 1970; `None` while the item runs.
    #[serde(default)]
    pub(super) completed_at_ms: Option<u64>,
}
