//! What the rest of Roost knows about Codex: preference, settings, tools and the files that control it.

use roost_engine::facts::{Action, ConfigKeys, ControlFiles, RuntimeFacts, Toolset};

use super::plain;
use crate::tested_versions;

/// Fields beside a command that have no effect: ids, times and parsed forms of it. `codex-acp` spells some of them
/// differently.
pub(crate) const SILENT_FIELDS: &[&str] = &[
    "availableDecisions",
    "available_decisions",
    "callId",
    "call_id",
    "commandActions",
    "completed_at_ms",
    "environmentId",
    "itemId",
    "parsed_cmd",
    "process_id",
    "proposedExecpolicyAmendment",
    "proposed_execpolicy_amendment",
    "source",
    "startedAtMs",
    "started_at_ms",
    "threadId",
    "turnId",
    "turn_id",
];

pub(super) static FACTS: RuntimeFacts = RuntimeFacts {
    preference: Some(2),
    config: ConfigKeys { settings: true, ..RuntimeFacts::UNKNOWN.config },
    plain_settings: plain::SETTINGS,
    thought_level: Some("model_reasoning_effort"),
    steers: true,
    tools: Toolset {
        // Both as its model calls them and as its server reports them.
        actions: &[
            (
                Action::Shell,
                &["shell", "shell_command", "local_shell", "exec_command", "container.exec", "commandExecution"],
            ),
            (Action::Edit, &["apply_patch", "fileChange"]),
            (Action::Read, &["view_image", "read_file", "list_dir", "grep_files"]),
            (Action::Fetch, &["web_search", "webSearch"]),
            (Action::Inert, &["update_plan", "request_user_input", "list_mcp_resources"]),
        ],
        silent_fields: SILENT_FIELDS,
        wraps_commands: true,
        shell_lasts: false,
    },
    control_files: ControlFiles { folders: &[".codex"], files: &[] },
    tested: Some(tested_versions::CODEX),
};
