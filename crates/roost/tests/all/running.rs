//! `roost run`: what is shown, what is printed, what it ends with.

use std::process::Command;

use crate::kit::{RoostInstance, RunningCommand, answer, of_type};

#[test]
fn the_tour_runs_without_a_prompt_and_completes() {
    let instance = RoostInstance::new();
    let done = instance.run(&["run"]).ended(0);
    assert!(done.stdout.starts_with("Welcome to Roost!"), "{done:#?}");
    assert!(done.stderr.contains("→ Write(") && done.stderr.contains("hello-roost.txt)\n"), "{done:#?}");
    assert!(done.stderr.contains("✓ completed"), "{done:#?}");
    assert!(done.stderr.contains("roost log "), "{done:#?}");
    instance.assert_nothing_left();
}

#[test]
fn without_a_terminal_nothing_is_coloured() {
    let done = RoostInstance::new().run(&["run", "think"]).ended(0);
    assert!(!done.stdout.contains('\x1b') && !done.stderr.contains('\x1b'), "{done:#?}");
}

#[test]
fn json_is_every_event_from_the_first_to_the_last_and_nothing_else() {
    let done = RoostInstance::new().run(&["run", "--json", "hello"]).ended(0);
    let events = done.events(1);
    assert_eq!(events[0]["type"], "session.created");
    assert_eq!(events.last().unwrap()["type"], "task.completed");
    assert_eq!(answer(&events), "Hello from the demo agent.");
    assert_eq!(done.stderr, "");
}

#[test]
fn a_flood_is_printed_whole() {
    let events = RoostInstance::new().run(&["run", "--json", "flood", "20000", "50"]).ended(0).events(1);
    assert_eq!(of_type(&events, "model.output.delta").len(), 20_000);
}

#[test]
fn a_failure_is_never_shown_as_success() {
    for (prompt, code) in [("fail", "RUNTIME_ERROR"), ("crash", "RUNTIME_EXITED"), ("exit", "RUNTIME_EXITED")] {
        let instance = RoostInstance::new();
        let events = instance.run(&["run", "--json", prompt]).ended(1).events(1);
        let last = events.last().unwrap();
        assert_eq!((&last["type"], &last["payload"]["error"]["code"]), (&"task.failed".into(), &code.into()));
        instance.assert_nothing_left();
    }
}

#[test]
fn an_edit_that_nobody_can_approve_is_denied() {
    let instance = RoostInstance::new();
    let events = instance.run(&["run", "--json", "edit"]).ended(0).events(1);
    let denied = of_type(&events, "tool.call.denied");
    assert_eq!(denied.len(), 1);
    assert!(denied[0]["payload"]["policy_snapshot"]["sources"].to_string().contains("no_approver"), "{}", denied[0]);
    assert!(!instance.work().join("demo.txt").exists());
}

#[test]
fn an_edit_in_mode_yolo_is_done() {
    let instance = RoostInstance::new();
    let events = instance.run(&["run", "--json", "--permission-mode", "yolo", "edit"]).ended(0).events(1);
    assert_eq!(of_type(&events, "tool.call.approved").len(), 1);
    assert!(instance.work().join("demo.txt").exists());
}

#[test]
fn people_see_the_rule_and_the_reason_of_a_denial() {
    let done = RoostInstance::new().run(&["run", "edit"]).ended(0);
    assert!(done.stderr.contains("no_approver") && done.stderr.contains("nobody is there"), "{done:#?}");
}

#[test]
fn an_agent_works_in_the_directory_that_is_named() {
    let instance = RoostInstance::new();
    std::fs::create_dir(instance.work().join("there")).unwrap();
    instance.run(&["run", "--cwd", "there", "--permission-mode", "bypassPermissions", "edit"]).ended(0);
    assert!(instance.work().join("there/demo.txt").exists());
}

#[test]
fn nobody_reading_stops_the_task_quietly() {
    let instance = RoostInstance::new();
    let mut run = instance.start(&["run", "--json", "slow", "60"]);
    run.lines_to("model.output.delta");
    let done = run.finish_unread().ended(130);
    assert_eq!(done.stderr, "");
    let log = instance.run(&["log", "--json", &latest(&instance)]).ended(0).events(1);
    assert_eq!(of_type(&log, "task.stopped").len(), 1);
    instance.assert_nothing_left();
}

#[test]
fn output_and_errors_may_be_closed_at_any_moment() {
    let instance = RoostInstance::new();
    let done = instance.start(&["run", "hello"]).finish_unread();
    let is_silent = done.stderr.lines().all(|line| line.starts_with("demo · "));
    assert!(matches!(done.code, Some(0 | 130)) && is_silent, "{done:#?}");

    // Started before, or what is read first would be that it was.
    instance.run(&["run", "hello"]).ended(0);
    let script = r#"{ "$ROOST" run slow 60 2>&1; echo $? > code; } | head -c 1"#;
    let mut shell = Command::new("sh");
    instance.clear(shell.args(["-c", script])).env("ROOST", env!("CARGO_BIN_EXE_roost"));
    assert_eq!(RunningCommand::new(&mut shell).finish().ended(0).stdout, "d\n");
    assert_eq!(std::fs::read_to_string(instance.work().join("code")).unwrap(), "130\n");
}

fn latest(instance: &RoostInstance) -> String {
    let sessions = instance.run(&["sessions", "--json"]).ended(0).stdout;
    let first: serde_json::Value = serde_json::from_str(sessions.lines().next().unwrap()).unwrap();
    first["session_id"].as_str().unwrap().to_owned()
}
