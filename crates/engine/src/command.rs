//! The commands that clients send to a session, and its answers.

use roost_model::approval::{Answerer, ApprovalScope};
use roost_model::content::TranscriptMessage;
use roost_model::ids::{PromptId, QuestionId, TaskId, ToolCallId};
use roost_model::mode::Mode;
use roost_model::payload::{QuestionAskedPayload, UsageReportedPayload};
use roost_model::session::TaskOutcome;
use roost_model::tool::ToolCallIdentity;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::adapter::Answer;
use crate::error::Error;
use crate::gateway_calls::GatewayVerdict;
use crate::ledger::GatewayToolCall;
use crate::policy_context::Approver;

/// A message that begins a task, waits in the queue for its turn, or goes to the task that runs.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// Its text, images and files.
    pub message: TranscriptMessage,
    /// The session's permission mode from this task on; `None` leaves it as it is.
    pub mode: Option<Mode>,
    /// The session's model from this task on; `None` leaves it as it is.
    pub model: Option<String>,
    /// Whether a person can answer while the task runs.
    pub approver: Approver,
    /// It must not run in `yolo`, whatever the session's mode is when its turn comes, because its sender may not use
    /// that mode.
    pub never_yolo: bool,
    /// What becomes of it while another task runs.
    pub delivery: Delivery,
    /// Who sent it; recorded in the event that starts its task.
    pub by: Answerer,
}

/// What becomes of a prompt while a task runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delivery {
    /// It waits until the task has ended.
    #[default]
    Queue,
    /// The task gets it while it runs. It waits if the runtime cannot do that, if it holds more than plain text, if it is
    /// a slash command, or if it wants another mode or model than the task has.
    Steer,
}

impl Prompt {
    /// A prompt of plain text without an approver: what the policy would ask about is denied.
    pub fn text(text: impl Into<String>) -> Self {
        let (message, approver) = (TranscriptMessage::user(text), Approver::Nobody);
        Self {
            message,
            mode: None,
            model: None,
            approver,
            never_yolo: false,
            delivery: Delivery::Queue,
            by: Answerer::default(),
        }
    }
}

/// Changes to a session, which count from its next task on. A field that is `None` stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Amendment {
    /// The name that lists show.
    pub title: Option<String>,
    /// In the runtime's own spelling; the runtime is restarted if it cannot switch while it runs.
    pub model: Option<String>,
    /// The permission mode.
    pub mode: Option<Mode>,
    /// How much the model thinks, a value of [`crate::facts::RuntimeFacts::thought_levels`]; the runtime is restarted.
    pub thought_level: Option<String>,
}

/// Somebody's answer to a tool call or a question that waits.
#[derive(Clone, Debug)]
pub struct Response {
    /// What is answered, and the answer.
    pub to: ResponseTo,
    /// Who answered, and from which client; recorded in the event.
    pub by: Answerer,
    /// An idempotency key: a client that repeats its answer, because it got no acknowledgement, sends the same key.
    pub key: Option<String>,
}

/// An answer and what it is an answer to.
#[derive(Clone, Debug)]
pub enum ResponseTo {
    /// A tool call that waits for approval.
    Approval {
        /// The call as its `approval.requested` event names it.
        call: ToolCallId,
        /// The attempt that the person saw. The answer is refused if the call has another one by now; `None` skips the
        /// check.
        attempt: Option<u32>,
        /// The hash of the input that the person saw, checked like `attempt`.
        input_hash: Option<String>,
        /// Allow or deny.
        decision: Decision,
    },
    /// A question that the runtime asked.
    Question {
        /// The question as its `question.asked` event names it.
        question: QuestionId,
        /// The chosen values, or a refusal.
        answer: Answer,
    },
}

impl ResponseTo {
    /// The id of the tool call or question that is answered.
    pub fn id(&self) -> &str {
        match self {
            Self::Approval { call, .. } => call.as_str(),
            Self::Question { question, .. } => question.as_str(),
        }
    }
}

/// A person's decision about a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The call may run as asked.
    Allow {
        /// Only now, or also for calls like it in the session, the workspace or everywhere.
        scope: ApprovalScope,
    },
    /// The call may run once, with an input that the person changed. Not every runtime supports that.
    AllowEdited {
        /// Replaces the whole input.
        input: Value,
    },
    /// The call may not run.
    Deny {
        /// Only now, or also for calls like it in the session, the workspace or everywhere.
        scope: ApprovalScope,
        /// Shown to the agent; a standard text if absent.
        reason: Option<String>,
    },
}

impl Decision {
    /// Whether the call may run, with whatever input.
    pub(crate) fn allows(&self) -> bool {
        matches!(self, Self::Allow { .. } | Self::AllowEdited { .. })
    }
}

/// What became of a prompt. It is in the log before the sender gets this answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// The task of this id has begun.
    Started(TaskId),
    /// It waits in the queue until the running task has ended.
    Queued(PromptId),
    /// The running task of this id got it.
    Steered(TaskId),
}

/// Where a command's answer goes; `None` says that the actor ended before it took the command.
pub(crate) type Reply<T> = oneshot::Sender<Option<Result<T, Error>>>;

/// A message to a session's actor.
pub(crate) enum Command {
    Prompt { prompt: Prompt, reply: Reply<Accepted> },
    Stop { reason: String, by: Option<Answerer>, reply: Reply<TaskOutcome> },
    Close { reason: String, reply: Reply<()> },
    Respond { response: Response, reply: Reply<()> },
    Amend { amendment: Amendment, reply: Reply<()> },
    RemoveQueued { prompt: PromptId, reply: Reply<()> },
    GatewayCall { call: GatewayToolCall, reply: Reply<GatewayVerdict> },
    GatewayDone { identity: ToolCallIdentity, result: Value, is_error: bool, reply: Reply<()> },
    GatewayQuestion { question: QuestionAskedPayload, reply: Reply<Answer> },
    Usage { usage: UsageReportedPayload, reply: Reply<()> },
}

impl Command {
    /// Tells the sender that the command was not carried out, so that it can send it to the session's next actor.
    pub(crate) fn give_back(self) {
        // A sender that no longer waits has dropped its receiver, which is fine.
        match self {
            Self::Prompt { reply, .. } => drop(reply.send(None)),
            Self::Stop { reply, .. } => drop(reply.send(None)),
            Self::GatewayCall { reply, .. } => drop(reply.send(None)),
            Self::GatewayQuestion { reply, .. } => drop(reply.send(None)),
            Self::Close { reply, .. }
            | Self::GatewayDone { reply, .. }
            | Self::Usage { reply, .. }
            | Self::Respond { reply, .. }
            | Self::Amend { reply, .. }
            | Self::RemoveQueued { reply, .. } => drop(reply.send(None)),
        }
    }
}
