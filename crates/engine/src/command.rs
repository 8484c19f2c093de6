//! What a session can be told, and what it answers.

use roost_proto::content::TranscriptMessage;
use roost_proto::ids::{PromptId, TaskId};
use roost_proto::mode::Mode;
use roost_proto::session::TaskOutcome;
use tokio::sync::oneshot;

use crate::error::Error;

/// What somebody says to a session.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// The words.
    pub message: TranscriptMessage,
    /// From now on, how much the session may do unasked; absent means as before.
    pub mode: Option<Mode>,
}

impl Prompt {
    /// A prompt of plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { message: TranscriptMessage::user(text), mode: None }
    }
}

/// What became of a prompt. It is in the log by the time that the sender learns of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// It runs.
    Started(TaskId),
    /// It waits for the running task to end.
    Queued(PromptId),
}

/// A message to a session's actor.
pub(crate) enum Command {
    Prompt { prompt: Prompt, reply: oneshot::Sender<Result<Accepted, Error>> },
    Stop { reason: String, reply: oneshot::Sender<Result<TaskOutcome, Error>> },
    Close { reason: String, reply: oneshot::Sender<()> },
}
