//! The daemon is killed, or is there twice.

use rustix::process::Signal;

use crate::kit::{RoostInstance, events, of_type, session_id, wait_for};

#[test]
fn after_kill_9_in_a_flood_everything_seen_is_there_and_the_task_has_failed() {
    let instance = RoostInstance::new();
    let mut run = instance.start(&["run", "--json", "flood", "1000000", "200"]);
    let mut seen: Vec<_> = (0..2000).map(|_| run.line().unwrap()).collect();
    instance.kill_daemon();
    // What is still in the pipe was seen too.
    let done = run.finish().ended(1);
    assert!(done.stderr.contains("the daemon") && done.stderr.contains("roost log"), "{}", done.stderr);
    seen.extend(done.stdout.lines().map(Into::into));
    let first = events(seen.iter().map(String::as_str), 1);

    let log = instance.run(&["log", "--json", &session_id(&first)]).ended(0);
    let all = log.events(1);
    assert_eq!(log.stdout.lines().take(seen.len()).collect::<Vec<_>>(), seen);
    let failed = of_type(&all, "task.failed");
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0]["payload"]["error"]["code"], "HOST_RESTARTED");
    assert_eq!(all.last().unwrap()["type"], "session.closed");
    assert_eq!(instance.processes(), Vec::<String>::new(), "recovery waits until the agent is gone");
    instance.run(&["check"]).ended(0);
}

#[test]
fn after_kill_9_while_somebody_was_asked_nothing_waits_and_nothing_has_run() {
    let instance = RoostInstance::new();
    let mut run = instance.start(&["run", "--json", "--approvals", "wait", "edit"]);
    let seen = events(run.lines_to("approval.requested").iter().map(String::as_str), 1);
    instance.kill_daemon();
    run.finish().ended(1);
    assert_eq!(instance.run(&["approvals", "--json"]).ended(0).stdout, "");
    let all = instance.run(&["log", "--json", &session_id(&seen)]).ended(0).events(1);
    let resolved = of_type(&all, "approval.resolved");
    assert_eq!(resolved.len(), 1);
    assert_eq!(
        (&resolved[0]["payload"]["end"], &resolved[0]["payload"]["decision"]),
        (&"host_restarted".into(), &"deny".into())
    );
    assert_eq!(of_type(&all, "tool.call.denied").len(), 1);
    assert!(!instance.work().join("demo.txt").exists());
    instance.run(&["check"]).ended(0);
}

#[test]
fn a_command_that_is_killed_leaves_its_task_to_the_daemon() {
    let instance = RoostInstance::new();
    let mut run = instance.start(&["run", "--json", "slow", "1"]);
    let seen = events(run.lines_to("model.output.delta").iter().map(String::as_str), 1);
    run.signal(Signal::KILL);
    run.finish();
    let log = wait_for("the task to end", || {
        let log = instance.run(&["log", "--json", &session_id(&seen)]).ended(0).events(1);
        (of_type(&log, "task.completed").len() == 1).then_some(log)
    });
    assert_eq!(log[..seen.len()], seen);
}

#[test]
fn one_daemon_serves_several_commands_and_keeps_others_from_its_directory() {
    let instance = RoostInstance::new();
    let mut run = instance.start(&["run", "--json", "slow", "60"]);
    let first = events(run.lines_to("model.output.delta").iter().map(String::as_str), 1);

    let second = instance.run(&["run", "hello"]).ended(0);
    assert!(!second.started, "one daemon is enough");
    let pid = format!("process {}", instance.daemon().as_raw_nonzero());
    let refused = instance.run(&["check", "--rebuild"]).ended(1);
    assert!(refused.stderr.contains(&pid) && refused.stderr.contains("roost down"), "{refused:#?}");

    let log = instance.run(&["log", "--json", &session_id(&first)]).ended(0).events(1);
    assert_eq!(log[..first.len()], first);
    assert!(instance.run(&["sessions"]).ended(0).stdout.contains("running"));
    instance.run(&["check"]).ended(0);
    assert!(instance.run(&["doctor"]).ended(0).stdout.contains(&pid));

    assert!(run.is_running());
    run.signal(Signal::INT);
    run.finish().ended(130);
}
