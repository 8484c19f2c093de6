//! Events about approvals and questions.

use roost_model::approval::{Answerer, ApprovalScope};
use serde::{Deserialize, Serialize};

use super::session_event;
use crate::PermissionDecision;

params! {
    /// One choice of a question.
    WaitingOption {
        /// The text to show, and to send back.
        label: String,
        ;
        /// An explanation to show beside the label; absent if the agent gave none.
        description: String,
    }
}

session_event! {
    /// The agent asks a question; answer it with `session/respond`.
    ClaudeWaiting {
        /// Id of the question.
        tool_use_id: String,
        /// Always `AskUserQuestion`, the tool that clients know questions by.
        tool_name: String,
        /// The whole question as JSON text, with all its fields.
        input: String,
        /// The question's text.
        question: String,
        /// The choices of its first field; empty means free text.
        options: Vec<WaitingOption>,
        /// The same as `tool_use_id`.
        request_id: String,
        /// The same as `question`.
        description: String,
        ;
    }
}

session_event! {
    /// An approval is needed, in a session that `agent/run` prompted without `interactive`; answer it with
    /// `permission/respond`. Sent instead of `pty_permission`, never beside it.
    ClaudePermission {
        /// Roost's id of the tool call.
        tool_use_id: String,
        /// The tool as the runtime names it.
        tool_name: String,
        /// The tool's arguments as JSON text.
        input: String,
        /// A sentence that says what would be done.
        description: String,
        /// The same as `tool_name`.
        tool: String,
        /// The same as `tool_use_id`.
        request_id: String,
        /// The attempt at this call, to be sent back with the answer; a retry has a higher one.
        attempt: u32,
        ;
    }
}

params! {
    /// One answer to offer for an approval.
    PermissionOption {
        /// `allow_once`, `allow_session` or `deny`.
        key: String,
        /// The text to show.
        label: String,
        /// Whether it is selected; `allow_once` until somebody moves the selection with `session/input`.
        selected: bool,
        ;
        /// Which calls the answer would cover; only for `allow_session`.
        description: String,
    }
}

session_event! {
    /// An approval is needed; answer it with `permission/respond`. Sent again when its selection moves.
    PtyPermission {
        /// Roost's id of the tool call.
        tool_use_id: String,
        /// What kind of call it is, judged by its arguments: `bash_command`, `write_file`, `edit_file`, `delete_file`,
        /// `read_file`, `mcp_tool` or `tool_use`.
        r#type: String,
        /// The command, file or address, at most 500 characters; the arguments if there is none.
        target: String,
        /// A sentence that says what would be done.
        description: String,
        /// What would be done in detail, at most 4000 characters: the command with all arguments, the diff or
        /// the new content.
        preview: String,
        /// The answers to offer. `allow_session` is missing if the answer can only apply once.
        options: Vec<PermissionOption>,
        /// The attempt at this call, to be sent back with the answer; a retry has a higher one.
        attempt: u32,
        ;
    }
}

session_event! {
    /// An approval or question is no longer open.
    PtyPermissionResolved {
        /// Id of the approval or question.
        tool_use_id: String,
        /// The client that answered, else why it ended: see `ApprovalEnd` and `QuestionOutcome`.
        resolved_by: String,
        /// The decision; for a question `allow` if it was answered.
        decision: PermissionDecision,
        ;
        /// How long the decision applies; absent for a question.
        scope: ApprovalScope,
        /// Who answered; absent if nobody did.
        answered_by: Answerer,
        /// The reason that was given; absent if there was none.
        reason: String,
    }
}
