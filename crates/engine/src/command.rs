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

/// Where a command's answer goes; `None` says that the actor ended before it took the command.
pub(crate) type Reply<T> = oneshot::Sender<Option<Result<T, Error>>>;

/// A message to a session's actor.
pub(crate) enum Command {
    Prompt { prompt: Prompt, reply: Reply<Accepted> },
    Stop { reason: String, reply: Reply<TaskOutcome> },
    Close { reason: String, reply: Reply<()> },
}

impl Command {
    /// Gives the command back: nothing of it has happened.
    pub(crate) fn give_back(self) {
        // Whoever waits no longer does not mind.
        match self {
            Self::Prompt { reply, .. } => drop(reply.send(None)),
            Self::Stop { reply, .. } => drop(reply.send(None)),
            Self::Close { reply, .. } => drop(reply.send(None)),
        }
    }
}
