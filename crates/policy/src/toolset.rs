//! What a tool does: by the table that comes with its runtime, else by the kind that the runtime claims.

use roost_model::payload::ToolKind;

use crate::class::Call;
use crate::fields;

/// What a tool does. It decides which fields of the input the policy reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Changes only the agent's own state (plans, to-dos, questions), or starts an agent whose calls are judged alone.
    Inert,
    /// Reads or searches the files that its input names.
    Read,
    /// Creates, changes or moves the files that its input names.
    Edit,
    /// Deletes the files that its input names; dangerous, because nothing brings them back.
    Delete,
    /// Runs the shell line or the program in its input.
    Shell,
    /// Fetches the `url` in its input, or searches the web.
    Fetch,
    /// Changes something that is not a file of the workspace (a mode, a memory).
    Change,
    /// Nothing is known of it, so it is asked about like a dangerous tool.
    Unknown,
}

/// What an adapter tells the policy about its runtime's tools. Fields that are left as in [`Toolset::UNKNOWN`] are
/// judged strictly.
#[derive(Clone, Copy, Debug)]
pub struct Toolset {
    /// The actions of the runtime's built-in tools, by their exact names. List only what is certain: a tool that is not
    /// listed is judged by the kind that the runtime claims, and one without a kind is asked about.
    pub actions: &'static [(Action, &'static [&'static str])],
    /// Fields of its shell tools that cannot change what runs (ids, times), beyond those that the policy knows.
    pub silent_fields: &'static [&'static str],
    /// It wraps every command in a shell (`bash -lc '…'`) and shows the whole as one line.
    pub wraps_commands: bool,
    /// It keeps one shell for all calls, so that a `cd` lasts.
    pub shell_lasts: bool,
}

impl Toolset {
    /// The strictest assumptions, for a runtime of which nothing is known.
    pub const UNKNOWN: Self = Self { actions: &[], silent_fields: &[], wraps_commands: false, shell_lasts: true };

    fn action(&self, name: &str) -> Option<Action> {
        self.actions.iter().find(|(_, names)| names.contains(&name)).map(|(action, _)| *action)
    }
}

/// The action of a call's tool.
pub(crate) fn action(call: &Call<'_>) -> Action {
    call.tools.action(call.name).unwrap_or_else(|| claimed(call))
}

/// The action of a call by its kind. A kind is only the runtime's claim: `cat x` in a shell is labelled as a read, and
/// a tool of an MCP server is labelled by whoever wrote the server. So it is believed only if the input agrees (a read
/// names files, a fetch an address, a thought is text); otherwise the action is unknown.
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
