//! Claude Code's own permission rules as a layer of the policy, with the real CLI.

use std::fs;
use std::path::Path;

use roost_model::canonical;
use serde_json::{Value, json};
use testkit::agents::Agent;

use crate::kit::{RoostInstance, of_type};
use crate::real;

const RUN: &str = "SCRIPT:shell RUN:touch out.txt";

fn write(path: &Path, settings: &Value) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, settings.to_string()).unwrap();
}

fn permissions(list: &str, rule: &str) -> Value {
    json!({ "permissions": { list: [rule] } })
}

/// The rule that decided about `touch out.txt` with nobody there to ask, whether it ran, and everything that was said.
fn touch(instance: &RoostInstance, mode: &str) -> (String, bool, Vec<Value>) {
    let _ = fs::remove_file(instance.work().join("out.txt"));
    let events =
        instance.run(&["run", "--json", "--runtime", "claude", "--permission-mode", mode, RUN]).ended(0).events(1);
    let evaluated = of_type(&events, "tool.call.policy_evaluated");
    let rule = evaluated.last().map(|event| event["payload"]["rule"].as_str().unwrap().to_owned());
    (rule.unwrap_or_default(), instance.work().join("out.txt").exists(), events)
}

#[test]
fn what_the_user_allows_runs_unasked_and_says_by_which_rule() {
    let instance = real::instance(Agent::Claude, "claude", &[]);
    write(&instance.home().join(".claude/settings.json"), &permissions("allow", "Bash(touch:*)"));
    let (rule, ran, events) = touch(&instance, "ask");
    assert_eq!((rule.as_str(), ran), ("claude_settings:allow Bash(touch:*)", true), "{events:#?}");
}

#[test]
fn what_any_settings_deny_never_runs() {
    let instance = real::instance(Agent::Claude, "claude", &[]);
    write(&instance.work().join(".claude/settings.json"), &permissions("deny", "Bash(touch:*)"));
    let (rule, ran, events) = touch(&instance, "yolo");
    assert!(!ran, "{events:#?}");
    assert!(["claude_project_settings:deny Bash(touch:*)", "runtime:refused"].contains(&rule.as_str()), "{rule}");
    assert_eq!(of_type(&events, "tool.call.denied").len(), 1, "{events:#?}");
}

#[test]
fn what_a_project_allows_counts_only_as_it_was_agreed_to() {
    let instance = real::instance(Agent::Claude, "claude", &[]);
    let (file, settings) = (instance.work().join(".claude/settings.json"), permissions("allow", "Bash(*)"));
    write(&file, &settings);
    let (rule, ran, events) = touch(&instance, "ask");
    assert_eq!((rule.as_str(), ran), ("no_approver", false));
    let hash = canonical::hash_bytes(settings.to_string().as_bytes());
    let says_how = |event: &&Value| event["payload"]["message"].as_str().unwrap().contains(&hash);
    assert_eq!(of_type(&events, "runtime.notice").into_iter().filter(says_how).count(), 1, "{events:#?}");

    let config = instance.home().join(".config/roost/roost.toml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("[security.trusted_files]\n{file:?} = {hash:?}\n{text}")).unwrap();
    instance.run(&["down"]).ended(0);
    let (rule, ran, events) = touch(&instance, "ask");
    assert_eq!((rule.as_str(), ran), ("claude_project_settings:allow Bash(*)", true), "{events:#?}");

    write(&file, &json!({ "permissions": { "allow": ["Bash(*)"] }, "model": "other" }));
    let (rule, ran, _) = touch(&instance, "ask");
    assert_eq!((rule.as_str(), ran), ("no_approver", false), "the file has changed");
}

#[test]
fn a_hook_that_a_project_brings_runs_only_where_the_folder_is_trusted() {
    let instance = real::instance(Agent::Claude, "claude", &[]);
    let hook = json!({ "hooks": [{ "type": "command", "command": "touch hooked" }] });
    write(&instance.work().join(".claude/settings.json"), &json!({ "hooks": { "SessionStart": [hook] } }));
    let (.., events) = touch(&instance, "ask");
    assert!(!instance.work().join("hooked").exists(), "{events:#?}");
    let says_so = |event: &&Value| event["payload"]["message"].as_str().unwrap().contains("may run something (hooks)");
    assert_eq!(of_type(&events, "runtime.notice").into_iter().filter(says_so).count(), 1, "{events:#?}");

    let work = instance.work().display().to_string();
    let state = json!({ "projects": { work: { "hasTrustDialogAccepted": true } } });
    write(&instance.home().join(".claude.json"), &state);
    touch(&instance, "ask");
    assert!(instance.work().join("hooked").exists(), "what the user trusts works as in the terminal");
}

#[test]
fn a_shell_command_in_a_slash_command_does_not_run_past_the_policy() {
    let instance = real::instance(Agent::Claude, "claude", &[]);
    let command = instance.work().join(".claude/commands/look.md");
    fs::create_dir_all(command.parent().unwrap()).unwrap();
    fs::write(command, "---\nallowed-tools: Bash(touch:*)\n---\n!`touch looked`\nSCRIPT:text").unwrap();
    let look = |extra: &[&str]| {
        let usual = ["run", "--json", "--runtime", "claude", "/look"];
        instance.run(&[&usual, extra].concat()).ended(0);
        instance.work().join("looked").exists()
    };
    assert!(!look(&[]), "nobody was asked");
    assert!(look(&["--runtime-config", r#"{"disableSkillShellExecution":false}"#]), "the user may choose otherwise");
}

#[test]
fn hooks_in_a_project_s_skills_run_only_where_the_folder_is_trusted() {
    let instance = real::instance(Agent::Claude, "claude", &[]);
    let hook = "hooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: touch hooked";
    let skill = instance.work().join(".claude/skills/look/SKILL.md");
    fs::create_dir_all(skill.parent().unwrap()).unwrap();
    fs::write(skill, format!("---\nname: look\ndescription: looks\n{hook}\n---\nSCRIPT:text")).unwrap();
    let look = |trusted: bool, user_settings: Value| {
        let state =
            json!({ "projects": { instance.work().display().to_string(): { "hasTrustDialogAccepted": trusted } } });
        write(&instance.home().join(".claude.json"), &state);
        write(&instance.home().join(".claude/settings.json"), &user_settings);
        let run = instance.run(&["run", "--json", "--runtime", "claude", "/look"]);
        let says_so = |event: &&Value| event["payload"]["message"].as_str().unwrap().contains("may name hooks");
        let notices = of_type(&run.ended(0).events(1), "runtime.notice").into_iter().filter(says_so).count();
        (instance.work().join("hooked").exists(), notices)
    };
    let own = json!({ "hooks": { "SessionStart": [{ "hooks": [{ "type": "command", "command": "touch own" }] }] } });
    assert_eq!(look(false, json!({})), (false, 1), "nobody agreed to them");
    assert_eq!(look(false, own), (false, 1), "nobody agreed to them, and the user has own ones");
    assert!(instance.work().join("own").exists(), "the user's own hooks run");
    assert_eq!(look(true, json!({})), (true, 0), "what the user trusts works as in the terminal");
}
