//! Agents that are not there, cannot be started, leave, or talk nonsense.

use serde_json::Value;

use crate::kit::{RoostInstance, answer, of_type, script};

/// How a task with this agent ends, and everything that was recorded.
fn failed(instance: &RoostInstance) -> (String, Vec<Value>) {
    let events = instance.run(&["run", "--runtime", "x", "--json", "hello"]).ended(1).events(1);
    let last = events.last().unwrap();
    assert_eq!(last["type"], "task.failed");
    (last["payload"]["error"]["code"].as_str().unwrap().to_owned(), events)
}

fn with_agent(command: &str) -> RoostInstance {
    let instance = RoostInstance::new();
    instance.configure(&format!("[runtimes.x]\ncommand = '{command}'"));
    instance
}

#[test]
fn an_unknown_runtime_names_the_known_ones() {
    let done = RoostInstance::new().run(&["run", "--runtime", "nope", "hello"]).ended(2);
    assert!(done.stderr.contains("unknown agent \"nope\"; known: demo"), "{done:#?}");
}

#[test]
fn a_missing_binary_is_refused_with_what_to_do() {
    let instance = with_agent("/no/such/agent");
    let done = instance.run(&["run", "--runtime", "x", "hello"]).ended(1);
    assert!(done.stderr.contains("/no/such/agent") && done.stderr.contains("install it"), "{done:#?}");
    let runtimes = instance.run(&["runtimes"]).ended(0).stdout;
    assert!(runtimes.contains("/no/such/agent"), "{runtimes}");
}

#[test]
fn a_file_that_cannot_be_executed_fails_the_task() {
    let instance = with_agent("/etc/hostname");
    let (code, events) = failed(&instance);
    assert_eq!(code, "SPAWN_FAILED");
    assert!(events.last().unwrap().to_string().contains("/etc/hostname"));
}

#[test]
fn an_agent_that_exits_at_once_fails_the_task_with_what_it_said() {
    let instance = RoostInstance::new();
    let agent = instance.work().join("agent");
    script(&agent, "echo 'no licence' >&2; exit 3");
    instance.configure(&format!("[runtimes.x]\ncommand = '{}'", agent.display()));
    let (code, events) = failed(&instance);
    assert_eq!(code, "RUNTIME_EXITED");
    let error = &events.last().unwrap()["payload"]["error"];
    assert!(error["stderr_tail"].as_str().unwrap().contains("no licence"), "{error}");
    instance.assert_nothing_left();
}

const GARBAGE: &str = r#"printf 'garbage\n\377\376\n{"jsonrpc":"2.0"}\n[]\n{\n\n'"#;

#[test]
fn an_agent_that_prints_only_garbage_fails_the_task() {
    let instance = RoostInstance::new();
    let agent = instance.work().join("agent");
    script(&agent, GARBAGE);
    instance.configure(&format!("[runtimes.x]\ncommand = '{}'", agent.display()));
    assert_eq!(failed(&instance).0, "RUNTIME_EXITED");
}

#[test]
fn garbage_before_the_first_message_does_no_harm() {
    let instance = RoostInstance::new();
    let agent = instance.work().join("agent");
    script(&agent, &format!("{GARBAGE}; exec '{}' demo-agent", env!("CARGO_BIN_EXE_roost")));
    instance.configure(&format!("[runtimes.x]\ncommand = '{}'", agent.display()));
    let events = instance.run(&["run", "--runtime", "x", "--json", "hello"]).ended(0).events(1);
    assert_eq!(answer(&events), "Hello from the demo agent.");
}

#[test]
fn noise_of_an_agent_is_noticed_and_does_no_harm() {
    let events = RoostInstance::new().run(&["run", "--json", "noise"]).ended(0).events(1);
    let notices = of_type(&events, "runtime.notice");
    let said = |text: &str| notices.iter().any(|notice| notice["payload"]["message"].to_string().contains(text));
    assert!(said("like a banner") && said("invalid UTF-8") && said("no-such-session"), "{notices:#?}");
    assert_eq!(answer(&events), "The noise is over.");
}

#[test]
fn a_long_line_passes() {
    let events = RoostInstance::new().run(&["run", "--json", "bigline", "1048576"]).ended(0).events(1);
    // It is cut into pieces that fit an event, and nothing of it is lost.
    let pieces: usize = of_type(&events, "model.output.delta").iter().map(|event| delta(event).len()).sum();
    assert_eq!(pieces, 1 << 20);
}

#[test]
fn a_line_beyond_the_limit_is_skipped_and_noticed() {
    let events = RoostInstance::new().run(&["run", "--json", "bigline", "67108864"]).ended(0).events(1);
    assert!(of_type(&events, "model.output.delta").iter().all(|event| delta(event).len() < 1 << 20));
    let notices = of_type(&events, "runtime.notice");
    assert!(notices.iter().any(|notice| notice["payload"]["level"] != "info"), "{notices:#?}");
}

fn delta(event: &Value) -> &str {
    event["payload"]["delta"].as_str().unwrap()
}

#[test]
fn a_directory_that_is_not_there_is_refused() {
    let done = RoostInstance::new().run(&["run", "--cwd", "/no/such/place", "hello"]).ended(2);
    assert!(done.stderr.contains("/no/such/place"), "{done:#?}");
}

#[test]
fn an_agent_other_than_the_demo_needs_a_prompt() {
    let instance = with_agent("cat");
    let done = instance.run(&["run", "--runtime", "x"]).ended(2);
    assert!(done.stderr.contains("roost run --runtime x \""), "{done:#?}");
}
