//! What the policy makes of the calls of each runtime, by the facts that come with its adapter.

use std::path::Path;

use roost_adapters::{BUILT_IN, acp, built_in};
use roost_engine::facts::RuntimeFacts;
use roost_model::mode::Mode;
use roost_model::payload::ToolKind;
use roost_model::tool::PolicyResult;
use roost_policy::{
    Approver, Call, Classified, Context, ControlFiles, FolderEffect, Memory, ResolvedPath, RuleSet, RuntimePermissions,
    Subject, ToolClass, Unresolved, classify, evaluate, folder_effect,
};
use serde_json::{Value, json};

use ToolClass::{Dangerous, Network, ReadOnly, Write};

const WORKSPACE: &str = "/home/ada/project";

/// A call of a runtime.
struct Ask {
    runtime: &'static str,
    name: &'static str,
    kind: Option<ToolKind>,
    input: Value,
}

impl Ask {
    fn tool(runtime: &'static str, name: &'static str, input: Value) -> Self {
        Self { runtime, name, kind: None, input }
    }

    fn bash(command: &str) -> Self {
        Self::tool("claude", "Bash", json!({ "command": command }))
    }

    fn edit(path: &str) -> Self {
        Self::tool("claude", "Edit", json!({ "file_path": path, "old_string": "a", "new_string": "b" }))
    }

    fn kind(self, kind: ToolKind) -> Self {
        Self { kind: Some(kind), ..self }
    }

    fn call(&self) -> Call<'_> {
        let Self { runtime, name, kind, input } = self;
        Call { runtime, tools: &facts(runtime).tools, name, kind: *kind, input, input_hash: "" }
    }

    fn classified(&self) -> Classified {
        classify(&self.call())
    }

    fn class(&self) -> ToolClass {
        self.classified().classes.worst()
    }

    fn subject(&self) -> Subject {
        self.classified().subject
    }
}

fn facts(runtime: &str) -> &'static RuntimeFacts {
    built_in(runtime).map_or(&acp::FACTS, |one| one.facts)
}

/// What an edit of this file of the workspace comes to where edits run unasked.
fn edited(path: &str, control: &[ControlFiles]) -> PolicyResult {
    let ask = Ask::edit(path);
    let resolved = [ResolvedPath {
        given: path.into(),
        real: Some(Path::new(WORKSPACE).join(path)),
        inside_workspace: true,
        in_own_repository: false,
    }];
    let context = Context {
        mode: Mode::AcceptEdits,
        approver: Approver::Present,
        session: &"one".into(),
        workspace: Path::new(WORKSPACE),
        resolved: &resolved,
        unresolved: Unresolved::Nothing,
        control,
        rules: &RuleSet::default(),
        memory: &Memory::default(),
        permissions: &RuntimePermissions::default(),
    };
    evaluate(&ask.call(), &context).words.pop().unwrap().result
}

#[test]
fn every_runtimes_own_tools_are_known() {
    let cases = [
        ("claude", "Read", ReadOnly),
        ("claude", "Glob", ReadOnly),
        ("claude", "Grep", ReadOnly),
        ("claude", "LS", ReadOnly),
        ("claude", "NotebookRead", ReadOnly),
        ("claude", "TodoWrite", ReadOnly),
        ("claude", "Task", ReadOnly),
        ("claude", "AskUserQuestion", ReadOnly),
        ("claude", "Edit", Write),
        ("claude", "MultiEdit", Write),
        ("claude", "Write", Write),
        ("claude", "NotebookEdit", Write),
        ("claude", "ExitPlanMode", Write),
        ("claude", "WebFetch", Network),
        ("claude", "WebSearch", Network),
        ("claude", "mcp__probe__probe_echo", Dangerous),
        ("claude", "CronCreate", Dangerous),
        ("codex", "apply_patch", Write),
        ("codex", "fileChange", Write),
        ("codex", "web_search", Network),
        ("codex", "view_image", ReadOnly),
        ("codex", "update_plan", ReadOnly),
        ("codex", "write_stdin", Dangerous),
        ("codex", "mcpToolCall", Dangerous),
        ("gemini", "read_file", ReadOnly),
        ("gemini", "list_directory", ReadOnly),
        ("gemini", "glob", ReadOnly),
        ("gemini", "search_file_content", ReadOnly),
        ("gemini", "write_todos", ReadOnly),
        ("gemini", "write_file", Write),
        ("gemini", "replace", Write),
        ("gemini", "save_memory", Write),
        ("gemini", "web_fetch", Network),
        ("gemini", "google_web_search", Network),
        ("gemini", "mcp__probe__probe_echo", Dangerous),
        ("gemini", "update_topic", ReadOnly),
        ("gemini", "invoke_agent", Dangerous),
        ("opencode", "read", ReadOnly),
        ("opencode", "list", ReadOnly),
        ("opencode", "glob", ReadOnly),
        ("opencode", "grep", ReadOnly),
        ("opencode", "todowrite", ReadOnly),
        ("opencode", "edit", Write),
        ("opencode", "write", Write),
        ("opencode", "patch", Write),
        ("opencode", "webfetch", Network),
        ("opencode", "probe_probe_echo", Dangerous),
        ("opencode", "external_directory", Dangerous),
        ("demo", "anything", Dangerous),
        // A name is one runtime's own: another may mean anything by it.
        ("goose", "Read", Dangerous),
        ("codex", "Read", Dangerous),
    ];
    for (runtime, name, class) in cases {
        assert_eq!(Ask::tool(runtime, name, json!({})).class(), class, "{runtime} {name}");
    }
}

#[test]
fn a_command_is_read_from_wherever_its_runtime_puts_it() {
    let cases = [
        Ask::bash("git status"),
        Ask::tool("codex", "shell", json!({ "command": ["git", "status"] })),
        Ask::tool("codex", "shell", json!({ "command": ["bash", "-lc", "git status"] })),
        Ask::tool(
            "codex",
            "commandExecution",
            json!({ "command": "/bin/bash -lc 'git status'", "commandActions": [] }),
        ),
        Ask::tool("codex", "exec_command", json!({ "cmd": "git status" })),
        Ask::tool("goose", "execute", json!({ "command": ["/bin/bash", "-lc", "git status"] })).kind(ToolKind::Execute),
        Ask::tool("opencode", "bash", json!({ "command": "git status", "description": "look" })),
        Ask::tool("gemini", "run_shell_command", json!({ "command": "git status", "description": "look" })),
    ];
    for ask in cases {
        let Subject::Shell(command) = ask.subject() else { panic!("{:?} is no command", ask.input) };
        assert_eq!(command.text, "git status", "{:?}", ask.input);
        assert_eq!(command.line.unwrap().single().unwrap(), ["git", "status"], "{:?}", ask.input);
    }
}

#[test]
fn files_are_found_wherever_a_runtime_names_them() {
    let patch =
        "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n*** Move to: c\n*** Delete File: d\n*** End Patch";
    let cases = [
        (Ask::edit("/x/a"), vec!["/x/a"]),
        (Ask::tool("claude", "NotebookEdit", json!({ "notebook_path": "n" })), vec!["n"]),
        (Ask::tool("gemini", "read_many_files", json!({ "paths": ["a", "b"] })), vec!["a", "b"]),
        (Ask::tool("opencode", "write", json!({ "filePath": "a", "content": "path" })), vec!["a"]),
        (Ask::tool("opencode", "patch", json!({ "patchText": patch })), vec!["a", "b", "c", "d"]),
        (Ask::tool("codex", "apply_patch", json!({ "input": patch })), vec!["a", "b", "c", "d"]),
        (Ask::tool("codex", "apply_patch", json!(patch)), vec!["a", "b", "c", "d"]),
        (Ask::tool("codex", "apply_patch", json!({ "patch": "--- a/x\n+++ b/y\n" })), vec!["x", "y"]),
        (Ask::tool("codex", "fileChange", json!({ "changes": [{ "path": "a" }, { "path": "b" }] })), vec!["a", "b"]),
        (Ask::tool("codex", "fileChange", json!({ "changes": { "a": { "move_path": "z" } } })), vec!["a", "z"]),
        (
            Ask::tool("goose", "edit", json!({ "locations": ["a"], "content": [{ "type": "diff", "path": "b" }] }))
                .kind(ToolKind::Edit),
            vec!["a", "b"],
        ),
    ];
    for (ask, files) in cases {
        assert_eq!(ask.subject(), Subject::Files(files.into_iter().map(Into::into).collect()), "{}", ask.input);
    }
}

#[test]
fn the_files_of_every_runtime_are_guarded_whichever_runs() {
    let control = BUILT_IN.map(|one| one.facts.control_files);
    for path in [
        "opencode.json",
        "opencode.jsonc",
        ".opencode/agent/x.md",
        ".claude/settings.json",
        "sub/.claude/settings.json",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".mcp.json",
    ] {
        assert_eq!(edited(path, &control), PolicyResult::Ask, "{path}");
    }
    assert_eq!(edited("src/main.rs", &control), PolicyResult::Allow);
}

#[test]
fn only_a_shell_that_is_known_to_be_new_each_time_forgets_where_it_went() {
    let going = json!({ "command": "cd src" });
    let shells = [
        ("claude", "Bash", true),
        ("codex", "shell", false),
        ("gemini", "run_shell_command", false),
        ("opencode", "bash", false),
        ("demo", "execute", true),
        ("goose", "execute", true),
    ];
    for (runtime, name, lasts) in shells {
        let ask = Ask::tool(runtime, name, going.clone()).kind(ToolKind::Execute);
        assert_eq!(folder_effect(&ask.call()) != FolderEffect::Stays, lasts, "{runtime}");
    }
}

#[test]
fn what_codex_says_beside_a_command_changes_nothing_of_it() {
    let input = json!({ "command": "ls", "commandActions": [{ "type": "listFiles" }], "turnId": "t", "itemId": "i",
        "parsed_cmd": [{ "cmd": "ls" }], "call_id": "c" });
    // An ACP agent may pass on what Codex says; nobody else does.
    for (runtime, name, class) in
        [("codex", "shell", ReadOnly), ("codex-acp", "execute", ReadOnly), ("claude", "Bash", Dangerous)]
    {
        let ask = Ask::tool(runtime, name, input.clone()).kind(ToolKind::Execute);
        assert_eq!(ask.class(), class, "{runtime}");
    }
}

#[test]
fn the_files_that_steer_a_runtime_are_named_and_no_paths() {
    for one in BUILT_IN {
        let ControlFiles { folders, files } = one.facts.control_files;
        for name in folders.iter().chain(files) {
            assert!(!name.is_empty() && !name.contains('/'), "{}: {name}", one.id);
        }
    }
}

#[test]
fn a_command_that_would_leave_codex_s_sandbox_is_dangerous_whatever_it_does() {
    let ask = |sandbox: Option<&str>| {
        let input = json!({ "command": "/bin/bash -lc ls", "cwd": WORKSPACE, "sandbox_permissions": sandbox });
        Ask::tool("codex", "commandExecution", input).class()
    };
    let all = [None, Some("use_default"), Some("require_escalated"), Some("with_additional_permissions")];
    assert_eq!(all.map(ask), [ReadOnly, ReadOnly, Dangerous, Dangerous]);
}
