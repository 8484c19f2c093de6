//! What a tool does: by the table that comes with its runtime, else by the kind that the runtime claims.

use roost_model::payload::ToolKind;

use crate::class::Call;
use crate::fields;

/// What a tool does, which says where in its input to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
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

/// What a runtime's adapter tells the policy of the runtime's tools. Whatever it leaves as in [`Toolset::UNKNOWN`] is
/// judged as strictly as a runtime of which nobody knows anything.
#[derive(Clone, Copy, Debug)]
pub struct Toolset {
    /// What the tools do that the runtime brings along, by their exact names. Only what is certain belongs here: a tool
    /// that is not listed is judged by the kind that the runtime claims, and one without a kind is asked about.
    pub actions: &'static [(Action, &'static [&'static str])],
    /// Fields of its shell tools that cannot change what runs (ids, times), beyond those that the policy knows.
    pub silent_fields: &'static [&'static str],
    /// It puts a shell around every command and shows both as one line.
    pub wraps_commands: bool,
    /// It asks about a command with the command as the title, and without the input.
    pub titles_are_commands: bool,
    /// Its shell lives on from one call to the next, so that a `cd` lasts.
    pub shell_lasts: bool,
}

impl Toolset {
    /// A runtime of which nobody knows anything.
    pub const UNKNOWN: Self =
        Self { actions: &[], silent_fields: &[], wraps_commands: false, titles_are_commands: false, shell_lasts: true };

    fn action(&self, name: &str) -> Option<Action> {
        self.actions.iter().find(|(_, names)| names.contains(&name)).map(|(action, _)| *action)
    }
}

/// What a call's tool does.
pub(crate) fn action(call: &Call<'_>) -> Action {
    call.tools.action(call.name).unwrap_or_else(|| claimed(call))
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

/// Whether this is a name that stands for many tools: an ACP agent that names none is shown by its call's kind.
pub(crate) fn is_generic(name: &str) -> bool {
    let kinds = ["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other", ""];
    kinds.contains(&name)
}
