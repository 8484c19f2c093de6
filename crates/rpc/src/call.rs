//! Describes a tool call for people, whichever agent makes it: what it would really do, not what the agent calls it.

use std::borrow::Cow;
use std::path::Path;

use roost_model::payload::{ApprovalRequestedPayload, ToolKind};
use serde_json::{Map, Value};
use similar::TextDiff;

use crate::file_change::{self, Patch, PatchKind};
use crate::shorten::{beginning, short};

/// Longest target of a call, in characters.
const TARGET_CHARS: usize = 500;
/// Longest preview of a call, in characters.
const PREVIEW_CHARS: usize = 4000;

/// Arguments that are a command line.
const COMMANDS: [&str; 4] = ["command", "cmd", "script", "commandLine"];
/// Values of `command` in the tool of a text editor, where it is no command line.
const EDITOR_COMMANDS: [&str; 5] = ["view", "create", "str_replace", "insert", "undo_edit"];
/// Arguments that name the folder in which a command runs.
const FOLDERS: [&str; 7] =
    ["cwd", "workdir", "working_directory", "workingDirectory", "directory", "dir_path", "working_dir"];

/// The parts of a tool call that its description is made from. The agent's title is not among them: an agent may call
/// `rm -rf` "Read README".
#[derive(Clone, Copy, Debug)]
pub struct ToolCallView<'a> {
    /// The tool as the runtime names it.
    pub name: &'a str,
    /// What the runtime says the tool does; what the input shows counts for more.
    pub kind: Option<ToolKind>,
    /// The tool's arguments.
    pub input: &'a Value,
}

impl<'a> ToolCallView<'a> {
    /// The call that an approval is about.
    pub fn from_approval(asked: &'a ApprovalRequestedPayload) -> Self {
        Self { name: &asked.name, kind: asked.kind, input: &asked.input }
    }

    /// The kind of call as `type` of `pty_permission`, such as `bash_command`.
    pub fn permission(&self) -> &'static str {
        match self.kind() {
            ToolKind::Execute => "bash_command",
            ToolKind::Edit if self.replaces() => "edit_file",
            ToolKind::Edit => "write_file",
            ToolKind::Delete => "delete_file",
            ToolKind::Read => "read_file",
            _ if self.is_of_server() => "mcp_tool",
            _ => "tool_use",
        }
    }

    /// The command, file, pattern or address that the call is about, else its arguments as JSON; at
    /// most 500 characters.
    pub fn target(&self) -> String {
        let field = |names: &[&str]| file_change::first_text(self.input, names).map(Cow::from);
        let target = match self.kind() {
            ToolKind::Execute => self.command(),
            ToolKind::Search => field(&["pattern", "query"]),
            ToolKind::Fetch => field(&["url", "uri", "href", "query"]),
            _ if self.is_of_server() => None,
            _ => {
                let patched: Vec<_> = self.patches().iter().map(|patch| patch.path).collect();
                let several = Some(patched.join(", ")).filter(|_| patched.len() > 1).map(Cow::from);
                several.or_else(|| file_change::path(self.input).map(Cow::from))
            }
        };
        short(&target.unwrap_or_else(|| self.raw().into()), TARGET_CHARS)
    }

    /// A sentence that says what would be done. Files are relative to `cwd`; a command's folder is named if it
    /// is not `cwd`.
    pub fn description(&self, cwd: &str) -> String {
        let target = self.target();
        let file = Path::new(&target).strip_prefix(cwd).map_or(target.as_str().into(), Path::to_string_lossy);
        let sentence = match self.permission() {
            "bash_command" if self.command().is_some() => format!("Run command: {target}"),
            "edit_file" => format!("Edit file: {file}"),
            "write_file" => format!("Write to file: {file}"),
            "delete_file" => format!("Delete file: {file}"),
            "read_file" => format!("Read file: {file}"),
            _ if target.is_empty() => format!("Use tool {}", self.name),
            _ => format!("Use tool {}: {target}", self.name),
        };
        match self.folder().filter(|folder| *folder != cwd) {
            Some(folder) => format!("{sentence} (in {})", short(folder, TARGET_CHARS)),
            None => sentence,
        }
    }

    /// What would be done in detail: the command with all arguments, the new content or a diff. Cut at 4000 characters,
    /// with a note of how many are missing.
    pub fn preview(&self) -> String {
        let changes = if self.edits() { file_change::changes(self.input) } else { Vec::new() };
        let patches = if self.edits() { self.patches() } else { Vec::new() };
        let preview = match (self.command(), changes.as_slice()) {
            (Some(command), _) => Some(self.with_other_fields(&command)),
            (None, []) if !patches.is_empty() => {
                Some(patches.iter().map(|patch| format!("{}\n{}", patch.path, patch.diff())).collect())
            }
            (None, []) => None,
            (None, [only]) if only.old.is_empty() => Some(only.new.to_owned()),
            (None, several) => {
                let diffs = several.iter().map(|change| {
                    let (old, new) = (short(change.old, PREVIEW_CHARS), short(change.new, PREVIEW_CHARS));
                    TextDiff::from_lines(&old, &new).unified_diff().to_string()
                });
                Some(diffs.collect())
            }
        };
        beginning(&preview.unwrap_or_else(|| self.input.to_string()), PREVIEW_CHARS)
    }

    /// One line such as `Bash(ls)` or `Update(src/main.rs)`.
    pub fn display(&self) -> String {
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

    /// Whether it changes a file.
    pub fn edits(&self) -> bool {
        self.kind() == ToolKind::Edit
    }

    /// The folder in which a command would run, if the arguments name one.
    pub fn folder(&self) -> Option<&'a str> {
        self.command().and_then(|_| file_change::first_text(self.input, &FOLDERS))
    }

    /// What the call does. The arguments decide, then the runtime's word; for runtimes that say nothing,
    /// the tool's name.
    fn kind(&self) -> ToolKind {
        if self.command().is_some() {
            return ToolKind::Execute;
        }
        if self.is_of_server() {
            return ToolKind::Other;
        }
        match (self.kind, self.name) {
            (Some(ToolKind::Read), _) if !file_change::changes(self.input).is_empty() => ToolKind::Edit,
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
        file_change::changes(self.input).iter().any(|change| !change.old.is_empty())
            || self.patches().iter().any(|patch| patch.kind == PatchKind::Update)
    }

    fn patches(&self) -> Vec<Patch<'a>> {
        self.input.get("changes").map(file_change::patches).unwrap_or_default()
    }

    /// Whether the tool belongs to an MCP server, whose arguments may mean anything.
    fn is_of_server(&self) -> bool {
        self.name.starts_with("mcp__")
    }

    /// The command line, if the arguments contain one; a list of words is joined with blanks.
    fn command(&self) -> Option<Cow<'a, str>> {
        let input: &'a Value = self.input;
        let of_field = |name: &&str| match input.get(*name)? {
            Value::String(line) if EDITOR_COMMANDS.contains(&line.as_str()) => None,
            Value::String(line) => Some(Cow::from(line)),
            Value::Array(words) => {
                let words: Option<Vec<_>> = words.iter().map(Value::as_str).collect();
                words.filter(|words| !words.is_empty()).map(|words| words.join(" ").into())
            }
            _ => None,
        };
        COMMANDS.iter().find_map(of_field).filter(|_| !self.is_of_server())
    }

    /// The command, and below it every other argument, because each may change what runs.
    fn with_other_fields(&self, command: &str) -> String {
        let fields = self.input.as_object().into_iter().flatten();
        let says_something = |value: &Value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty());
        let others = fields.filter(|(name, value)| !COMMANDS.contains(&name.as_str()) && says_something(value));
        let others = others.map(|(name, value)| match value {
            Value::String(text) => format!("\n{name}: {text}"),
            value => format!("\n{name}: {value}"),
        });
        // Two fields that both look like a command: nobody knows which one runs.
        let is_command = |name: &&str| self.input.get(*name).is_some_and(|value| !value.is_null());
        match COMMANDS.iter().filter(|name| is_command(name)).count() {
            0 | 1 => command.to_owned() + &others.collect::<String>(),
            _ => self.input.to_string(),
        }
    }

    /// The arguments as JSON; empty if there are none.
    fn raw(&self) -> String {
        match self.input {
            Value::Null => String::new(),
            Value::Object(fields) if fields == &Map::new() => String::new(),
            input => input.to_string(),
        }
    }
}

/// The agent's title for a call, if it says anything that is not already shown. It may be a lie, so it must only ever
/// stand beside what the call really does.
pub fn other_title<'a>(shown: &str, title: Option<&'a str>, name: &str) -> Option<&'a str> {
    let shown = shown.to_lowercase();
    let says_more = |title: &&str| {
        let mut words = title.split_whitespace();
        *title != name && words.any(|word| !shown.contains(&word.trim_matches('`').to_lowercase()))
    };
    title.filter(says_more)
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
            (
                "count",
                Some(Execute),
                json!({ "to": 1 }),
                "bash_command",
                "count({\"to\":1})",
                "Use tool count: {\"to\":1}",
            ),
            ("mcp__db__ask", None, json!({}), "mcp_tool", "mcp__db__ask()", "Use tool mcp__db__ask"),
            // What an agent says of a call is not believed against what its input says.
            (
                "read",
                Some(Read),
                json!({ "command": "rm -rf x" }),
                "bash_command",
                "Bash(rm -rf x)",
                "Run command: rm -rf x",
            ),
            (
                "read",
                Some(Read),
                json!({ "path": "/w/a", "content": "x" }),
                "write_file",
                "Write(/w/a)",
                "Write to file: a",
            ),
            (
                "Bash",
                None,
                json!({ "command": "ls", "cwd": "/x" }),
                "bash_command",
                "Bash(ls)",
                "Run command: ls (in /x)",
            ),
            ("Bash", None, json!({ "command": "ls", "cwd": "/w" }), "bash_command", "Bash(ls)", "Run command: ls"),
            (
                "run",
                Some(Execute),
                json!({ "title": "ls", "to": 1 }),
                "bash_command",
                "run({\"title\":\"ls\",\"to\":1})",
                "Use tool run: {\"title\":\"ls\",\"to\":1}",
            ),
            (
                "fileChange",
                Some(Edit),
                json!({ "changes": [{ "path": "/w/a", "kind": { "type": "update" }, "diff": "@@ -1 +1 @@\n-a\n+b\n" }] }),
                "edit_file",
                "Update(/w/a)",
                "Edit file: a",
            ),
            (
                "mcp__db__run",
                Some(Read),
                json!({ "command": "drop" }),
                "mcp_tool",
                "mcp__db__run({\"command\":\"drop\"})",
                "Use tool mcp__db__run: {\"command\":\"drop\"}",
            ),
        ];
        for (name, kind, input, permission, display, description) in cases {
            let call = ToolCallView { name, kind, input: &input };
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
            ("Bash", json!({ "command": "ls", "cwd": "/x", "env": { "A": "b" } }), "ls\ncwd: /x\nenv: {\"A\":\"b\"}"),
            ("Bash", json!({ "command": "ls", "script": "rm x" }), "{\"command\":\"ls\",\"script\":\"rm x\"}"),
            (
                "apply_patch",
                json!({ "changes": [
                    { "path": "a", "kind": { "type": "add" }, "diff": "x\n" },
                    { "path": "b", "kind": { "type": "update", "move_path": null }, "diff": "@@ -1 +1 @@\n-a\n+b\n" },
                    { "path": "c", "kind": { "type": "delete" }, "diff": "y\n" },
                ] }),
                "a\n@@ -0,0 +1 @@\n+x\nb\n@@ -1 +1 @@\n-a\n+b\nc\n@@ -1 +0,0 @@\n-y\n",
            ),
            (
                "apply_patch",
                json!({ "changes": [{ "path": "a", "kind": "?", "diff": "" }] }),
                "{\"changes\":[{\"path\":\"a\",\"kind\":\"?\",\"diff\":\"\"}]}",
            ),
        ];
        for (name, input, expected) in cases {
            assert_eq!(ToolCallView { name, kind: None, input: &input }.preview(), expected);
        }
    }

    /// The web app reads calls with code of its own; this list is what both are tested with.
    #[test]
    fn a_command_and_the_changes_to_files_are_found_as_the_web_app_finds_them() {
        let cases: Value = serde_json::from_str(include_str!("../../../ui/test/tool-calls.json")).unwrap();
        for case in cases.as_array().unwrap() {
            let call = ToolCallView { name: case["name"].as_str().unwrap(), kind: None, input: &case["input"] };
            let changed = |change: &file_change::Change<'_>| json!({ "path": change.path, "before": change.old, "after": change.new });
            let found = file_change::changes(call.input);
            let found: Vec<_> = match found.as_slice() {
                _ if call.is_of_server() => Vec::new(),
                [] => call.patches().into_iter().map(Patch::to_json).collect(),
                found => found.iter().map(changed).collect(),
            };
            assert_eq!(Value::from(found), case["changes"], "{}", case["about"]);
            assert_eq!((call.command().as_deref(), call.folder()), (case["command"].as_str(), case["folder"].as_str()));
        }
    }

    #[test]
    fn a_preview_that_is_cut_says_how_much_is_missing() {
        let input = json!({ "command": "x".repeat(5_000) });
        let preview = ToolCallView { name: "Bash", kind: None, input: &input }.preview();
        assert!(preview.ends_with("x… [cut: 1000 more characters]"), "{preview}");
    }
}
