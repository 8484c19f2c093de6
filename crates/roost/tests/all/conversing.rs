//! `roost run` without a prompt: a conversation at a terminal, what is piped in elsewhere.

use std::io::Write;
use std::process::Stdio;

use crate::kit::{RoostInstance, RunningCommand, answer};
use crate::terminal::{CTRL_C, CTRL_D};

#[test]
fn a_conversation_begins_with_the_tour_and_goes_on_until_it_is_left() {
    let instance = RoostInstance::new();
    let mut run = instance.terminal(&["run"]);
    run.shows("Welcome to Roost!").shows("[n]o: ").types("y\n").shows("Thank you!").shows("\n> ");
    run.types("\n").shows("> ").types("hello\n").shows("Hello from the demo agent.").shows("\n> ");
    run.types("resume\n").shows("Prompts in this session: 3").shows("\n> ").types("/quit\n");
    run.ended(0);
    instance.assert_nothing_left();
}

#[test]
fn a_session_that_is_gone_on_with_has_no_second_tour() {
    let instance = RoostInstance::new();
    instance.run(&["run", "hello"]).ended(0);
    let mut run = instance.terminal(&["run", "--continue"]);
    run.shows("> ").types("hello\n").shows("Hello from the demo agent.").shows("\n> ").types(CTRL_D);
    let shown = run.ended(0);
    assert!(!shown.contains("Welcome"), "{shown}");
}

#[test]
fn ctrl_c_stops_a_task_of_a_conversation_and_leaves_it_at_the_prompt() {
    let instance = RoostInstance::new();
    instance.run(&["run", "hello"]).ended(0);
    let mut run = instance.terminal(&["run", "--continue"]);
    for _ in 0..2 {
        run.shows("> ").types("slow 60\n").shows("2 ").types(CTRL_C).shows("stopped (interrupted)");
    }
    run.shows("> ").types(CTRL_C);
    run.ended(0);
    instance.assert_nothing_left();
}

#[test]
fn a_task_that_fails_does_not_end_the_conversation() {
    let instance = RoostInstance::new();
    instance.run(&["run", "hello"]).ended(0);
    let mut run = instance.terminal(&["run", "--continue"]);
    run.shows("> ").types("crash\n").shows("failed (RUNTIME_EXITED)");
    run.shows("> ").types("hello\n").shows("Hello from the demo agent.").shows("\n> ").types(CTRL_D);
    run.ended(0);
}

#[test]
fn what_is_typed_while_a_task_runs_is_the_next_prompt() {
    let instance = RoostInstance::new();
    instance.run(&["run", "hello"]).ended(0);
    let mut run = instance.terminal(&["run", "--continue"]);
    run.shows("> ").types("slow 0.5\n").shows("1 ").types("hello\n");
    run.shows("completed").shows("Hello from the demo agent.").shows("\n> ").types(CTRL_D);
    run.ended(0);
}

#[test]
fn what_is_piped_in_is_the_prompt() {
    let instance = RoostInstance::new();
    let mut command = instance.command(&["run", "--json"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"hello\nthere\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let events = crate::kit::events(std::str::from_utf8(&output.stdout).unwrap().lines(), 1);
    assert_eq!(answer(&events), "Hello from the demo agent.");
}

#[test]
fn a_pipe_that_nobody_closes_can_be_interrupted() {
    let instance = RoostInstance::new();
    let mut command = instance.command(&["run", "-vv"]);
    let run = RunningCommand::new(command.stdin(Stdio::piped()));
    crate::kit::wait_for("the command to read", || {
        let threads = std::fs::read_dir(format!("/proc/{}/task", run.pid())).ok()?;
        let name = |thread: std::fs::DirEntry| std::fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
        threads.flatten().any(|thread| name(thread) == "stdin\n").then_some(())
    });
    run.signal(rustix::process::Signal::INT);
    run.finish().ended(130);
}
