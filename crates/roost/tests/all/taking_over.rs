//! `roost attach` and `run --continue`: a session that works or waits is taken over, and left again.

use crate::kit::{RoostInstance, RunningCommand};
use crate::terminal::{CTRL_C, CTRL_D};

const CHOICE: &str = "[n]o: ";

/// A command that waits until somebody answers its approval elsewhere.
fn waiting(instance: &RoostInstance) -> RunningCommand {
    let mut run = instance.start_with_stderr(&["run", "--approvals", "wait", "edit"]);
    run.lines_to("waits for an answer");
    run
}

#[test]
fn what_waits_is_asked_at_once_and_the_conversation_goes_on() {
    let instance = RoostInstance::new();
    let elsewhere = waiting(&instance);
    let mut attached = instance.terminal(&["attach"]);
    attached.shows("demo · ").shows("> edit\n").shows("It waits for an answer").shows(CHOICE).types("y\n");
    attached.shows("I wrote `demo.txt`").shows("completed").shows("\n> ");
    elsewhere.finish().ended(0);
    attached.types("hello\n").shows("Hello from the demo agent.").shows("\n> ").types(CTRL_D);
    attached.ended(0);
}

#[test]
fn leaving_stops_nothing_and_says_so() {
    let instance = RoostInstance::new();
    let elsewhere = waiting(&instance);
    let mut attached = instance.terminal(&["attach"]);
    attached.shows(CHOICE).types(CTRL_C).shows("left; the agent goes on");
    attached.ended(0);
    let mut again = instance.terminal(&["attach", "latest"]);
    again.shows(CHOICE).types("n not now\n").shows("You did not allow it (not now)").shows("\n> ").types("/quit\n");
    again.ended(0);
    elsewhere.finish().ended(0);
}

#[test]
fn a_session_that_works_is_shown_live() {
    let instance = RoostInstance::new();
    let mut elsewhere = instance.start(&["run", "--json", "slow", "60"]);
    elsewhere.lines_to("model.output.delta");
    let mut attached = instance.terminal(&["attach"]);
    attached.shows("> slow 60\n").shows("It is working; Ctrl-C leaves").shows("0 ").types(CTRL_C);
    attached.shows("left; the agent goes on");
    attached.ended(0);
    instance.run(&["stop", "--task"]).ended(0);
    elsewhere.finish().ended(130);
}

#[test]
fn an_idle_session_waits_for_a_prompt() {
    let instance = RoostInstance::new();
    instance.run(&["run", "hello"]).ended(0);
    let mut attached = instance.terminal(&["attach"]);
    attached.shows("> hello\nHello from the demo agent.\nIt waits for a prompt").shows("\n> ").types(CTRL_D);
    attached.ended(0);
    instance.assert_nothing_left();
}

#[test]
fn continuing_a_session_that_waits_asks_instead_of_hanging() {
    for args in [&["run", "--continue"][..], &["run", "--continue", "hello"]] {
        let instance = RoostInstance::new();
        let elsewhere = waiting(&instance);
        let mut run = instance.terminal(args);
        run.shows(CHOICE).types("n no\n").shows("You did not allow it (no)");
        match args.len() {
            2 => run.shows("\n> ").types(CTRL_D),
            _ => run.shows("Hello from the demo agent."),
        };
        run.ended(0);
        elsewhere.finish().ended(0);
    }
}

#[test]
fn work_that_begins_elsewhere_is_shown_at_the_prompt_and_what_was_typed_stays() {
    let instance = RoostInstance::new();
    instance.run(&["run", "hello"]).ended(0);
    let mut here = instance.terminal_of_kind("xterm", &["attach"]);
    here.shows("/help").shows("> ").types("hel").shows("hel");
    let elsewhere = instance.start(&["run", "--session", "latest", "--approvals", "wait", "edit"]);
    here.shows("asked elsewhere: edit").shows(CHOICE).types("y\n").shows("I wrote `demo.txt`").shows("completed");
    elsewhere.finish().ended(0);
    here.shows("> ").shows("hel").types("lo\r").shows("Hello from the demo agent.").shows("> ").types(CTRL_D);
    here.ended(0);
}

#[test]
fn attaching_needs_a_terminal_and_a_session() {
    let instance = RoostInstance::new();
    let none = instance.run(&["attach"]).ended(2).stderr;
    assert!(none.contains("no sessions yet"), "{none}");
    instance.run(&["run", "hello"]).ended(0);
    let piped = instance.run(&["attach"]).ended(2).stderr;
    assert!(piped.contains("needs a terminal") && piped.contains("roost log --follow"), "{piped}");
}

#[test]
fn the_latest_session_needs_no_name() {
    let instance = RoostInstance::new();
    instance.run(&["run", "resume"]).ended(0);
    instance.run(&["run", "hello"]).ended(0);
    for args in [&["log"][..], &["log", "latest"]] {
        let log = instance.run(args).ended(0).stdout;
        assert!(log.contains("> hello\n") && !log.contains("> resume"), "{log}");
    }
    let stopped = instance.run(&["stop"]).ended(0).stdout;
    let latest = instance.run(&["sessions", "--json"]).ended(0).stdout;
    let latest: serde_json::Value = serde_json::from_str(latest.lines().next().unwrap()).unwrap();
    assert!(stopped.contains(latest["session_id"].as_str().unwrap()), "{stopped}");
    instance.run(&["down"]).ended(0);
    let log = instance.run(&["log"]).ended(0).stdout;
    assert!(log.contains("> hello\n"), "the same without a daemon: {log}");
}

#[test]
fn a_run_begins_with_one_line_about_the_session() {
    let instance = RoostInstance::new();
    let done = instance.run(&["run", "hello"]).ended(0);
    let folder = instance.work().canonicalize().unwrap();
    let line = done.stderr.lines().find(|line| line.starts_with("demo · ")).unwrap_or_else(|| panic!("{done:#?}"));
    let parts: Vec<_> = line.split(" · ").collect();
    assert_eq!((parts.len(), parts[2], parts[4]), (5, "ask", folder.to_str().unwrap()), "{line}");
    let quiet = instance.run(&["run", "--json", "hello"]).ended(0).stderr;
    assert!(!quiet.contains("demo · "), "{quiet}");
}

#[test]
fn a_refused_image_or_file_leaves_no_session_behind() {
    for (option, why) in [("--image", "takes no images"), ("--file", "no file")] {
        let instance = RoostInstance::new();
        let refused = instance.run(&["run", option, "missing", "hello"]).ended(2).stderr;
        assert!(refused.contains(why), "{refused}");
        let sessions = instance.run(&["sessions"]).ended(0).stdout;
        assert!(sessions.contains("No sessions yet"), "{sessions}");
        instance.assert_nothing_left();
    }
}
