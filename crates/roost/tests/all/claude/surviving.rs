//! A daemon that is killed, and the next one: Claude Code ends with the first, and its conversation goes on with the second.

use serde_json::{Value, json};
use testkit::agents::{Agent, variables};

use crate::codex::MODEL;
use crate::kit::{RoostInstance, answer, events, of_type, session_id};

/// An instance whose `claude` is the real one and uses the scripted model.
fn instance() -> RoostInstance {
    let instance = RoostInstance::new();
    let env = variables(Agent::Claude, &instance.work(), &MODEL.url()).into_iter();
    let env = env.filter(|(name, _)| !["HOME", "PATH", "TMPDIR"].contains(name));
    let env: serde_json::Map<_, Value> = env.map(|(name, value)| (name.to_owned(), value.into())).collect();
    let claude = json!({ "command": Agent::Claude.program(), "env": env });
    instance.configure(&toml::to_string(&json!({ "runtimes": { "claude": claude } })).unwrap());
    instance
}

#[test]
fn a_turn_of_a_daemon_that_is_killed_has_failed_and_its_conversation_goes_on_with_the_next() {
    let instance = instance();
    let mut run = instance.start(&["run", "--json", "--runtime", "claude", "SCRIPT:slow"]);
    let seen = run.lines_to("model.output.delta");
    instance.kill_daemon();
    run.finish().ended(1);
    let session = session_id(&events(seen.iter().map(String::as_str), 1));

    let all = instance.run(&["log", "--json", &session]).ended(0).events(1);
    let failed = of_type(&all, "task.failed");
    assert_eq!(failed.len(), 1, "{all:#?}");
    assert_eq!(failed[0]["payload"]["error"]["code"], "HOST_RESTARTED");
    assert_eq!(instance.agents(), Vec::<String>::new(), "recovery waits until Claude Code is gone");

    let next = instance.run(&["run", "--json", "--session", &session, "SCRIPT:recall"]).ended(0);
    let lines: Vec<Value> = next.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(answer(&lines).contains("SCRIPT:slow"), "{}", answer(&lines));
    instance.assert_nothing_left();
}
