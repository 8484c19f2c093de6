//! A real agent that hangs in the middle of a turn: a stop ends the task all the same, and the session goes on.

use rustix::process::{Pid, Signal, kill_process};
use testkit::agents::Agent;

use crate::kit::{answer, events, of_type, session_id};
use crate::sandbox::Sandbox;

fn a_stop_ends_what_hangs(agent: Agent) {
    let sandbox = Sandbox::new(agent);
    sandbox.configure("");
    let id = agent.command();
    let mut run = sandbox.start(&["run", "--json", "--runtime", id, "SCRIPT:slow"]);
    let seen = run.lines_to("model.output.delta");
    let session = session_id(&events(seen.iter().map(String::as_str), 1));
    hang(&sandbox);
    run.signal(Signal::INT);
    run.finish().ended(130);

    let all = sandbox.start(&["log", "--json", &session]).finish().ended(0).events(1);
    let (stopped, failed) = (of_type(&all, "task.stopped"), of_type(&all, "task.failed"));
    assert_eq!((stopped.len(), failed.len()), (1, 0), "{all:#?}");
    let next = sandbox.go_on(&session, "SCRIPT:recall", 0);
    assert!(answer(&next).contains("SCRIPT:slow"), "{}", answer(&next));
    sandbox.instance.assert_nothing_left();
}

/// Stops the one agent that runs, so that it neither hears nor says anything.
fn hang(sandbox: &Sandbox) {
    let records = roost_process::records::load(sandbox.instance.state().join("run"));
    let records = tokio::runtime::Runtime::new().unwrap().block_on(records).unwrap();
    let [record] = records.as_slice() else { panic!("{records:?}") };
    kill_process(Pid::from_raw(i32::try_from(record.runtime.pid).unwrap()).unwrap(), Signal::STOP).unwrap();
}

#[test]
fn a_claude_that_hangs_is_ended_by_a_stop_and_its_session_goes_on() {
    a_stop_ends_what_hangs(Agent::Claude);
}

#[test]
fn a_codex_that_hangs_is_ended_by_a_stop_and_its_session_goes_on() {
    a_stop_ends_what_hangs(Agent::Codex);
}

#[test]
fn an_opencode_that_hangs_is_ended_by_a_stop_and_its_session_goes_on() {
    a_stop_ends_what_hangs(Agent::OpenCode);
}
