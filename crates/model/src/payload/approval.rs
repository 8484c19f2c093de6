//! Events about approvals: a person is asked about a tool call, and the approval ends.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::approval::{Answerer, ApprovalEnd, ApprovalScope, PendingKind};
use crate::content::ArtifactRef;
use crate::json::present;
use crate::pattern::{CallPattern, RememberedRule};
use crate::payload::ToolKind;
use crate::time::Timestamp;
use crate::tool::{PolicyDecision, ToolCallIdentity, ToolClass};

payload! {
    /// `approval.requested`: everything that a person needs in order to decide, in one event.
    ApprovalRequestedPayload {
        /// The call, its attempt and its input. An answer for another attempt or input is refused.
        #[serde(flatten)]
        identity: ToolCallIdentity,
        /// The tool as the runtime names it.
        name: String,
        /// The agent's own description of the call, not verified: show `name` and `input` beside it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// What the runtime says the tool does; absent if it does not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<ToolKind>,
        /// The tool's arguments. Above 8 KiB they are shortened here, and `input_ref` has them in full.
        input: Value,
        /// The complete arguments; absent if `input` is complete.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input_ref: Option<ArtifactRef>,
        /// How much harm the call can do, whichever rule asks; absent if the daemon that asked did not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        class: Option<ToolClass>,
        /// Name of the policy rule that requires the approval; absent if no named rule does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
        /// The calls that a remembered answer would cover. Absent if the answer can only apply once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offer: Option<CallPattern>,
        /// When it is denied unless answered; absent if it waits without limit (`approval_timeout_minutes = 0`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<Timestamp>,
    }
}

payload! {
    /// `approval.resolved`: the approval is no longer open, whether somebody answered or not.
    ApprovalResolvedPayload {
        /// The call and attempt that were decided.
        #[serde(flatten)]
        identity: ToolCallIdentity,
        /// The decision; `deny` whenever nobody answered.
        decision: PolicyDecision,
        /// Whether it was answered, and if not, why it ended.
        end: ApprovalEnd,
        /// How long the decision applies; `once` unless it was remembered.
        scope: ApprovalScope,
        /// The reason that the runtime was given; absent if there was none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// Who answered; absent if nobody did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answered_by: Option<Answerer>,
        /// The arguments that the tool runs with, if the person changed them; absent means unchanged.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
        edited_input: Option<Value>,
        /// The rule that was stored from this answer; absent if it applies once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remembered: Option<RememberedRule>,
        /// What the session still waits for after this, an approval before a question; absent if for nothing, and in
        /// events of older versions (not in the seed).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        still_waits_for: Option<PendingKind>,
    }
}

payload! {
    /// `rule.removed`: a remembered answer was removed, so the calls that it decided are asked about again.
    RuleRemovedPayload {
        /// Id of the rule, as `rule/list` gave it.
        rule_id: String,
        /// The rule as it was.
        rule: RememberedRule,
        /// The client that removed it.
        removed_by: Answerer,
    }
}
