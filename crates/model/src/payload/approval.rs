//! A person is asked about a tool call, and what comes of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::approval::{Answerer, ApprovalEnd, ApprovalScope};
use crate::content::ArtifactRef;
use crate::json::present;
use crate::pattern::{CallPattern, RememberedRule};
use crate::payload::ToolKind;
use crate::time::Timestamp;
use crate::tool::{PolicyDecision, ToolCallIdentity};

payload! {
    /// `approval.requested`: everything that a person needs in order to decide, in one event.
    ApprovalRequestedPayload {
        /// Which call; an answer must name the same attempt and input.
        #[serde(flatten)]
        identity: ToolCallIdentity,
        /// The tool.
        name: String,
        /// A line for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// What it does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<ToolKind>,
        /// Its input; cut where it is big.
        input: Value,
        /// The whole of a big input.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input_ref: Option<ArtifactRef>,
        /// The rule that asks.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
        /// The calls that an answer for longer than once would cover; absent where none may.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offer: Option<CallPattern>,
        /// When nobody's answer counts any more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<Timestamp>,
    }
}

payload! {
    /// `approval.resolved`: nobody needs to decide any more.
    ApprovalResolvedPayload {
        /// Which call.
        #[serde(flatten)]
        identity: ToolCallIdentity,
        /// What was decided.
        decision: PolicyDecision,
        /// How it came to that.
        end: ApprovalEnd,
        /// For how long it counts.
        scope: ApprovalScope,
        /// Why, as the runtime is told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// Who answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answered_by: Option<Answerer>,
        /// The input that it runs with, where a person changed it.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
        edited_input: Option<Value>,
        /// What is remembered of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remembered: Option<RememberedRule>,
    }
}

payload! {
    /// `rule.removed`: a remembered answer counts no longer, so calls like it are asked about again.
    RuleRemovedPayload {
        /// The id under which it was listed.
        rule_id: String,
        /// The answer that is gone.
        rule: RememberedRule,
        /// Who removed it.
        removed_by: Answerer,
    }
}
