//! A message for an agent that works.

use std::fs;

use testkit::agents::Agent;

use crate::kit::{RoostInstance, of_type};
use crate::sandbox::Sandbox;

/// A command that runs until the test makes a file.
const UNTIL_GO: &str = "SCRIPT:shell RUN:while [ ! -e go ]; do sleep 0.1; done; echo gone";

fn a_message_reaches_the_task_that_runs(agent: Agent) {
    let sandbox = Sandbox::new(agent);
    sandbox.configure("");
    let args = ["run", "--json", "--runtime", agent.command(), "--permission-mode", "yolo", UNTIL_GO];
    let mut run = sandbox.start(&args);
    let mut lines = run.lines_to("tool.call.started");
    let steered = sandbox.start(&["steer", "latest", "NOTE:blue"]).finish().ended(0);
    assert!(steered.stdout.starts_with("The agent was told"), "{steered:#?}");
    fs::write(sandbox.instance.work().join("go"), "").unwrap();
    let done = run.finish().ended(0);
    lines.extend(done.stdout.lines().map(ToOwned::to_owned));
    let events = crate::kit::events(lines.iter().map(String::as_str), 1);
    let told = of_type(&events, "task.steered");
    assert_eq!(told[0]["payload"]["message"]["content"][0]["text"], "NOTE:blue");
    assert_eq!(of_type(&events, "task.started").len(), 1, "it is the same task");
    let said = of_type(&events, "model.output.completed");
    assert!(said.iter().any(|said| said.to_string().contains("blue")), "{said:#?}");
    sandbox.instance.assert_nothing_left();
}

#[test]
fn a_message_reaches_the_task_of_claude() {
    a_message_reaches_the_task_that_runs(Agent::Claude);
}

#[test]
fn a_message_reaches_the_task_of_codex() {
    a_message_reaches_the_task_that_runs(Agent::Codex);
}

#[test]
fn a_message_waits_where_an_agent_takes_none_while_it_works() {
    let instance = RoostInstance::new();
    let mut run = instance.start(&["run", "--json", "slow", "60"]);
    run.lines_to("model.output.delta");
    let queued = instance.run(&["steer", "latest", "hello"]).ended(0);
    assert!(queued.stdout.contains("waits until the task has ended"), "{queued:#?}");
    instance.run(&["down"]).ended(0);
    run.finish().ended(1);
    instance.assert_nothing_left();
}
