//! What a second attack on the finished wall still got through, each with what must come of it now.

use roost_model::mode::Mode;
use roost_model::payload::ToolKind;
use roost_model::tool::PolicyResult::{Allow, Ask as Asks, Deny};
use roost_policy::{Effect, Pattern, Remembered, Scope, ToolClass};
use serde_json::json;

use crate::kit::{Ask, allow, command, deny};

fn always(words: &[&str]) -> Remembered {
    Remembered { scope: Scope::Always, effect: Effect::Allow, runtime: None, tool: None, pattern: Some(command(words)) }
}

#[test]
fn an_answer_covers_no_configuration_program_or_folder_behind_two_dashes() {
    let cases = [
        (["npm", "test", "*"], "npm test -- -c /tmp/evil.js"),
        (["npm", "test", "*"], "npm test -- -r /tmp/evil.js"),
        (["npm", "test", "*"], "npm test -- --globalSetup=/tmp/evil.js"),
        (["npm", "test", "*"], "npm test -- --setupFiles=/tmp/evil.js"),
        (["npm", "test", "*"], "npm test -- --rootDir=/tmp/evil"),
        (["npm", "test", "*"], "npm test -- /tmp/evil.test.js"),
        (["npm", "test", "*"], "npm test -- ../evil.test.js"),
        (["npm", "test", "*"], "npm test -w /tmp/evil"),
        (["npm", "test", "*"], "npm test --workspace=../evil"),
        (["cargo", "clippy", "*"], "cargo clippy -- @/tmp/args"),
        (["cargo", "clippy", "*"], "cargo clippy -- --sysroot /tmp/evil"),
        (["cargo", "test", "*"], "cargo test -- --logfile /tmp/x"),
    ];
    for (pattern, line) in cases {
        assert_eq!(Ask::bash(line).remember(&[always(&pattern)]).result(), Asks, "{line}");
    }
}

#[test]
fn an_answer_still_covers_what_people_add_every_day() {
    let cases = [
        (["npm", "test", "*"], "npm test -- src/app.test.ts"),
        (["npm", "test", "*"], "npm test -- --watch=false --coverage"),
        (["npm", "test", "*"], "npm test -w packages/core"),
        (["cargo", "clippy", "*"], "cargo clippy --all-targets -- -D warnings"),
        (["cargo", "test", "*"], "cargo test -p core parsing -- --nocapture --test-threads=1"),
        (["cargo", "fmt", "*"], "cargo fmt --all -- --check"),
        (["git", "commit", "*"], "git commit -m 'fix ../x and /etc'"),
        (["git", "add", "*"], "git add -- src/a.rs"),
        (["go", "test", "*"], "go test ./... -run TestParse"),
    ];
    for (pattern, line) in cases {
        assert_eq!(Ask::bash(line).remember(&[always(&pattern)]).result(), Allow, "{line}");
    }
}

#[test]
fn a_rule_for_many_arguments_covers_no_other_build_file_or_plugin() {
    let lines = [
        "make -f /tmp/evil.mk",
        "make SHELL=/evil",
        "pytest -c /tmp/evil.ini",
        "pytest -p evil",
        "eslint -c /tmp/evil.js src",
        "mocha -r /tmp/evil.js",
        "mvn -f /tmp/pom.xml",
        "gradle -I /tmp/evil.gradle",
        "gcc -B/tmp/evil a.c",
        "npm test --git=/evil",
        "jest --globalSetup=/tmp/evil.js",
    ];
    for line in lines {
        let program = line.split(' ').next().unwrap();
        let rule = allow(command(&[program, "*"]));
        assert_eq!(Ask::bash(line).rule(rule).result(), Asks, "{line}");
    }
}

#[test]
fn accept_edits_asks_about_every_hidden_file_but_a_few() {
    let edit =
        |path: &str| Ask::edit(path).leads(path, &format!("/home/ada/project/{path}")).mode(Mode::AcceptEdits).result();
    for path in [
        ".qwen/settings.json",
        ".goose/config.yaml",
        ".copilot/mcp-config.json",
        ".kiro/hooks/x",
        ".config/mise/config.toml",
        ".hg/hgrc",
        "gradle/wrapper/gradle-wrapper.jar",
        ".cirrus.yml",
        "cloudbuild.yaml",
        "lefthook.toml",
        ".devcontainer.json",
        "mise.local.toml",
        ".env.local",
        "a.code-workspace",
        ".anything-new/x",
        ".nvmrc",
        "buildspec.yml",
    ] {
        assert_eq!(edit(path), Asks, "{path}");
    }
    for path in [".gitignore", "sub/.editorconfig", ".dockerignore", "src/main.rs", "docs/a.md"] {
        assert_eq!(edit(path), Allow, "{path}");
    }
}

#[test]
fn a_claim_is_believed_only_if_every_text_of_the_input_fits_it() {
    let class =
        |kind, input| Ask::tool("goose", "x", input).kind(kind).leads("a.txt", "/home/ada/project/a.txt").class();
    for (kind, input) in [
        (ToolKind::Think, json!({ "commands": ["rm -rf x"] })),
        (ToolKind::Think, json!({ "operation": "wipe everything" })),
        (ToolKind::Read, json!({ "path": "a.txt", "bash": "rm -rf x" })),
        (ToolKind::Search, json!({ "path": "a.txt", "options": { "then": "rm -rf x" } })),
        (ToolKind::Edit, json!({ "path": "a.txt", "hook": "rm -rf x" })),
    ] {
        assert_eq!(class(kind, input.clone()), ToolClass::Dangerous, "{kind:?} {input}");
    }
    for (kind, input, expected) in [
        (ToolKind::Think, json!({ "thought": "rm -rf would be wrong" }), ToolClass::ReadOnly),
        (ToolKind::Read, json!({ "path": "a.txt", "offset": 3, "limit": 10 }), ToolClass::ReadOnly),
        (ToolKind::Search, json!({ "path": "a.txt", "pattern": "fn", "include": ["*.rs"] }), ToolClass::ReadOnly),
        (ToolKind::Edit, json!({ "path": "a.txt", "oldText": "a", "newText": "b" }), ToolClass::Write),
    ] {
        assert_eq!(class(kind, input.clone()), expected, "{kind:?} {input}");
    }
}

#[test]
fn a_denied_folder_is_denied_as_a_whole_and_through_braces_and_variables() {
    let secrets = || deny(Pattern::File("secrets/**".into()));
    let ask = |line: &str, given: &str, real: &str| {
        let ask = Ask::bash(line).mode(Mode::Yolo).rule(secrets());
        assert!(ask.paths().iter().any(|path| path == given), "{line}: {:?}", ask.paths());
        ask.leads(given, &format!("/home/ada/project/{real}")).result()
    };
    assert_eq!(ask("rg x secrets", "secrets", "secrets"), Deny);
    assert_eq!(ask("grep -r x secrets", "secrets", "secrets"), Deny);
    assert_eq!(ask("cat {secrets,x}/key", "*/key", "secrets/key"), Deny);
    assert_eq!(ask("cat $d/key", "*/key", "secrets/key"), Deny);
    assert_eq!(ask("cat src/key", "src/key", "src/key"), Allow);
    let named = json!({ "src": "secrets/key" });
    let read = Ask::tool("goose", "x", named).kind(ToolKind::Read).mode(Mode::Yolo).rule(secrets());
    assert_eq!(read.leads("secrets/key", "/home/ada/project/secrets/key").result(), Deny);
}
