//! The tools of Claude Code.

use super::Action;

pub(super) fn action(name: &str) -> Option<Action> {
    Some(match name {
        "Read" | "Glob" | "Grep" | "LS" | "NotebookRead" => Action::Read,
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => Action::Edit,
        "Bash" => Action::Shell,
        "WebFetch" | "WebSearch" => Action::Fetch,
        "Task" | "Agent" | "Skill" | "ToolSearch" | "AskUserQuestion" | "EnterPlanMode" | "ReportFindings" => {
            Action::Inert
        }
        "TodoRead" | "TodoWrite" | "TaskCreate" | "TaskGet" | "TaskList" | "TaskUpdate" => Action::Inert,
        "BashOutput" | "TaskOutput" | "CronList" | "ListMcpResourcesTool" => Action::Inert,
        "ExitPlanMode" | "KillShell" | "KillBash" | "TaskStop" => Action::Change,
        _ => return None,
    })
}
