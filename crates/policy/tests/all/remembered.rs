//! Answers that hold for more than one call.

use roost_model::mode::Mode;
use roost_model::tool::PolicyResult::{Allow, Ask as Asks, Deny};
use roost_policy::{Effect, Pattern, Remembered, Scope};
use serde_json::json;

use crate::kit::{Ask, WORKSPACE, command};

fn answer(pattern: Pattern) -> Remembered {
    Remembered { scope: Scope::Always, effect: Effect::Allow, runtime: None, tool: None, pattern: Some(pattern) }
}

/// The patterns that a call offers to remember; every scope offers the same.
fn offered(ask: &Ask) -> Option<Pattern> {
    let offers = ask.evaluation().remember;
    assert!(offers.iter().all(|offer| offer.pattern == offers[0].pattern && offer.effect == Effect::Allow));
    offers.first().and_then(|offer| offer.pattern.clone())
}

/// `git commit` stands in for `git status`, which is never asked about.
#[test]
fn a_remembered_command_lets_nothing_else_pass() {
    let memory = [answer(command(&["git", "commit", "*"])), answer(command(&["git", "commit"]))];
    let ask = |text: &str| Ask::bash(text).remember(&memory).result();
    let covered = [
        "git commit",
        "git commit -m x",
        "git commit -m 'a; rm -rf x'",
        "git  commit",
        "git commit && git commit",
        "git commit; git commit",
    ];
    for text in covered {
        assert_eq!(ask(text), Allow, "{text}");
    }
    let cases = [
        "git commit; rm -rf x",
        "git commit;rm -rf x",
        "git commit && rm x",
        "git commit || rm x",
        "git commit | sh",
        "git commit | tee x",
        "git commit & rm x",
        "git commit &",
        "git commit\nrm x",
        "git commit $(rm x)",
        "git commit -m \"$(rm x)\"",
        "git commit `rm x`",
        "git commit -m \"`rm x`\"",
        "git commit > x",
        "git commit >> x",
        "git commit < x",
        "git commit 2>x",
        "git commit >&2",
        "git commit <<E\nE\n",
        "git commit <<< x",
        "git commit <(rm x)",
        "GIT_EDITOR=rm git commit",
        "A=1 git commit",
        "env A=1 git commit",
        "(git commit)",
        "{ git commit; }",
        "! git commit",
        "if git commit; then rm x; fi",
        "git() { rm x; }; git commit",
        "git commit # x",
        "git commit\\\n; rm x",
        "git commit $x",
        "git commit ${x}",
        "git commit *",
        "git commit {a,b}",
        "git commit ~",
        "git commit 'x",
        "git commit $'x'",
        "/tmp/git commit",
        "./git commit",
        "GIT commit",
        "gіt commit",
        "git\u{a0}commit",
        "git commit\u{200b}",
        "git commit\r",
        "git commit\0",
        "bash -c 'git commit'",
        "xargs git commit",
        "eval git commit",
        "time git commit",
        "git -C x commit",
        "git -c a=b commit",
    ];
    for text in cases {
        assert_eq!(ask(text), Asks, "{text:?}");
    }
}

#[test]
fn an_answer_holds_where_it_was_given() {
    let make = |scope| Remembered { scope, ..answer(command(&["make"])) };
    let cases = [
        (Scope::Session("one".into()), Allow, "remembered:session"),
        (Scope::Session("two".into()), Asks, "permission_mode:ask"),
        (Scope::Workspace(WORKSPACE.into()), Allow, "remembered:workspace"),
        (Scope::Workspace("/home/ada".into()), Asks, "permission_mode:ask"),
        (Scope::Always, Allow, "remembered:always"),
    ];
    for (scope, result, rule) in cases {
        assert_eq!(
            Ask::bash("make").remember(&[make(scope.clone())]).verdict(),
            (result, rule.to_owned()),
            "{scope:?}"
        );
    }
}

#[test]
fn a_remembered_no_denies_even_in_yolo() {
    let no = Remembered { effect: Effect::Deny, ..answer(command(&["make"])) };
    let ask = Ask::bash("ls; make all").mode(Mode::Yolo).remember(&[no]);
    assert_eq!(ask.verdict(), (Deny, "remembered:always".to_owned()));
}

#[test]
fn what_is_offered_is_narrow() {
    let edit = Ask::edit("src/[a].rs").leads("src/[a].rs", "/home/ada/project/src/[a].rs");
    let cases = [
        (Ask::bash("make all"), Some(command(&["make", "all"]))),
        (Ask::bash("cargo test -p x"), Some(command(&["cargo", "test", "*"]))),
        (Ask::bash("cargo test"), Some(command(&["cargo", "test", "*"]))),
        (Ask::bash("cargo test --config a=b"), Some(command(&["cargo", "test", "--config", "a=b"]))),
        (Ask::bash("npm run build -- x"), Some(command(&["npm", "run", "build", "*"]))),
        (Ask::bash("npm run"), Some(command(&["npm", "run"]))),
        (Ask::bash("git commit -m 'a b'"), Some(command(&["git", "commit", "*"]))),
        (Ask::bash("touch x"), Some(command(&["touch", "x"]))),
        (
            Ask::tool("claude", "WebFetch", json!({ "url": "https://a.example.org/x?y" })),
            Some(Pattern::Host("a.example.org".into())),
        ),
        (edit, Some(Pattern::File("src/[[]a[]].rs".into()))),
        (Ask::edit("src/a.rs"), None),
        (Ask::edit("/etc/x").leads("/etc/x", "/etc/x"), None),
        (Ask::bash("make; make"), Some(command(&["make"]))),
        (Ask::bash("make &"), None),
        (Ask::bash("make > x"), None),
        (Ask::bash("make $x"), None),
        (Ask::bash("make '*'"), None),
        (Ask::bash("make 'x"), None),
        (Ask::bash("rm -rf x"), None),
        (Ask::tool("claude", "WebFetch", json!({ "url": "https://a\\@b" })), None),
        (Ask::tool("goose", "other", json!({})), None),
        (Ask::bash("ls"), None),
    ];
    for (ask, pattern) in cases {
        assert_eq!(offered(&ask), pattern, "{}", ask.input);
    }
}

#[test]
fn an_unknown_tool_is_offered_by_its_name_and_runtime() {
    let ask = Ask::tool("claude", "mcp__probe__echo", json!({ "text": "x" }));
    let offers = ask.evaluation().remember;
    let scopes: Vec<_> = offers.iter().map(|offer| offer.scope.as_str()).collect();
    assert_eq!(scopes, ["session", "workspace", "always"]);
    for offer in offers {
        let again =
            Ask::tool("claude", "mcp__probe__echo", json!({ "text": "y" })).remember(std::slice::from_ref(&offer));
        assert_eq!(again.result(), Allow);
        let other = Ask::tool("claude", "mcp__probe__drop", json!({})).remember(std::slice::from_ref(&offer));
        assert_eq!(other.result(), Asks);
        let foreign = Ask::tool("gemini", "mcp__probe__echo", json!({})).remember(&[offer]);
        assert_eq!(foreign.result(), Asks);
    }
}

#[test]
fn every_offer_allows_the_call_it_was_made_for() {
    let calls: [fn() -> Ask; 5] = [
        || Ask::bash("make all"),
        || Ask::bash("cargo test x"),
        || Ask::edit("src/[a].rs").leads("src/[a].rs", "/home/ada/project/src/[a].rs"),
        || Ask::tool("claude", "WebFetch", json!({ "url": "https://example.org" })),
        || Ask::tool("claude", "WebSearch", json!({ "query": "x" })),
    ];
    for call in calls {
        for offer in call().evaluation().remember {
            let rule = format!("remembered:{}", offer.scope.as_str());
            assert_eq!(call().remember(&[offer]).verdict(), (Allow, rule));
        }
    }
}

#[test]
fn an_open_answer_does_not_stretch_to_options_that_run_something_else() {
    let cases: [(&[&str], &str, bool); 8] = [
        (&["cargo", "test", "*"], "cargo test --lib x", true),
        (&["cargo", "test", "*"], "cargo test --config 'target.x.runner=\"sh\"'", false),
        (&["cargo", "test", "*"], "cargo test --manifest-path=/tmp/evil/Cargo.toml", false),
        (&["go", "test", "*"], "go test ./...", true),
        (&["go", "test", "*"], "go test -exec sh ./...", false),
        (&["npm", "run", "build", "*"], "npm run build --prefix /tmp/evil", false),
        (&["npm", "run", "build", "*"], "npm run build", true),
        (&["npm", "run", "build", "*"], "npm run other", false),
    ];
    for (pattern, text, allowed) in cases {
        assert_eq!(Ask::bash(text).remember(&[answer(command(pattern))]).result() == Allow, allowed, "{text}");
    }
}

#[test]
fn a_file_that_became_a_link_is_not_the_remembered_one() {
    let memory = [answer(Pattern::File("src/a.rs".into()))];
    let before = Ask::edit("src/a.rs").leads("src/a.rs", "/home/ada/project/src/a.rs").remember(&memory);
    assert_eq!(before.result(), Allow);
    let after = Ask::edit("src/a.rs").leads("src/a.rs", "/home/me/.bashrc").remember(&memory);
    assert_eq!(after.result(), Asks);
}

#[test]
fn an_answer_is_stored_and_read_back() {
    for offer in Ask::bash("make all").evaluation().remember {
        let text = serde_json::to_string(&offer).unwrap();
        assert_eq!(serde_json::from_str::<Remembered>(&text).unwrap(), offer, "{text}");
    }
}
