//! The tools of OpenCode; its permission requests use the same names.

use super::Action;

pub(super) fn action(name: &str) -> Option<Action> {
    Some(match name {
        "read" | "list" | "glob" | "grep" | "lsp" => Action::Read,
        "edit" | "write" | "patch" | "apply_patch" | "multiedit" => Action::Edit,
        "bash" => Action::Shell,
        "webfetch" | "websearch" | "codesearch" => Action::Fetch,
        "todowrite" | "todoread" | "task" | "skill" | "question" | "plan_enter" | "invalid" => Action::Inert,
        "plan_exit" => Action::Change,
        _ => return None,
    })
}
