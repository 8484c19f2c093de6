//! The tools of Codex, both as its model calls them and as its server reports them.

use super::Action;

pub(super) fn action(name: &str) -> Option<Action> {
    Some(match name {
        "shell" | "shell_command" | "local_shell" | "exec_command" | "container.exec" | "commandExecution" => {
            Action::Shell
        }
        "apply_patch" | "fileChange" => Action::Edit,
        "view_image" | "read_file" | "list_dir" | "grep_files" => Action::Read,
        "web_search" | "webSearch" => Action::Fetch,
        "update_plan" | "request_user_input" | "list_mcp_resources" => Action::Inert,
        _ => return None,
    })
}
