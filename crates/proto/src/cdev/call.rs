//! A tool call in words for people, whichever agent makes it.

use std::borrow::Cow;
use std::path::Path;

use serde_json::Value;
use similar::TextDiff;

use super::cut::short;
use super::edit;
use crate::payload::ToolKind;

/// Characters of what a call is about.
const TARGET_CHARS: usize = 500;
/// Characters of what a call would do.
const PREVIEW_CHARS: usize = 4000;

/// What is known of a call when it is asked about or shown.
pub(super) struct Call<'a> {
    pub(super) name: &'a str,
    pub(super) kind: Option<ToolKind>,
    pub(super) title: Option<&'a str>,
    pub(super) input: &'a Value,
}

impl Call<'_> {
    /// The `type` of its `pty_permission`.
    pub(super) fn permission(&self) -> &'static str {
        match self.kind() {
            ToolKind::Execute => "bash_command",
            ToolKind::Edit if self.replaces() => "edit_file",
            ToolKind::Edit => "write_file",
            ToolKind::Delete => "delete_file",
            ToolKind::Read => "read_file",
            _ if self.name.starts_with("mcp__") => "mcp_tool",
            _ => "tool_use",
        }
    }

    /// What it is about: a command, a file, an address.
    pub(super) fn target(&self) -> String {
        let field = |names: &[&str]| edit::first(self.input, names).map(Cow::from);
        let target = match self.kind() {
            ToolKind::Execute => self.command(),
            ToolKind::Search => field(&["pattern", "query"]),
            ToolKind::Fetch => field(&["url", "query"]),
            _ => edit::path(self.input).map(Cow::from),
        };
        short(&target.unwrap_or_else(|| self.title.unwrap_or(self.name).into()), TARGET_CHARS)
    }

    /// A sentence that asks for leave.
    pub(super) fn description(&self, cwd: &str) -> String {
        let target = self.target();
        let file = Path::new(&target).strip_prefix(cwd).map_or(target.as_str().into(), Path::to_string_lossy);
        match self.permission() {
            "bash_command" => format!("Run command: {target}"),
            "edit_file" => format!("Edit file: {file}"),
            "write_file" => format!("Write to file: {file}"),
            "delete_file" => format!("Delete file: {file}"),
            "read_file" => format!("Read file: {file}"),
            _ => format!("Use tool {}: {target}", self.name),
        }
    }

    /// What it would do, as far as a small screen shows it.
    pub(super) fn preview(&self) -> String {
        let changes = if self.edits() { edit::changes(self.input) } else { Vec::new() };
        let preview = match (self.kind(), changes.as_slice()) {
            (ToolKind::Execute, _) => self.command().map(Cow::into_owned),
            (_, []) => None,
            (_, [only]) if only.old.is_empty() => Some(only.new.to_owned()),
            (_, several) => {
                let diffs = several.iter().map(|change| {
                    let (old, new) = (short(change.old, PREVIEW_CHARS), short(change.new, PREVIEW_CHARS));
                    TextDiff::from_lines(&old, &new).unified_diff().to_string()
                });
                Some(diffs.collect())
            }
        };
        short(&preview.unwrap_or_else(|| self.input.to_string()), PREVIEW_CHARS)
    }

    /// One line such as `Bash(ls)`.
    pub(super) fn display(&self) -> String {
        let target = self.target();
        match self.kind() {
            ToolKind::Execute => format!("Bash({target})"),
            ToolKind::Edit if self.replaces() => format!("Update({target})"),
            ToolKind::Edit => format!("Write({target})"),
            ToolKind::Read => format!("Read({target})"),
            ToolKind::Delete => format!("Delete({target})"),
            ToolKind::Fetch => format!("Fetch({target})"),
            ToolKind::Search if self.name == "Glob" => format!("Glob(pattern: \"{target}\")"),
            ToolKind::Search => format!("Grep(pattern: \"{target}\")"),
            _ => format!("{}({target})", self.name),
        }
    }

    /// It changes a file.
    pub(super) fn edits(&self) -> bool {
        self.kind() == ToolKind::Edit
    }

    /// What it does; agents that do not say are known by the names of their tools.
    fn kind(&self) -> ToolKind {
        match (self.kind, self.name) {
            (Some(kind), _) => kind,
            (None, "Bash" | "bash" | "shell" | "exec_command") => ToolKind::Execute,
            (None, "Edit" | "MultiEdit" | "NotebookEdit" | "Write" | "apply_patch") => ToolKind::Edit,
            (None, "Read" | "NotebookRead") => ToolKind::Read,
            (None, "Glob" | "Grep") => ToolKind::Search,
            (None, "WebFetch" | "WebSearch") => ToolKind::Fetch,
            (None, _) => ToolKind::Other,
        }
    }

    fn replaces(&self) -> bool {
        edit::changes(self.input).iter().any(|change| !change.old.is_empty())
    }

    /// The command, a list of words as well as a line.
    fn command(&self) -> Option<Cow<'_, str>> {
        let command = self.input.get("command").or_else(|| self.input.get("cmd"))?;
        match command {
            Value::String(line) => Some(line.into()),
            Value::Array(words) => {
                let words: Option<Vec<_>> = words.iter().map(Value::as_str).collect();
                words.map(|words| words.join(" ").into())
            }
            _ => None,
        }
    }
}
