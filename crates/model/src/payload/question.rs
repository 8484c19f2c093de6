//! The agent asks the user, and what came of it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::approval::Answerer;
use crate::ids::{QuestionId, ToolCallId};

/// The tool by which an agent asks the user. A call of it is shown as the question that it asks, which has events of
/// its own.
pub const QUESTION_TOOL: &str = "AskUserQuestion";

payload! {
    /// One choice of a question.
    QuestionOption {
        /// What is sent back.
        value: String,
        /// What people read.
        label: String,
        /// More about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
    }
}

payload! {
    /// One field of a question.
    QuestionField {
        /// The key of the answer.
        id: String,
        /// What people read.
        label: String,
        /// The choices; none means free text.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        options: Vec<QuestionOption>,
        /// Several choices may be taken.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        multiple: bool,
        /// It must be answered.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        required: bool,
    }
}

payload! {
    /// `question.asked`: the agent asks the user.
    QuestionAskedPayload {
        /// Which question.
        question_id: QuestionId,
        /// What it asks.
        message: String,
        /// What an answer holds.
        fields: Vec<QuestionField>,
        /// The tool call that asks.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<ToolCallId>,
    }
}

/// What came of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum QuestionOutcome {
    /// It was answered.
    Answered,
    /// Somebody refused to answer, or nobody could.
    Declined,
    /// The task ended first.
    Cancelled,
}

payload! {
    /// `question.resolved`: the question is no longer open.
    QuestionResolvedPayload {
        /// Which question.
        question_id: QuestionId,
        /// What came of it.
        outcome: QuestionOutcome,
        /// The answers by field.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        answers: BTreeMap<String, Vec<String>>,
        /// Who answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answered_by: Option<Answerer>,
        /// Why it was not answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
}
