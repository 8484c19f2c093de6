//! An answer from the terminal, and how it is sent to the daemon.

use std::collections::BTreeMap;

use roost_client::{Client, Error};
use roost_model::approval::ApprovalScope;
use roost_model::ids::{QuestionId, ToolCallId};
use roost_rpc::{AskKind, PermissionDecision, PermissionRespondParams, SessionRespondParams, method};
use serde_json::json;

/// A complete answer, with what it answers.
#[derive(Clone, Debug)]
pub(crate) enum UserResponse {
    /// To a tool call, named as it was shown: the daemon refuses it if the call is another by now.
    Approval { call: ToolCallId, attempt: u32, input_hash: String, decision: CallDecision },
    /// An answer to a question, by its id.
    Question { question: QuestionId, answer: QuestionAnswer },
}

/// Yes or no to a tool call, and for how long that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CallDecision {
    Allow {
        scope: ApprovalScope,
    },
    Deny {
        scope: ApprovalScope,
        /// Why, for the agent to read.
        reason: Option<String>,
    },
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum QuestionAnswer {
    /// The chosen values by the id of each field.
    Given(BTreeMap<String, Vec<String>>),
    Declined,
}

impl UserResponse {
    /// The id of the tool call or question that is answered.
    pub(crate) fn id(&self) -> &str {
        match self {
            Self::Approval { call, .. } => call.as_str(),
            Self::Question { question, .. } => question.as_str(),
        }
    }

    /// Sends the answer to the daemon, which refuses it if somebody else was faster.
    pub(crate) async fn send(self, client: &Client, session: &str) -> Result<(), Error> {
        let mut params = PermissionRespondParams {
            tool_use_id: self.id().into(),
            decision: PermissionDecision::Deny,
            scope: None,
            session_id: Some(session.into()),
            reason: None,
            updated_input: None,
            attempt: None,
            input_hash: None,
            key: None,
        };
        match self {
            Self::Question { answer: QuestionAnswer::Declined, .. } => {}
            Self::Question { question, answer: QuestionAnswer::Given(answers) } => {
                let params = SessionRespondParams {
                    session_id: session.into(),
                    r#type: AskKind::Question,
                    response: json!(answers),
                    id: Some(question.to_string()),
                    agent_type: None,
                };
                return client.call::<method::SessionRespond>(params).await.map(drop);
            }
            Self::Approval { attempt, input_hash, decision, .. } => {
                (params.attempt, params.input_hash) = (Some(attempt), Some(input_hash));
                (params.decision, params.scope, params.reason) = match decision {
                    CallDecision::Allow { scope } => (PermissionDecision::Allow, Some(scope), None),
                    CallDecision::Deny { scope, reason } => (PermissionDecision::Deny, Some(scope), reason),
                };
            }
        }
        client.call::<method::PermissionRespond>(params).await.map(drop)
    }
}
