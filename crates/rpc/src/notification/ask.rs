//! Somebody is asked, and somebody has answered.

use roost_model::approval::{Answerer, ApprovalScope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::session_event;
use crate::PermissionDecision;

params! {
    /// One choice of a question.
    WaitingOption {
        /// What people read, and what is sent back.
        label: String,
        ;
        /// More about it.
        description: String,
    }
}

session_event! {
    /// The agent asks a question; answer it with `session/respond`.
    ClaudeWaiting {
        /// Which question.
        tool_use_id: String,
        /// `AskUserQuestion`.
        tool_name: String,
        /// All of it as JSON text.
        input: String,
        /// What is asked.
        question: String,
        /// The choices of its first field; none means free text.
        options: Vec<WaitingOption>,
        /// Which question.
        request_id: String,
        /// What is asked.
        description: String,
        ;
    }
}

session_event! {
    /// A tool call waits for an answer; answer it with `permission/respond`.
    ClaudePermission {
        /// Which call.
        tool_use_id: String,
        /// The tool.
        tool_name: String,
        /// Its input as JSON text.
        input: String,
        /// What it asks for, for people.
        description: String,
        /// The tool.
        tool: String,
        /// Which call.
        request_id: String,
        ;
    }
}

params! {
    /// One answer that can be given.
    PermissionOption {
        /// `allow_once`, `allow_session` or `deny`.
        key: String,
        /// What people read.
        label: String,
        /// It is the first choice.
        selected: bool,
        ;
        /// What it covers.
        description: String,
    }
}

session_event! {
    /// A tool call waits for an answer; answer it with `permission/respond`.
    PtyPermission {
        /// Which call.
        tool_use_id: String,
        /// `bash_command`, `write_file`, `edit_file`, `delete_file`, `read_file`, `mcp_tool` or `tool_use`.
        r#type: String,
        /// The command, file or address.
        target: String,
        /// What it asks for, for people.
        description: String,
        /// What it would do.
        preview: String,
        /// The answers that can be given.
        options: Vec<PermissionOption>,
        ;
    }
}

session_event! {
    /// What waited for an answer waits no more.
    PtyPermissionResolved {
        /// Which call or question.
        tool_use_id: String,
        /// Who answered, or why nobody needs to.
        resolved_by: String,
        /// What came of it.
        decision: PermissionDecision,
        ;
        /// For how long it counts.
        scope: ApprovalScope,
        /// Who answered, and from where.
        answered_by: Answerer,
        /// Why.
        reason: String,
    }
}
