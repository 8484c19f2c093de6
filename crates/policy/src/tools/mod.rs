//! The tools that each runtime brings along, and what they do.
//!
//! The tables hold what is certain. A tool that is in none of them is judged by the kind that its runtime claims, and
//! one without a kind is [`Action::Unknown`].

mod claude;
mod codex;
mod gemini;
mod opencode;

use roost_model::payload::ToolKind;
use roost_model::runtime::RuntimeName;

use crate::class::Call;
use crate::fields;

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

/// What a call does by its kind. A kind is the runtime's own word: `cat x` in a shell is labelled as a read, and a tool of
/// an MCP server is labelled by whoever wrote the server. So it is believed only if the input shows the same (a read
/// names files, a fetch an address, a thought is text); without that nobody knows what the call does.
fn claimed(call: &Call<'_>) -> Action {
    if call.name.starts_with("mcp_") {
        return Action::Unknown;
    }
    let kind = match call.kind {
        None | Some(ToolKind::Other) => return Action::Unknown,
        Some(ToolKind::Execute) => return Action::Shell,
        Some(_) if fields::has_command(call.input) => return Action::Shell,
        Some(kind) => kind,
    };
    let names_files = || !fields::files(call.input).is_empty();
    let names_address = || call.input.get("url").is_some_and(serde_json::Value::is_string);
    match kind {
        ToolKind::Delete => Action::Delete,
        ToolKind::SwitchMode => Action::Change,
        ToolKind::Fetch => Action::Fetch,
        _ if names_address() => Action::Fetch,
        ToolKind::Read | ToolKind::Search if names_files() && fields::reads_only(call.input) => Action::Read,
        ToolKind::Edit | ToolKind::Move if names_files() && fields::edits_only(call.input) => Action::Edit,
        ToolKind::Think if !names_files() && fields::thinks_only(call.input) => Action::Inert,
        _ => Action::Unknown,
    }
}

/// Whether the shell of this runtime stays where a `cd` led it, from one call to the next. Only those count as new each
/// time that are known to be.
pub(crate) fn keeps_folder(runtime: &RuntimeName) -> bool {
    !matches!(runtime, RuntimeName::CodexSdk | RuntimeName::GeminiCliCore | RuntimeName::OpencodeServer)
}

/// Whether this is a name that stands for many tools: an ACP agent that names none is shown by its call's kind.
pub(crate) fn is_generic(name: &str) -> bool {
    let kinds = ["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other", ""];
    kinds.contains(&name)
}
