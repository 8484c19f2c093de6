//! The facts about the Gemini CLI that the policy and the configuration need. The names of its tools are read from its
//! calls in [`super::calls`].

use roost_engine::facts::{Action, ConfigKeys, ControlFiles, RuntimeFacts, Toolset};

use super::plain;
use crate::tested_versions;

pub(super) static FACTS: RuntimeFacts = RuntimeFacts {
    preference: Some(3),
    config: ConfigKeys { settings: true, ..RuntimeFacts::UNKNOWN.config },
    plain_settings: plain::SETTINGS,
    thought_level: None,
    steers: false,
    tools: Toolset {
        actions: &[
            (
                Action::Read,
                &["read_file", "read_many_files", "list_directory", "glob", "search_file_content", "grep_search"],
            ),
            (Action::Edit, &["write_file", "replace"]),
            (Action::Shell, &["run_shell_command"]),
            (Action::Fetch, &["web_fetch", "google_web_search"]),
            (
                Action::Inert,
                &[
                    "write_todos",
                    "update_topic",
                    "ask_user",
                    "enter_plan_mode",
                    "activate_skill",
                    "get_internal_docs",
                    "tracker_create_task",
                    "tracker_update_task",
                    "tracker_get_task",
                    "tracker_list_tasks",
                    "tracker_add_dependency",
                    "tracker_visualize",
                ],
            ),
            (Action::Change, &["save_memory", "exit_plan_mode"]),
        ],
        shell_lasts: false,
        ..Toolset::UNKNOWN
    },
    control_files: ControlFiles { folders: &[".gemini"], files: &[] },
    tested: Some(tested_versions::GEMINI),
};
