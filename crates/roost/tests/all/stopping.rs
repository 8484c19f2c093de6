//! Ctrl-C, and that nothing is left afterwards.

use rustix::process::Signal;

use crate::kit::{RoostInstance, of_type};

#[test]
fn ctrl_c_stops_the_task() {
    let instance = RoostInstance::new();
    let mut run = instance.start(&["run", "--json", "slow", "30"]);
    let mut lines = run.lines_to("model.output.delta");
    run.signal(Signal::INT);
    let done = run.finish().ended(130);
    lines.extend(done.stdout.lines().map(Into::into));
    let events = crate::kit::events(lines.iter().map(String::as_str), 1);
    assert_eq!(events.last().unwrap()["type"], "task.stopped");
    instance.assert_nothing_left();
}

#[test]
fn a_request_to_terminate_stops_the_task_too() {
    let instance = RoostInstance::new();
    let mut run = instance.start(&["run", "--json", "slow", "30"]);
    run.lines_to("model.output.delta");
    run.signal(Signal::TERM);
    let done = run.finish().ended(130);
    assert!(done.stdout.contains("task.stopped"), "{done:#?}");
    instance.assert_nothing_left();
}

#[test]
fn a_second_ctrl_c_leaves_a_stubborn_agent_to_the_daemon() {
    let instance = RoostInstance::new();
    let mut run = instance.start(&["run", "--json", "stubborn"]);
    run.lines_to("only SIGKILL");
    run.signal(Signal::INT);
    run.lines_to("task.stopped");
    assert!(!instance.agents().is_empty(), "the agent does not leave by itself");
    run.signal(Signal::INT);
    run.finish().ended(130);
    instance.assert_nothing_left();
}

#[test]
fn one_ctrl_c_ends_even_a_stubborn_agent() {
    let instance = RoostInstance::new();
    let mut run = instance.start(&["run", "--json", "stubborn"]);
    run.lines_to("only SIGKILL");
    run.signal(Signal::INT);
    run.finish().ended(130);
    assert_eq!(instance.agents(), Vec::<String>::new(), "gone by the time that the command is");
}

#[test]
fn an_orphan_of_the_agent_is_ended_with_it() {
    let instance = RoostInstance::new();
    let events = instance.run(&["run", "--json", "orphan"]).ended(0).events(1);
    assert_eq!(of_type(&events, "task.completed").len(), 1);
    assert_eq!(instance.agents(), Vec::<String>::new());
}
