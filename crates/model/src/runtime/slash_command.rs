//! The commands that a prompt to a runtime may begin with.

use serde::{Deserialize, Serialize};

wire_enum! {
    /// Where a slash command comes from.
    CommandOrigin {
        /// A file in the user's own folders.
        User,
        /// A file of the project, so of whoever wrote the project.
        Project,
        /// The runtime itself brings it.
        Runtime,
    }
}

/// A command that a prompt to a runtime may begin with. It stands for a longer text, or for something that the runtime
/// does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SlashCommand {
    /// What is typed, with its first character: `/review`, or `$name` for a skill of Codex's.
    pub name: String,
    /// What it is for, in the words of its file; absent if the file has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Where it comes from.
    pub origin: CommandOrigin,
}
