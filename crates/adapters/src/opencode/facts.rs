//! What the rest of Roost knows about OpenCode: preference, settings, tools and the files that control it.

use roost_engine::facts::{Action, ConfigKeys, ControlFiles, RuntimeFacts, Toolset};

use super::plain;
use crate::tested_versions;

pub(super) static FACTS: RuntimeFacts = RuntimeFacts {
    preference: Some(4),
    config: ConfigKeys { settings: true, url: true, ..RuntimeFacts::UNKNOWN.config },
    plain_settings: plain::SETTINGS,
    thought_level: None,
    steers: false,
    tools: Toolset {
        // Its permission requests use the same names.
        actions: &[
            (Action::Read, &["read", "list", "glob", "grep", "lsp"]),
            (Action::Edit, &["edit", "write", "patch", "apply_patch", "multiedit"]),
            (Action::Shell, &["bash"]),
            (Action::Fetch, &["webfetch", "websearch", "codesearch"]),
            (Action::Inert, &["todowrite", "todoread", "task", "skill", "question", "plan_enter", "invalid"]),
            (Action::Change, &["plan_exit"]),
        ],
        shell_lasts: false,
        ..Toolset::UNKNOWN
    },
    control_files: ControlFiles { folders: &[".opencode"], files: &["opencode.json", "opencode.jsonc"] },
    tested: Some(tested_versions::OPENCODE),
};
