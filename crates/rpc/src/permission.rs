//! Answering what agents ask.

use roost_model::approval::{ApprovalScope, Pending};
use roost_model::pattern::RememberedRule;
use roost_model::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

words! {
    /// Yes or no.
    PermissionDecision {
        /// It may run.
        Allow,
        /// It may not.
        Deny,
    }
}

params! {
    /// The answer to a tool call that waits.
    PermissionRespondParams {
        /// Which call.
        tool_use_id: String,
        /// The answer.
        decision: PermissionDecision,
        ;
        /// For how long it counts; once if absent.
        scope: ApprovalScope,
        /// The session, where the id alone is not enough.
        session_id: String,
        /// Why not, for the agent to read.
        #[serde(alias = "message")]
        reason: String,
        /// The input to run with instead.
        updated_input: Value,
        /// The attempt that was seen; refused if it is another by now.
        attempt: u32,
        /// The input that was seen; refused if it is another by now.
        input_hash: String,
        /// The same for every repetition of the same answer.
        key: String,
    }
}

params! {
    /// Where to look.
    #[derive(Default)]
    PendingParams {
        ;
        /// Only in this session.
        session_id: String,
    }
}

wire! {
    /// Something that waits for an answer.
    PendingRequest {
        /// Under which it is answered.
        tool_use_id: String,
        /// In which session.
        session_id: String,
        /// Its workspace; empty if its folder is none.
        workspace_id: String,
        /// The tool, or `AskUserQuestion`.
        tool_name: String,
        /// Its input.
        tool_input: Value,
        /// Since when.
        created_at: Timestamp,
        /// Its runtime.
        agent_type: String,
        /// Everything that is known of it.
        pending: Pending,
    }
}

wire! {
    /// What waits for an answer, the oldest first.
    PendingResult {
        /// It.
        requests: Vec<PendingRequest>,
        /// How many.
        count: u64,
    }
}

wire! {
    /// How much was answered for longer than once.
    PermissionStats {
        /// Sessions with remembered answers.
        active_sessions: u64,
        /// Remembered answers.
        total_patterns: u64,
        /// What waits.
        pending_requests: u64,
    }
}

wire! {
    /// An answer that is remembered.
    ListedRule {
        /// Under which it is removed.
        rule_id: String,
        /// The calls that it covers, for people.
        covers: String,
        /// When the answer was given.
        made_at: Timestamp,
        /// The answer itself: where it counts, what it says and who gave it.
        rule: RememberedRule,
    }
}

wire! {
    /// The answers that are remembered, the oldest first.
    RuleListResult {
        /// Those that still count.
        rules: Vec<ListedRule>,
    }
}

params! {
    /// A remembered answer to remove.
    RuleRemoveParams {
        /// The id under which it is listed.
        rule_id: String,
        ;
    }
}
