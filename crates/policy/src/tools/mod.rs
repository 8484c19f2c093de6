//! The tools that each runtime brings along, and what they do.
//!
//! The tables hold what is certain. A tool that is in none of them is judged by the kind that its runtime claims, and
//! one without a kind is [`Action::Unknown`].

mod claude;
mod codex;
mod gemini;
mod opencode;

use roost_proto::payload::ToolKind;
use roost_proto::runtime::RuntimeName;

use crate::class::Call;
use crate::subject;

/// What a tool does, which says where in its input to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Changes only the agent's own state (plans, to-dos, questions), or starts an agent whose calls are judged alone.
    Inert,
    /// Reads files.
    Read,
    /// Changes files.
    Edit,
    /// Deletes files.
    Delete,
    /// Runs a command.
    Shell,
    /// Uses the network.
    Fetch,
    /// Changes something that is no file of the workspace (a mode, a memory).
    Change,
    /// Nobody knows.
    Unknown,
}

/// What a call's tool does.
pub(crate) fn action(call: &Call<'_>) -> Action {
    let native = match call.runtime {
        RuntimeName::ClaudeAgentSdk => claude::action(call.name),
        RuntimeName::CodexSdk => codex::action(call.name),
        RuntimeName::GeminiCliCore => gemini::action(call.name),
        RuntimeName::OpencodeServer => opencode::action(call.name),
        RuntimeName::Demo | RuntimeName::Acp(_) | RuntimeName::Host => None,
    };
    native.unwrap_or_else(|| claimed(call))
}

/// What a call does by its kind. A kind is a label for screens: `cat x` in a shell is labelled as a read, and a tool of
/// an MCP server is labelled by whoever wrote the server.
fn claimed(call: &Call<'_>) -> Action {
    if call.name.starts_with("mcp_") {
        return Action::Unknown;
    }
    match call.kind {
        None | Some(ToolKind::Other) => Action::Unknown,
        Some(ToolKind::Execute) => Action::Shell,
        Some(_) if subject::has_command(call.input) => Action::Shell,
        Some(ToolKind::Read | ToolKind::Search) => Action::Read,
        Some(ToolKind::Think) => Action::Inert,
        Some(ToolKind::Edit | ToolKind::Move) => Action::Edit,
        Some(ToolKind::Delete) => Action::Delete,
        Some(ToolKind::Fetch) => Action::Fetch,
        Some(ToolKind::SwitchMode) => Action::Change,
    }
}

/// Whether this is a name that stands for many tools: an ACP agent that names none is shown by its call's kind.
pub(crate) fn is_generic(name: &str) -> bool {
    let kinds = ["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other", ""];
    kinds.contains(&name)
}
