//! Codex's tool items as tool calls.

use roost_model::payload::ToolKind;
use serde_json::{Value, json};

use super::wire::{CommandAction, Item, ItemStatus};

/// A tool call, read from one of Codex's items.
#[derive(Debug)]
pub(super) struct ToolItem {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) kind: ToolKind,
    pub(super) input: Value,
    /// Codex may still ask about it, with more input than this, so it is not reported yet.
    pub(super) may_ask: bool,
    /// It has a process, so it certainly runs.
    pub(super) runs: bool,
    pub(super) state: ItemStatus,
    /// The complete output of a command, once it has ended.
    pub(super) output: Option<String>,
    pub(super) result: Option<Value>,
}

impl ToolItem {
    /// The tool call of an item; `None` for items that are not tool calls. `so_far` is the status for items that carry
    /// none of their own.
    pub(super) fn from_item(item: Item, so_far: ItemStatus) -> Option<Self> {
        let tool = |id, name: &str, kind, input, state| Self {
            id,
            name: name.to_owned(),
            title: None,
            kind,
            input,
            may_ask: false,
            runs: false,
            state,
            output: None,
            result: None,
        };
        Some(match item {
            Item::CommandExecution {
                id,
                command,
                cwd,
                status,
                process_id,
                command_actions,
                aggregated_output,
                exit_code,
            } => {
                let title = command_title(&command, &command_actions);
                let input = json!({ "command": command, "cwd": cwd });
                let text = aggregated_output.clone().unwrap_or_default();
                let result = match status {
                    ItemStatus::Completed => text.into(),
                    _ => failed_command(exit_code, &text).into(),
                };
                Self {
                    title: Some(title),
                    may_ask: true,
                    runs: process_id.is_some(),
                    output: aggregated_output,
                    result: Some(result),
                    ..tool(id, "commandExecution", ToolKind::Execute, input, status)
                }
            }
            Item::FileChange { id, changes, status } => {
                let paths: Vec<_> = changes.as_array().into_iter().flatten().filter_map(change_path).collect();
                let title = paths.join(", ");
                let summary = match status {
                    ItemStatus::Completed => format!("changed {title}"),
                    _ => format!("did not change {title}"),
                };
                let input = json!({ "changes": changes });
                let (title, result) = (Some(title).filter(|title| !title.is_empty()), Some(summary.into()));
                Self { title, may_ask: true, result, ..tool(id, "fileChange", ToolKind::Edit, input, status) }
            }
            Item::McpToolCall { id, server, tool: name, status, arguments, result, error } => Self {
                title: Some(format!("{server}: {name}")),
                result: result.or(error),
                ..tool(id, &mcp_name(&server, &name), ToolKind::Other, arguments, status)
            },
            Item::DynamicToolCall { id, tool: name, status, arguments, content_items } => {
                Self { result: content_items, ..tool(id, &name, ToolKind::Other, arguments, status) }
            }
            Item::WebSearch { id, query, action } => Self {
                title: query.clone(),
                // The item starts before Codex knows the query.
                may_ask: query.as_ref().is_none_or(String::is_empty),
                result: action,
                ..tool(id, "webSearch", ToolKind::Fetch, json!({ "query": query }), so_far)
            },
            Item::ImageView { id, path } => Self {
                title: Some(path.clone()),
                ..tool(id, "view_image", ToolKind::Read, json!({ "path": path }), so_far)
            },
            Item::CollabAgentToolCall { id, tool: name, status, prompt } => {
                let input = json!({ "tool": name, "prompt": prompt });
                Self { title: Some(name), ..tool(id, "collabAgentToolCall", ToolKind::Other, input, status) }
            }
            Item::UserMessage
            | Item::Reasoning
            | Item::AgentMessage { .. }
            | Item::Plan { .. }
            | Item::ContextCompaction
            | Item::Other => return None,
        })
    }
}

impl ToolItem {
    /// A command that Codex refused before it made an item of it.
    pub(super) fn refused_command(id: String, input: Value) -> Self {
        let (name, title) =
            ("commandExecution".to_owned(), input.get("command").and_then(Value::as_str).map(Into::into));
        let (kind, state) = (ToolKind::Execute, ItemStatus::Declined);
        Self { id, name, title, kind, input, may_ask: false, runs: false, state, output: None, result: None }
    }
}

/// The result of a command that failed, as people and clients read it: the exit code, then what it printed.
pub(super) fn failed_command(exit_code: Option<i64>, output: &str) -> String {
    let how = exit_code.map_or_else(|| "it failed".to_owned(), |code| format!("exit code {code}"));
    if output.is_empty() { how } else { format!("{how}\n{output}") }
}

/// The name of an MCP server's tool, as the model calls it.
pub(super) fn mcp_name(server: &str, tool: &str) -> String {
    format!("mcp__{server}__{tool}")
}

/// The command to show: without the shell that Codex wraps around it, if Codex parsed it as a single action.
pub(super) fn command_title(command: &str, actions: &[CommandAction]) -> String {
    match actions {
        [action] => action.command.clone(),
        _ => command.to_owned(),
    }
}

fn change_path(change: &Value) -> Option<&str> {
    change.get("path").and_then(Value::as_str)
}
