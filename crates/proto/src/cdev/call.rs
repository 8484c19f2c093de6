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
            "bash_command" if self.command().is_some() => format!("Run command: {target}"),
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
            ToolKind::Execute if self.command().is_some() => format!("Bash({target})"),
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_call_is_named_and_shown_by_what_it_does() {
        use ToolKind::*;
        let edit = json!({ "file_path": "/w/a.rs", "old_string": "a\n", "new_string": "b\n" });
        let cases = [
            ("Bash", None, json!({ "command": "ls -l" }), "bash_command", "Bash(ls -l)", "Run command: ls -l"),
            ("shell", None, json!({ "command": ["ls", "-l"] }), "bash_command", "Bash(ls -l)", "Run command: ls -l"),
            ("execute", Some(Execute), json!({ "cmd": "ls" }), "bash_command", "Bash(ls)", "Run command: ls"),
            ("Edit", None, edit, "edit_file", "Update(/w/a.rs)", "Edit file: a.rs"),
            (
                "demo.write",
                Some(Edit),
                json!({ "path": "/w/a", "content": "x" }),
                "write_file",
                "Write(/w/a)",
                "Write to file: a",
            ),
            ("rm", Some(Delete), json!({ "path": "/x/a" }), "delete_file", "Delete(/x/a)", "Delete file: /x/a"),
            ("Read", None, json!({ "file_path": "/w/d/a" }), "read_file", "Read(/w/d/a)", "Read file: d/a"),
            ("Glob", None, json!({ "pattern": "*.rs" }), "tool_use", "Glob(pattern: \"*.rs\")", "Use tool Glob: *.rs"),
            ("Grep", None, json!({ "pattern": "fn" }), "tool_use", "Grep(pattern: \"fn\")", "Use tool Grep: fn"),
            (
                "fetch",
                Some(Fetch),
                json!({ "url": "http://a" }),
                "tool_use",
                "Fetch(http://a)",
                "Use tool fetch: http://a",
            ),
            ("count", Some(Execute), json!({ "to": 1 }), "bash_command", "count(A title)", "Use tool count: A title"),
            ("mcp__db__ask", None, json!({}), "mcp_tool", "mcp__db__ask(A title)", "Use tool mcp__db__ask: A title"),
        ];
        for (name, kind, input, permission, display, description) in cases {
            let call = Call { name, kind, title: Some("A title"), input: &input };
            assert_eq!((call.permission(), call.display().as_str()), (permission, display));
            assert_eq!(call.description("/w"), description);
        }
    }

    #[test]
    fn a_preview_shows_what_would_happen() {
        let cases = [
            ("Bash", json!({ "command": "ls" }), "ls"),
            ("Write", json!({ "file_path": "a", "content": "x\n" }), "x\n"),
            ("Edit", json!({ "file_path": "a", "old_string": "a\n", "new_string": "b\n" }), "@@ -1 +1 @@\n-a\n+b\n"),
            ("Task", json!({ "n": 1 }), "{\"n\":1}"),
        ];
        for (name, input, expected) in cases {
            assert_eq!(Call { name, kind: None, title: None, input: &input }.preview(), expected);
        }
    }
}
