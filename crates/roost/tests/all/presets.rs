//! The ACP agents that are known by their ids, as a person uses them: the real ones, found in `PATH`.

use std::fs;

use serde_json::Value;
use testkit::agents::Agent;

use crate::kit::{RoostInstance, answer, of_type, script, session_id, wait_for};
use crate::sandbox::Sandbox;

const PRESETS: [&str; 6] = ["claude-agent-acp", "codex-acp", "qwen", "copilot", "goose", "cline"];

#[test]
fn known_agents_are_listed_with_what_to_install_and_none_is_the_default() {
    let instance = RoostInstance::new();
    let listed = instance.command(&["runtimes", "--json"]).env("PATH", "/nonexistent").output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let lines: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for id in PRESETS {
        let line = lines.iter().find(|line| line["id"] == id).unwrap_or_else(|| panic!("{id} is not listed"));
        assert_eq!((&line["installed"], &line["isDefault"]), (&false.into(), &false.into()), "{line}");
        assert!(line["reason"].as_str().unwrap().contains("install"), "{line}");
    }
}

#[test]
fn an_installed_agent_is_listed_as_such() {
    let sandbox = Sandbox::new(Agent::CodexAcp);
    let listed = sandbox.start(&["runtimes", "--json"]).finish().ended(0).stdout;
    let lines: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let installed = |id: &str| lines.iter().find(|line| line["id"] == id).unwrap()["installed"] == true;
    assert!(installed("codex-acp") && installed("claude-agent-acp"), "{listed}");
    assert!(!installed("goose"), "{listed}");
}

#[test]
fn an_agent_is_found_where_it_will_be_started_and_says_its_version() {
    let instance = RoostInstance::new();
    let own = instance.work().join("own");
    fs::create_dir(&own).unwrap();
    script(&own.join("goose"), "[ \"$*\" = --version ] && echo 'goose 9.8.7' || sleep 60");
    instance.configure(&format!("[runtimes.goose.env]\nPATH = {:?}", format!("{}:/usr/bin:/bin", own.display())));
    let listed = instance.run(&["runtimes", "--json"]).ended(0).stdout;
    let mut lines = listed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let goose = lines.find(|line| line["id"] == "goose").unwrap();
    assert_eq!((&goose["installed"], &goose["version"]), (&true.into(), &"9.8.7".into()), "{goose}");
}

#[test]
fn every_known_agent_says_how_to_log_in() {
    let instance = RoostInstance::new();
    let programs: String = PRESETS
        .iter()
        .map(|id| {
            let program = instance.work().join(id);
            script(&program, "echo 1.0.0");
            format!("[runtimes.{id}]\ncommand = {program:?}\n")
        })
        .collect();
    instance.configure(&programs);
    for (id, how) in [
        ("claude-agent-acp", "claude auth login"),
        ("codex-acp", "codex login"),
        ("qwen", "qwen"),
        ("copilot", "type /login"),
        ("goose", "goose configure"),
        ("cline", "cline auth"),
    ] {
        let done = instance.run(&["login", id]).ended(0);
        assert!(done.stdout.contains(how) && !done.stdout.contains("needs no login"), "{done:#?}");
    }
}

#[test]
fn claude_agent_acp_uses_the_model_that_is_named() {
    let sandbox = Sandbox::new(Agent::ClaudeAcp);
    sandbox.configure("");
    let args = ["run", "--json", "--runtime", "claude-agent-acp", "--model", "haiku", "SCRIPT:text"];
    let events = sandbox.start(&args).finish().ended(0).events(1);
    let asked = || -> Vec<String> {
        let asked = sandbox.model.requests().into_iter().filter(|request| request.script.as_deref() == Some("text"));
        asked.map(|request| request.model).collect()
    };
    assert!(asked().iter().all(|model| model.contains("haiku")) && !asked().is_empty(), "{:?}", asked());
    let id = session_id(&events);
    let again = ["run", "--json", "--session", &id, "--model", "sonnet", "SCRIPT:text"];
    sandbox.start(&again).finish().ended(0);
    assert!(asked().last().unwrap().contains("sonnet"), "{:?}", asked());
    let wrong = ["run", "--json", "--runtime", "claude-agent-acp", "--model", "no-such-model", "SCRIPT:text"];
    let failed = sandbox.start(&wrong).finish().ended(1).stdout;
    assert!(failed.contains("it offers") && failed.contains("haiku"), "{failed}");
}

#[test]
fn codex_acp_answers_with_nothing_but_path() {
    let sandbox = Sandbox::new(Agent::CodexAcp);
    // The key of its model would have to come from the environment, which Roost does not pass on.
    let config = sandbox.home().join(".codex/config.toml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(config, text.replace("env_key = \"SCRIPTED_KEY\"\n", "")).unwrap();
    let events = sandbox.run("ask", "SCRIPT:text", 0);
    assert_eq!(events[0]["payload"]["runtime"], "acp:codex-acp");
    assert!(answer(&events).contains("Hello from the scripted model"), "{events:#?}");
}

#[test]
fn claude_agent_acp_answers() {
    let sandbox = Sandbox::new(Agent::ClaudeAcp);
    sandbox.configure("");
    let events = sandbox.run("ask", "SCRIPT:text", 0);
    assert_eq!(events[0]["payload"]["runtime"], "acp:claude-agent-acp");
    assert!(answer(&events).contains("Hello from the scripted model"), "{events:#?}");
}

#[test]
fn arguments_of_ones_own_come_after_those_of_the_preset() {
    let sandbox = Sandbox::new(Agent::CodexAcp);
    sandbox.configure("args = ['-c', 'sandbox_mode=danger-full-access']");
    // Nobody is there: what asks is denied, so the preset's own arguments count too.
    let events = sandbox.run("ask", "SCRIPT:shell", 130);
    assert_eq!(of_type(&events, "tool.call.denied").len(), 1, "{events:#?}");
    let end = events.iter().find(|event| event["type"] == "task.stopped").unwrap();
    assert!(end["payload"]["reason"].as_str().unwrap().contains("refused"), "{end}");
}

#[test]
fn a_stop_ends_the_tool_that_codex_acp_leaves_running_and_the_session_goes_on() {
    let sandbox = Sandbox::new(Agent::CodexAcp);
    sandbox.configure("args = ['-c', 'sandbox_mode=danger-full-access']");
    let run = sandbox.start(&["run", "--json", "--runtime", "codex-acp", "--permission-mode", "yolo", "SCRIPT:sleep"]);
    wait_for("the tool to run", || (sandbox.sleepers() > 0).then_some(()));
    run.signal(rustix::process::Signal::INT);
    let events = run.finish().ended(130).events(1);
    wait_for("the tool to be gone", || (sandbox.sleepers() == 0).then_some(()));
    let id = session_id(&events);
    let next = sandbox.go_on(&id, "SCRIPT:recall", 0);
    assert!(answer(&next).contains("SCRIPT:sleep"), "{next:#?}");
}

/// A provider refuses, is busy, is broken, breaks off: all but the first may pass.
fn fails_as_its_provider_does(agent: Agent) {
    let sandbox = Sandbox::new(agent);
    sandbox.configure("");
    let failed = |script: &str| {
        let events = sandbox.run("ask", &format!("SCRIPT:{script}"), 1);
        events.into_iter().find(|event| event["type"] == "task.failed").unwrap()["payload"]["error"].clone()
    };
    for (script, retryable) in [("err400", false), ("err429", true), ("err500", true), ("cut", true)] {
        let error = failed(script);
        assert_eq!((&error["code"], &error["retryable"]), (&"RUNTIME_ERROR".into(), &retryable.into()), "{error}");
    }
}

#[test]
fn a_provider_that_fails_fails_the_task_of_claude_agent_acp() {
    fails_as_its_provider_does(Agent::ClaudeAcp);
}

#[test]
fn a_provider_that_fails_fails_the_task_of_codex_acp() {
    fails_as_its_provider_does(Agent::CodexAcp);
}
