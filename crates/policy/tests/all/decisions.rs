//! The decision table.

use roost_model::mode::Mode;
use roost_model::tool::{PolicyResult, PolicySource};
use roost_policy::{Approver, ControlFiles, Effect, NO_APPROVER, Rule, ToolClass};
use serde_json::json;

use crate::kit::{Ask, allow, command, deny};

use Mode::{AcceptEdits, Auto, Plan, Yolo};
use PolicyResult::{Allow, Ask as Asks, Deny};

fn of_class(class: ToolClass) -> Ask {
    match class {
        ToolClass::ReadOnly => Ask::tool("claude", "Read", json!({ "file_path": "a" })),
        ToolClass::Write => Ask::bash("make"),
        ToolClass::Network => Ask::tool("claude", "WebFetch", json!({ "url": "https://example.org/x" })),
        ToolClass::Dangerous => Ask::bash("rm -rf x"),
    }
}

#[test]
fn the_mode_decides_by_the_class() {
    use ToolClass::{Dangerous, Network, ReadOnly, Write};
    let cases = [
        (Plan, ReadOnly, Allow, "permission_mode:plan:read_only"),
        (Plan, Write, Deny, "permission_mode:plan"),
        (Plan, Network, Deny, "permission_mode:plan"),
        (Plan, Dangerous, Deny, "permission_mode:plan"),
        (Mode::Ask, ReadOnly, Allow, "permission_mode:ask:read_only"),
        (Mode::Ask, Write, Asks, "permission_mode:ask"),
        (Mode::Ask, Network, Asks, "permission_mode:ask"),
        (Mode::Ask, Dangerous, Asks, "permission_mode:dangerous"),
        (AcceptEdits, ReadOnly, Allow, "permission_mode:accept_edits:read_only"),
        (AcceptEdits, Write, Asks, "permission_mode:accept_edits"),
        (AcceptEdits, Network, Asks, "permission_mode:accept_edits"),
        (AcceptEdits, Dangerous, Asks, "permission_mode:dangerous"),
        (Auto, ReadOnly, Allow, "permission_mode:auto"),
        (Auto, Write, Allow, "permission_mode:auto"),
        (Auto, Network, Allow, "permission_mode:auto"),
        (Auto, Dangerous, Asks, "permission_mode:dangerous"),
        (Yolo, ReadOnly, Allow, "permission_mode:yolo"),
        (Yolo, Write, Allow, "permission_mode:yolo"),
        (Yolo, Network, Allow, "permission_mode:yolo"),
        (Yolo, Dangerous, Allow, "permission_mode:yolo"),
    ];
    for (mode, class, result, rule) in cases {
        assert_eq!(of_class(class).mode(mode).verdict(), (result, rule.to_owned()), "{mode} {class:?}");
    }
}

#[test]
fn what_would_ask_is_denied_when_nobody_can_answer() {
    let ask = Ask { approver: Approver::Nobody, ..Ask::bash("make") };
    let words = ask.evaluation().words;
    let said: Vec<_> = words.iter().map(|word| (word.source, word.result, word.rule.as_deref().unwrap())).collect();
    let host = PolicySource::Codesdk;
    assert_eq!(said, [(host, Asks, "permission_mode:ask"), (host, Deny, NO_APPROVER)]);
}

#[test]
fn a_read_and_yolo_need_nobody() {
    for ask in [of_class(ToolClass::ReadOnly), of_class(ToolClass::Dangerous).mode(Yolo)] {
        assert_eq!(Ask { approver: Approver::Nobody, ..ask }.result(), Allow);
    }
}

#[test]
fn accept_edits_allows_edits_of_the_workspaces_files_only() {
    let cases = [
        (Ask::edit("src/a").leads("src/a", "/home/ada/project/src/a"), Allow),
        // Not resolved, not inside, or inside only by its name.
        (Ask::edit("src/a"), Asks),
        (Ask::edit("../a").leads("../a", "/home/ada/a"), Asks),
        (Ask::edit("/home/ada/project/link").leads("/home/ada/project/link", "/etc/passwd"), Asks),
        (Ask::edit("a").leads("a", "/home/ada/project-2/a"), Asks),
        // Files that decide what other programs run.
        (
            Ask::edit(".git/hooks/pre-commit")
                .leads(".git/hooks/pre-commit", "/home/ada/project/.git/hooks/pre-commit"),
            Asks,
        ),
        (Ask::edit(".GIT/config").leads(".GIT/config", "/home/ada/project/.GIT/config"), Asks),
        (Ask::edit("x").leads("x", "/home/ada/project/sub/.claude/settings.json"), Asks),
        (Ask::edit(".gitignore").leads(".gitignore", "/home/ada/project/.gitignore"), Allow),
        // An edit that names no file.
        (Ask::tool("claude", "Edit", json!({})), Asks),
    ];
    for (ask, result) in cases {
        let input = ask.input.clone();
        assert_eq!(ask.mode(AcceptEdits).result(), result, "{input}");
    }
}

#[test]
fn accept_edits_asks_about_the_files_of_every_registered_runtime_and_of_no_other() {
    static OTHERS: [ControlFiles; 1] = [ControlFiles { folders: &["Lantern.d"], files: &["lantern.toml"] }];
    let edit = |control: &'static [ControlFiles], path: &str| {
        let ask = Ask::edit(path).leads(path, &format!("/home/ada/project/{path}")).mode(AcceptEdits);
        Ask { control, ..ask }.result()
    };
    for path in ["lantern.d/hooks", "sub/LANTERN.d/a/b", "lantern.d", "Lantern.toml", "sub/lantern.toml"] {
        assert_eq!(edit(&OTHERS, path), Asks, "{path}");
        assert_eq!(edit(&[], path), Allow, "{path}");
    }
    assert_eq!(edit(&OTHERS, "lantern/hooks"), Allow);
    assert_eq!(edit(&[], ".git/config"), Asks, "of no runtime, and known all the same");
}

#[test]
fn accept_edits_needs_every_file_of_a_patch_inside() {
    let patch = json!({ "input": "*** Update File: a\n*** Add File: b\n" });
    let ask = || Ask::tool("codex", "apply_patch", patch.clone()).mode(AcceptEdits).leads("a", "/home/ada/project/a");
    assert_eq!(ask().result(), Asks);
    assert_eq!(ask().leads("b", "/home/ada/project/b").result(), Allow);
    assert_eq!(ask().leads("b", "/etc/b").result(), Asks);
}

#[test]
fn a_deny_rule_wins_over_everything() {
    let ask = Ask::bash("git status")
        .mode(Yolo)
        .rule(allow(command(&["git", "status"])))
        .rule(Rule { name: Some("no git".into()), ..deny(command(&["git"])) });
    assert_eq!(ask.verdict(), (Deny, "rule:no git".to_owned()));
}

#[test]
fn nothing_widens_a_plan() {
    let ask = Ask::bash("make").mode(Plan).rule(allow(command(&["make"])));
    assert_eq!(ask.verdict(), (Deny, "permission_mode:plan".to_owned()));
}

#[test]
fn rules_are_named_as_the_lists_they_are() {
    let tool = |effect| Rule { tool: Some("WebFetch".into()), ..Rule::new(effect) };
    let class = |effect| Rule { class: Some(ToolClass::Network), ..Rule::new(effect) };
    let cases = [
        (tool(Effect::Deny), Deny, "override:deny_tool"),
        (class(Effect::Deny), Deny, "override:deny_permission"),
        (tool(Effect::Allow), Allow, "override:allow_tool"),
        (class(Effect::Allow), Allow, "override:allow_permission"),
    ];
    for (rule, result, name) in cases {
        assert_eq!(of_class(ToolClass::Network).rule(rule).verdict(), (result, name.to_owned()));
    }
}

#[test]
fn the_first_rule_of_a_kind_gives_its_name() {
    let named = |name: &str| Rule { name: Some(name.into()), ..allow(command(&["make"])) };
    assert_eq!(Ask::bash("make").rule(named("one")).rule(named("two")).verdict().1, "rule:one");
}

#[test]
fn a_dangerous_call_runs_unasked_only_if_it_is_named_exactly() {
    let mcp = || Ask::tool("claude", "mcp__db__drop", json!({ "table": "x" })).mode(Auto);
    let rm = || Ask::bash("rm -rf x").mode(Auto);
    let by_class = || Rule { class: Some(ToolClass::Dangerous), ..Rule::new(Effect::Allow) };
    let by_tool = |tool: &str| Rule { tool: Some(tool.into()), ..Rule::new(Effect::Allow) };
    let by_hash = |ask: &Ask| allow(roost_policy::Pattern::Exact(roost_model::canonical::hash(&ask.input)));
    let cases = [
        (rm().rule(by_class()), Asks),
        (rm().rule(by_tool("*")), Asks),
        (rm().rule(by_tool("Bash")), Asks),
        (rm().rule(allow(command(&["rm", "*"]))), Asks),
        (rm().rule(allow(command(&["rm", "-rf", "*"]))), Asks),
        (rm().rule(allow(command(&["rm", "-rf", "x"]))), Allow),
        (rm().rule(by_hash(&rm())), Allow),
        (mcp().rule(by_class()), Asks),
        (mcp().rule(by_tool("mcp__*")), Asks),
        (mcp().rule(by_tool("mcp__db__drop")), Allow),
        (mcp().rule(by_hash(&mcp())), Allow),
        // A name that stands for every tool of an agent names none.
        (Ask::tool("goose", "other", json!({})).mode(Auto).rule(by_tool("other")), Asks),
    ];
    for (at, (ask, result)) in cases.into_iter().enumerate() {
        assert_eq!(ask.result(), result, "case {at}");
    }
}

#[test]
fn the_evaluation_tells_the_class() {
    let evaluation = Ask::bash("curl x | sh").evaluation();
    assert_eq!(evaluation.classified.classes.worst(), ToolClass::Dangerous);
    assert!(evaluation.classified.classes.contains(ToolClass::Network));
}
