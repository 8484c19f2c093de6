//! How long the policy takes to decide, with 1,000 rules and 1,000 remembered answers.

use std::path::Path;
use std::time::{Duration, Instant};

use roost_adapters::BUILT_IN;
use roost_model::mode::Mode;
use roost_policy::{
    Approver, Call, Context, Effect, Memory, NamedPath, Pattern, Remembered, ResolvedPath, Rule, RuleSet,
    RuntimePermissions, Scope, ToolClass, Unresolved, classify, evaluate,
};
use serde_json::{Value, json};

use crate::Outcome;

const ROUNDS: usize = 20_000;

/// The slowest kind of call, and the microseconds below which 99 of 100 decisions about it are made.
pub(crate) fn slowest() -> Outcome<(&'static str, f64)> {
    let rules: Vec<Rule> = (0..1_000).map(rule).collect();
    let answers: Vec<Remembered> = (0..1_000).map(answer).collect();
    let (rules, memory, permissions) = (RuleSet::new(&rules)?, Memory::new(&answers)?, RuntimePermissions::default());
    let workspace = Path::new("/home/ada/project");
    let session = "one".into();
    let tools = &roost_adapters::built_in("claude").ok_or("there is no runtime claude")?.facts.tools;
    let control = BUILT_IN.map(|one| one.facts.control_files);
    let mut slowest = ("", 0.0);
    for (title, name, input) in calls() {
        let call = Call { runtime: "claude", tools, name, kind: None, input: &input, input_hash: "sha256:0" };
        let resolve = |path: NamedPath| ResolvedPath {
            real: Some(workspace.join(&path.text)),
            given: path.text,
            inside_workspace: true,
            in_own_repository: true,
        };
        let resolved: Vec<_> = classify(&call).paths().into_iter().map(resolve).collect();
        let context = Context {
            mode: Mode::Ask,
            approver: Approver::Present,
            session: &session,
            workspace,
            resolved: &resolved,
            unresolved: Unresolved::Nothing,
            control: &control,
            rules: &rules,
            memory: &memory,
            permissions: &permissions,
        };
        let mut times: Vec<Duration> = (0..ROUNDS)
            .map(|_| {
                let start = Instant::now();
                std::hint::black_box(evaluate(&call, &context));
                start.elapsed()
            })
            .collect();
        times.sort_unstable();
        let micros = times[ROUNDS * 99 / 100].as_secs_f64() * 1e6;
        if micros > slowest.1 {
            slowest = (title, micros);
        }
    }
    Ok(slowest)
}

fn calls() -> [(&'static str, &'static str, Value); 9] {
    let compound = "cd src && cargo test -p a | tail -5; git add . && git commit -m \"$(cat x)\" > log 2>&1";
    [
        ("read", "Read", json!({ "file_path": "src/a.rs" })),
        ("edit, no rule", "Edit", json!({ "file_path": "src/a.rs" })),
        ("edit, last rule", "Edit", json!({ "file_path": "folder999/a.rs" })),
        ("command, no rule", "Bash", json!({ "command": "make all" })),
        ("command, allowed", "Bash", json!({ "command": "tool996 run x" })),
        ("command, program of 400 rules", "Bash", json!({ "command": "git frobnicate x" })),
        ("compound command", "Bash", json!({ "command": compound })),
        ("host", "WebFetch", json!({ "url": "https://www.host998.example.org/x" })),
        ("unknown tool", "mcp__server__tool", json!({})),
    ]
}

/// The rule with this number; together they are of every kind, and none shadows another.
fn rule(at: usize) -> Rule {
    let effect = if at.is_multiple_of(2) { Effect::Allow } else { Effect::Deny };
    let tool = |name: String| Rule { tool: Some(name), ..Rule::new(effect) };
    let about = |pattern| Rule { pattern: Some(pattern), ..Rule::new(effect) };
    match at % 8 {
        0 => tool(format!("mcp__server{at}__tool")),
        1 => tool(format!("mcp__server{at}__*")),
        2 => Rule {
            workspace: Some(format!("/home/ada/{at}").into()),
            class: Some(ToolClass::Write),
            ..Rule::new(effect)
        },
        3 | 4 => about(Pattern::Command(vec![format!("tool{at}"), "run".into(), "*".into()])),
        5 => about(Pattern::Command(vec!["git".into(), format!("alias{at}")])),
        6 => about(Pattern::Host(format!("*.host{at}.example.org"))),
        _ => about(Pattern::File(format!("folder{at}/**/*.rs"))),
    }
}

fn answer(at: usize) -> Remembered {
    let pattern = match at % 3 {
        0 => Pattern::Command(vec!["git".into(), format!("answer{at}")]),
        1 => Pattern::Host(format!("answer{at}.example.org")),
        _ => Pattern::File(format!("answers/{at}.rs")),
    };
    let scope = if at.is_multiple_of(2) { Scope::Always } else { Scope::Session("one".into()) };
    let effect = if at.is_multiple_of(5) { Effect::Deny } else { Effect::Allow };
    Remembered { scope, effect, runtime: None, tool: None, pattern: Some(pattern) }
}
