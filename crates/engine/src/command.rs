//! What a session can be told, and what it answers.

use roost_model::approval::{Answerer, ApprovalScope};
use roost_model::content::TranscriptMessage;
use roost_model::ids::{PromptId, QuestionId, TaskId, ToolCallId};
use roost_model::mode::Mode;
use roost_model::session::TaskOutcome;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::adapter::Answer;
use crate::error::Error;
use crate::policy_context::Approver;

/// What somebody says to a session.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// The words.
    pub message: TranscriptMessage,
    /// From now on, how much the session may do unasked; absent means as before.
    pub mode: Option<Mode>,
    /// From now on, the session's model; absent means as before.
    pub model: Option<String>,
    /// Whether somebody can be asked while it is served.
    pub approver: Approver,
    /// It must not run in `yolo`, whatever the session's mode is when its turn comes: its sender may not use that.
    pub never_yolo: bool,
}

impl Prompt {
    /// A prompt of plain text from somebody who is alone.
    pub fn text(text: impl Into<String>) -> Self {
        let (message, approver) = (TranscriptMessage::user(text), Approver::Nobody);
        Self { message, mode: None, model: None, approver, never_yolo: false }
    }
}

/// What a session is to be from its next task on; absent means as before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Amendment {
    /// Its name.
    pub title: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// How much it may do unasked.
    pub mode: Option<Mode>,
}

/// What somebody says to something that waits.
#[derive(Clone, Debug)]
pub struct Response {
    /// To what, and what.
    pub to: ResponseTo,
    /// Who, and from where.
    pub by: Answerer,
    /// The same for every repetition of the same answer.
    pub key: Option<String>,
}

/// An answer and what it is an answer to.
#[derive(Clone, Debug)]
pub enum ResponseTo {
    /// A tool call that waits for leave.
    Approval {
        /// Which call.
        call: ToolCallId,
        /// The attempt that was seen; refused if it is another by now.
        attempt: Option<u32>,
        /// The input that was seen; refused if it is another by now.
        input_hash: Option<String>,
        /// The answer.
        decision: Decision,
    },
    /// A question.
    Question {
        /// Which question.
        question: QuestionId,
        /// The answer.
        answer: Answer,
    },
}

impl ResponseTo {
    /// What is answered.
    pub fn id(&self) -> &str {
        match self {
            Self::Approval { call, .. } => call.as_str(),
            Self::Question { question, .. } => question.as_str(),
        }
    }
}

/// Yes or no to a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may run.
    Allow {
        /// For how long that counts.
        scope: ApprovalScope,
    },
    /// It may run this once, with another input than it asked for.
    AllowEdited {
        /// The input to run with.
        input: Value,
    },
    /// It may not run.
    Deny {
        /// For how long that counts.
        scope: ApprovalScope,
        /// Why, for the agent to read.
        reason: Option<String>,
    },
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
    Respond { response: Response, reply: Reply<()> },
    Amend { amendment: Amendment, reply: Reply<()> },
}

impl Command {
    /// Gives the command back: nothing of it has happened.
    pub(crate) fn give_back(self) {
        // Whoever waits no longer does not mind.
        match self {
            Self::Prompt { reply, .. } => drop(reply.send(None)),
            Self::Stop { reply, .. } => drop(reply.send(None)),
            Self::Close { reply, .. } | Self::Respond { reply, .. } | Self::Amend { reply, .. } => {
                drop(reply.send(None));
            }
        }
    }
}
