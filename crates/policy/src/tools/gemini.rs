//! The tools of Gemini CLI.

use super::Action;

pub(super) fn action(name: &str) -> Option<Action> {
    Some(match name {
        "read_file" | "read_many_files" | "list_directory" | "glob" | "search_file_content" | "grep_search" => {
            Action::Read
        }
        "write_file" | "replace" => Action::Edit,
        "run_shell_command" => Action::Shell,
        "web_fetch" | "google_web_search" => Action::Fetch,
        "write_todos" | "ask_user" | "enter_plan_mode" | "activate_skill" | "get_internal_docs" => Action::Inert,
        "save_memory" | "exit_plan_mode" => Action::Change,
        _ => return None,
    })
}
