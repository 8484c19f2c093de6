//! Approvals: what a person is asked, what they said, and what of it is remembered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::{EventBody, NormalizedEvent};
use crate::ids::{ClientId, SessionId, TaskId, UserId};
use crate::payload::{ApprovalRequestedPayload, QuestionAskedPayload};
use crate::time::Timestamp;

/// For how long an answer counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalScope {
    /// For this call.
    #[default]
    Once,
    /// For calls like it in this session.
    Session,
    /// For calls like it in this workspace.
    Workspace,
    /// For calls like it everywhere.
    Always,
}

/// Who answered, and from where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Answerer {
    /// The client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<ClientId>,
    /// The person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<UserId>,
    /// The door they came through, such as `terminal`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// How an approval came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalEnd {
    /// Somebody answered.
    Answered,
    /// Nobody answered in time.
    Expired,
    /// The task was stopped.
    Stopped,
    /// The task ended, the runtime with it or not.
    TaskEnded,
    /// The runtime no longer asks.
    Withdrawn,
    /// Roost ended first.
    HostRestarted,
}

/// Something that waits for a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PendingAsk {
    /// A tool call.
    Approval(Box<ApprovalRequestedPayload>),
    /// A question.
    Question(QuestionAskedPayload),
}

/// A row of the table of what waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pending {
    /// The session that waits.
    pub session_id: SessionId,
    /// Its task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// Since when.
    pub asked_at: Timestamp,
    /// For what.
    pub ask: PendingAsk,
}

impl Pending {
    /// The id under which it is answered: the tool call's or the question's.
    pub fn id(&self) -> &str {
        match &self.ask {
            PendingAsk::Approval(asked) => asked.identity.tool_call_id.as_str(),
            PendingAsk::Question(asked) => asked.question_id.as_str(),
        }
    }
}

/// What one event does to the table of what waits.
#[derive(Clone, Debug, PartialEq)]
pub enum PendingChange {
    /// Something waits.
    Opened(Box<Pending>),
    /// It no longer waits.
    Closed(String),
}

impl PendingChange {
    /// The change that this event makes, if any.
    pub fn of(event: &NormalizedEvent) -> Option<Self> {
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
