//! Roost itself is killed, or is there twice.

use rustix::process::Signal;

use crate::kit::{Place, events, of_type, session_id};

#[test]
fn after_kill_9_in_a_flood_everything_seen_is_there_and_the_task_has_failed() {
    let place = Place::new();
    let mut run = place.start(&["run", "--json", "flood", "1000000", "200"]);
    let mut seen: Vec<_> = (0..2000).map(|_| run.line().unwrap()).collect();
    run.signal(Signal::KILL);
    // What is still in the pipe was seen too; its last line may be cut.
    let rest = run.finish().stdout;
    let whole =
        rest.lines().filter(|line| line.ends_with('}') && serde_json::from_str::<serde_json::Value>(line).is_ok());
    seen.extend(whole.map(Into::into));
    let first = events(seen.iter().map(String::as_str), 1);

    let log = place.run(&["log", "--json", &session_id(&first)]).ended(0);
    let all = log.events(1);
    assert_eq!(log.stdout.lines().take(seen.len()).collect::<Vec<_>>(), seen);
    let failed = of_type(&all, "task.failed");
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0]["payload"]["error"]["code"], "HOST_RESTARTED");
    assert_eq!(all.last().unwrap()["type"], "session.closed");
    assert_eq!(place.processes(), Vec::<String>::new(), "recovery waits until the agent is gone");
    place.run(&["check"]).ended(0);
}

#[test]
fn after_kill_9_while_somebody_was_asked_nothing_waits_and_nothing_has_run() {
    let place = Place::new();
    let mut run = place.start(&["run", "--json", "--approvals", "wait", "edit"]);
    let seen = events(run.lines_to("approval.requested").iter().map(String::as_str), 1);
    run.signal(Signal::KILL);
    run.finish();
    assert_eq!(place.run(&["approvals", "--json"]).ended(0).stdout, "");
    let all = place.run(&["log", "--json", &session_id(&seen)]).ended(0).events(1);
    let resolved = of_type(&all, "approval.resolved");
    assert_eq!(resolved.len(), 1);
    assert_eq!(
        (&resolved[0]["payload"]["end"], &resolved[0]["payload"]["decision"]),
        (&"host_restarted".into(), &"deny".into())
    );
    assert_eq!(of_type(&all, "tool.call.denied").len(), 1);
    assert!(!place.work().join("demo.txt").exists());
    place.run(&["check"]).ended(0);
}

#[test]
fn a_second_process_reads_but_does_not_run() {
    let place = Place::new();
    let mut run = place.start(&["run", "--json", "slow", "60"]);
    let first = events(run.lines_to("model.output.delta").iter().map(String::as_str), 1);

    let refused = place.run(&["run", "hello"]).ended(1);
    let pid = format!("process {}", run.pid());
    assert!(refused.stderr.contains("roost run") && refused.stderr.contains(&pid), "{refused:#?}");
    assert!(refused.stderr.contains("--state"), "{refused:#?}");
    place.run(&["check", "--rebuild"]).ended(1);

    let log = place.run(&["log", "--json", &session_id(&first)]).ended(0).events(1);
    assert_eq!(log[..first.len()], first);
    assert!(place.run(&["sessions"]).ended(0).stdout.contains("running"));
    place.run(&["check"]).ended(0);
    assert!(place.run(&["doctor"]).ended(0).stdout.contains(&pid));

    assert!(run.is_running());
    run.signal(Signal::INT);
    run.finish().ended(130);
}
