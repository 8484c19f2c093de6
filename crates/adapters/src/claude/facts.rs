//! The facts about Claude Code that the policy and the configuration need.

use roost_engine::facts::{Action, ConfigKeys, ControlFiles, RuntimeFacts, Toolset};

use super::plain;
use crate::tested_versions;

pub(super) static FACTS: RuntimeFacts = RuntimeFacts {
    preference: Some(1),
    config: ConfigKeys { settings: true, ..RuntimeFacts::UNKNOWN.config },
    plain_settings: plain::SETTINGS,
    thought_level: Some("effortLevel"),
    steers: true,
    tools: Toolset {
        actions: &[
            (Action::Read, &["Read", "Glob", "Grep", "LS", "NotebookRead"]),
            (Action::Edit, &["Edit", "MultiEdit", "Write", "NotebookEdit"]),
            (Action::Shell, &["Bash"]),
            (Action::Fetch, &["WebFetch", "WebSearch"]),
            (
                Action::Inert,
                &["Task", "Agent", "Skill", "ToolSearch", "AskUserQuestion", "EnterPlanMode", "ReportFindings"],
            ),
            (Action::Inert, &["TodoRead", "TodoWrite", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate"]),
            (Action::Inert, &["BashOutput", "TaskOutput", "CronList", "ListMcpResourcesTool"]),
            (Action::Change, &["ExitPlanMode", "KillShell", "KillBash", "TaskStop"]),
        ],
        ..Toolset::UNKNOWN
    },
    control_files: ControlFiles { folders: &[".claude"], files: &[] },
    tested: Some(tested_versions::CLAUDE),
};
