//! Approvals: what a person is asked, how they answered, and which part of the answer is remembered.

use serde::{Deserialize, Serialize};

use crate::event::{EventBody, NormalizedEvent};
use crate::ids::{ClientId, SessionId, TaskId, UserId};
use crate::payload::{ApprovalRequestedPayload, QuestionAskedPayload};
use crate::time::Timestamp;

/// How long an answer to an approval applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ApprovalScope {
    /// Only this attempt at this call.
    #[default]
    Once,
    /// Every matching call in the same session, also after a restart.
    Session,
    /// Every matching call in any session of the same workspace.
    Workspace,
    /// Every matching call in every workspace on this host.
    Always,
}

/// The client that answered an approval or a question. A field is absent if it is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answerer {
    /// The connection that sent the answer, as `clientId` in the result of `initialize`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<ClientId>,
    /// Name of the paired device that sent it; absent for the local socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<UserId>,
    /// The transport it came over, such as `local`, `websocket` or `http`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// Why an approval is no longer open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ApprovalEnd {
    /// A client allowed or denied it.
    Answered,
    /// Nobody answered before `expires_at`; the call is denied.
    Expired,
    /// Somebody stopped the task, or the whole session, while it was open.
    Stopped,
    /// The task completed or failed while it was open.
    TaskEnded,
    /// The runtime withdrew the call or replaced it with another attempt.
    Withdrawn,
    /// The daemon ended while it was open, so the answer could no longer reach the runtime.
    HostRestarted,
}

/// What a session waits for: an approval or an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PendingAsk {
    /// A tool call that needs to be allowed or denied; answer it with `permission/respond`.
    Approval(Box<ApprovalRequestedPayload>),
    /// A question from the agent; answer it with `session/respond`.
    Question(QuestionAskedPayload),
}

/// Whether an approval or a question is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PendingKind {
    /// A tool call waits to be allowed or denied.
    Approval,
    /// A question waits for its answer.
    Question,
}

/// One open approval or question: a row of the table that `permission/pending` lists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pending {
    /// The session that cannot go on until this is answered.
    pub session_id: SessionId,
    /// The task that asked; absent if the event named none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// When the event that opened it was recorded.
    pub asked_at: Timestamp,
    /// The approval or question itself, as its event carried it.
    pub ask: PendingAsk,
}

impl Pending {
    /// The id that an answer must name: the tool call's id for an approval, the question's id for a question.
    pub fn id(&self) -> &str {
        match &self.ask {
            PendingAsk::Approval(asked) => asked.identity.tool_call_id.as_str(),
            PendingAsk::Question(asked) => asked.question_id.as_str(),
        }
    }
}

/// How one event changes the table of open approvals and questions.
#[derive(Clone, Debug, PartialEq)]
pub enum PendingChange {
    /// Adds this row.
    Opened(Box<Pending>),
    /// Removes the row with this id (see [`Pending::id`]); it may already be gone.
    Closed(String),
}

impl PendingChange {
    /// The change that this event makes; `None` for events that neither open nor close anything.
    pub fn from_event(event: &NormalizedEvent) -> Option<Self> {
        let opened = |ask| {
            Self::Opened(Box::new(Pending {
                session_id: event.trace.session_id.clone(),
                task_id: event.trace.task_id.clone(),
                asked_at: event.time,
                ask,
            }))
        };
        match &event.body {
            EventBody::ApprovalRequested(asked) => Some(opened(PendingAsk::Approval(Box::new(asked.clone())))),
            EventBody::QuestionAsked(asked) => Some(opened(PendingAsk::Question(asked.clone()))),
            EventBody::ApprovalResolved(resolved) => {
                Some(Self::Closed(resolved.identity.tool_call_id.as_str().to_owned()))
            }
            EventBody::QuestionResolved(resolved) => Some(Self::Closed(resolved.question_id.as_str().to_owned())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::ToolKind;
    use crate::tool::ToolCallIdentity;
    use serde_json::json;

    #[test]
    fn a_pending_call_that_says_what_it_does_is_read_back() {
        let input = json!({ "path": "a.txt" });
        let asked = ApprovalRequestedPayload {
            identity: ToolCallIdentity::first(None, &input),
            name: "write".into(),
            title: None,
            kind: Some(ToolKind::Edit),
            input,
            input_ref: None,
            class: None,
            rule: None,
            offer: None,
            expires_at: None,
        };
        let (session_id, asked_at) = (SessionId::new(), Timestamp::from_millis(0));
        let pending = Pending { session_id, task_id: None, asked_at, ask: PendingAsk::Approval(Box::new(asked)) };
        let text = serde_json::to_string(&pending).unwrap();
        assert_eq!(serde_json::from_str::<Pending>(&text).unwrap(), pending, "{text}");
    }
}
