//! The methods that answer approvals and list what waits for an answer.

use roost_model::approval::{ApprovalScope, Pending};
use roost_model::pattern::RememberedRule;
use roost_model::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

words! {
    /// The answer to an approval.
    PermissionDecision {
        /// The call may run. For a question: it is answered.
        Allow,
        /// The call may not run. For a question: it is declined.
        Deny,
    }
}

params! {
    /// Parameters of `permission/respond`.
    PermissionRespondParams {
        /// Id of the approval or question, from `pty_permission` or `permission/pending`.
        tool_use_id: String,
        /// Whether the call may run.
        decision: PermissionDecision,
        ;
        /// How long the answer applies; `once` if absent. Ignored with `updated_input`, which applies once.
        scope: ApprovalScope,
        /// The session; needed only if the id is open in several sessions.
        session_id: String,
        /// Why the call is denied, for the agent to read; absent means no reason.
        #[serde(alias = "message")]
        reason: String,
        /// Arguments to run the tool with instead of its own; for a question its answers. Absent means unchanged.
        updated_input: Value,
        /// The attempt that the client saw; the answer is refused if there is another one by now. Not
        /// checked if absent.
        attempt: u32,
        /// The `input_hash` that the client saw; the answer is refused if the input is another by now. Not
        /// checked if absent.
        input_hash: String,
        /// A text that the client makes up. Sent again with the same key, the same answer succeeds again
        /// instead of failing.
        key: String,
    }
}

params! {
    /// Parameters of `permission/request`, which a hook inside an agent calls before a tool runs.
    PermissionRequestParams {
        /// Id of the agent's own session.
        session_id: String,
        /// The tool as the runtime names it.
        tool_name: String,
        /// The runtime's id of the tool call.
        tool_use_id: String,
        ;
    }
}

words! {
    /// What a hook is told about a tool call.
    HookDecision {
        /// Neither yes nor no: the runtime asks for leave in its own way, which leads through Roost's policy and, where
        /// that says so, to a person.
        Ask,
    }
}

wire! {
    /// What the hook has to tell its runtime.
    PermissionRequestResult {
        /// Always `ask`: a hook is given no decision.
        decision: HookDecision,
        /// Why, for people.
        message: String,
    }
}

params! {
    /// Parameters of `permission/pending`.
    #[derive(Default)]
    PendingParams {
        ;
        /// Only what waits in this session; in all sessions if absent.
        session_id: String,
    }
}

wire! {
    /// An approval or question that waits for an answer.
    PendingRequest {
        /// The id that an answer must name.
        tool_use_id: String,
        /// Id of the session that waits.
        session_id: String,
        /// The session's workspace; empty if its folder belongs to none.
        workspace_id: String,
        /// The tool as the runtime names it; `AskUserQuestion` for a question.
        tool_name: String,
        /// The tool's arguments; for a question `question` and `fields`.
        tool_input: Value,
        /// When it was asked.
        created_at: Timestamp,
        /// Id of the session's runtime.
        agent_type: String,
        /// The approval or question with everything that its event carried.
        pending: Pending,
    }
}

wire! {
    /// What waits for an answer, oldest first.
    PendingResult {
        /// The approvals and questions; fewer than `count` if they would exceed 768 KiB.
        requests: Vec<PendingRequest>,
        /// Number of all that wait.
        count: u64,
    }
}

wire! {
    /// Numbers about remembered answers and open approvals.
    PermissionStats {
        /// Sessions that have remembered answers of their own.
        active_sessions: u64,
        /// Remembered answers of all scopes.
        total_patterns: u64,
        /// Approvals and questions that wait for an answer.
        pending_requests: u64,
    }
}

wire! {
    /// A remembered answer, with the id by which it is removed.
    ListedRule {
        /// Id for `rule/remove`, such as `rule_12ab34cd56ef`. An answer about the same calls in the same place gets the
        /// same id.
        rule_id: String,
        /// The calls that it decides, in words for people.
        covers: String,
        /// When the answer was given.
        made_at: Timestamp,
        /// The rule itself: where it applies, what it decides and who gave the answer.
        rule: RememberedRule,
    }
}

wire! {
    /// Result of `rule/list`.
    RuleListResult {
        /// All remembered answers, the oldest first.
        rules: Vec<ListedRule>,
    }
}

params! {
    /// Parameters of `rule/remove`.
    RuleRemoveParams {
        /// Id of the rule, from `rule/list`.
        rule_id: String,
        ;
    }
}
