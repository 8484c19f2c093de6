//! A daemon that is killed, and the next one: OpenCode ends with the first, and its conversation goes on with the second.

use serde_json::{Value, json};
use testkit::agents::{Agent, variables};

use super::config;
use crate::codex::MODEL;
use crate::kit::{RoostInstance, answer, of_type, session_id};

/// An instance whose `opencode` is the real one and uses the scripted model.
fn instance() -> RoostInstance {
    let instance = RoostInstance::new();
    let set_by_roost = ["HOME", "PATH", "TMPDIR", "OPENCODE_CONFIG_CONTENT"];
    let env = variables(Agent::OpenCode, &instance.work(), &MODEL.url()).into_iter();
    let env = env.filter(|(name, _)| !set_by_roost.contains(name)).map(|(name, value)| (name.to_owned(), value.into()));
    let opencode = json!({
        "command": Agent::OpenCode.program(),
        "env": env.collect::<serde_json::Map<_, Value>>(),
        "config": config(&MODEL.url()),
    });
    instance.configure(&toml::to_string(&json!({ "runtimes": { "opencode": opencode } })).unwrap());
    instance
}

#[test]
fn a_turn_of_a_daemon_that_is_killed_has_failed_and_its_conversation_goes_on_with_the_next() {
    let instance = instance();
    let mut run = instance.start(&["run", "--json", "--runtime", "opencode", "SCRIPT:slow"]);
    let seen = run.lines_to("model.output.delta");
    instance.kill_daemon();
    run.finish().ended(1);
    let session = session_id(&crate::kit::events(seen.iter().map(String::as_str), 1));

    let all = instance.run(&["log", "--json", &session]).ended(0).events(1);
    let failed = of_type(&all, "task.failed");
    assert_eq!(failed.len(), 1, "{all:#?}");
    assert_eq!(failed[0]["payload"]["error"]["code"], "HOST_RESTARTED");
    assert_eq!(instance.agents(), Vec::<String>::new(), "recovery waits until OpenCode is gone");

    let next = instance.run(&["run", "--json", "--session", &session, "SCRIPT:recall"]).ended(0);
    let lines: Vec<Value> = next.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(answer(&lines).contains("SCRIPT:slow"), "{}", answer(&lines));
    instance.assert_nothing_left();
}
