//! Claude Code's slash commands. It carries them out itself; here they are only listed.

use std::path::PathBuf;

use roost_model::runtime::{CommandOrigin, SlashCommand};

use crate::slash;

/// Commands of Claude Code's own that it also has when it is hosted.
const BUILT_IN: [(&str, &str); 3] = [
    ("compact", "Summarises the conversation so far"),
    ("context", "Shows what fills the context"),
    ("init", "Writes a CLAUDE.md for the project"),
];

/// The commands that a prompt may begin with; `config` is Claude Code's own folder. Those of plugins are not among them.
pub(super) async fn commands(config: PathBuf, cwd: PathBuf) -> Vec<SlashCommand> {
    slash::listed(move || {
        let mut all = slash::built_in(&BUILT_IN);
        for (folder, origin) in [(config, CommandOrigin::User), (cwd.join(".claude"), CommandOrigin::Project)] {
            all.extend(slash::list_files(&folder.join("commands"), ("md", ":"), origin, slash::describe_markdown));
            all.extend(slash::list_skills(&folder.join("skills"), '/', origin));
        }
        all
    })
    .await
}
