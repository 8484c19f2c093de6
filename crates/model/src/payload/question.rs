//! Events about questions: the agent asks the user, and the question ends.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::approval::{Answerer, PendingKind};
use crate::ids::{QuestionId, ToolCallId};

/// The tool by which an agent asks the user. A call of it is shown as the question that it asks, which has events
/// of its own.
pub const QUESTION_TOOL: &str = "AskUserQuestion";

payload! {
    /// One choice that a question offers.
    QuestionOption {
        /// The value to send back.
        value: String,
        /// The text to show.
        label: String,
        /// An explanation to show beside the label; absent if the agent gave none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
    }
}

payload! {
    /// One field of a question's form.
    QuestionField {
        /// The key of this field in `answers`.
        id: String,
        /// The text to show.
        label: String,
        /// The choices. If empty, the answer is free text.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        options: Vec<QuestionOption>,
        /// Whether several choices may be selected; false if absent.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        multiple: bool,
        /// Whether an answer must contain this field; false if absent.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        required: bool,
    }
}

payload! {
    /// `question.asked`: the agent asks the user and waits; answer with `session/respond`.
    QuestionAskedPayload {
        /// The id that an answer must name.
        question_id: QuestionId,
        /// The question's text.
        message: String,
        /// The fields of the form to fill in, in order.
        fields: Vec<QuestionField>,
        /// The tool call by which the agent asked; absent if its runtime has no such call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<ToolCallId>,
    }
}

/// How a question ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum QuestionOutcome {
    /// A client answered it.
    Answered,
    /// A client refused to answer, or no client could be asked.
    Declined,
    /// The task ended while it was open.
    Cancelled,
}

payload! {
    /// `question.resolved`: the question is no longer open.
    QuestionResolvedPayload {
        /// The question that ended.
        question_id: QuestionId,
        /// Whether it was answered.
        outcome: QuestionOutcome,
        /// The answers: values by field id. Empty unless `outcome` is `answered`.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        answers: BTreeMap<String, Vec<String>>,
        /// Who answered; absent if nobody did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answered_by: Option<Answerer>,
        /// Why it was not answered; absent if it was, or if no reason was given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// What the session still waits for after this, an approval before a question; absent if for nothing, and in
        /// events of older versions (not in the seed).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        still_waits_for: Option<PendingKind>,
    }
}
