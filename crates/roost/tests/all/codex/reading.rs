//! Commands that only read, while a Codex that outlived its daemon waits for the next one.

use testkit::agents::Agent;

use crate::kit::{RoostInstance, events, of_type, session_id, wait_for};
use crate::real;

/// An instance whose daemon was killed while Codex waited for leave to run a command, and the session.
fn orphaned() -> (RoostInstance, String) {
    let instance = real::instance(Agent::Codex, "codex", &[]);
    let mut run = instance.start(&["run", "--json", "--runtime", "codex", "--approvals", "wait", "SCRIPT:shell"]);
    let seen = events(run.lines_to("approval.requested").iter().map(String::as_str), 1);
    instance.kill_daemon();
    run.finish();
    (instance, session_id(&seen))
}

fn codex_runs(instance: &RoostInstance) -> bool {
    instance.processes().iter().any(|command| command.contains("app-server"))
}

/// The task is still open after this command, and its question can be answered to the daemon that took it over.
fn assert_goes_on_after(args: impl Fn(&str) -> Vec<String>) {
    let (instance, session) = orphaned();
    let args = args(&session);
    let done = instance.run(&args.iter().map(String::as_str).collect::<Vec<_>>()).ended(0);
    assert!(codex_runs(&instance), "{args:?} ended Codex: {done:?}");
    let pending = wait_for("the question to be asked again", || {
        let pending = instance.run(&["approvals", "--json"]).ended(0).stdout;
        (!pending.is_empty()).then_some(pending)
    });
    assert!(pending.contains(&session), "{pending}");
    let all = instance.run(&["log", "--json", &session]).ended(0).events(1);
    assert_eq!(of_type(&all, "task.failed").len(), 0, "{args:?}: {all:#?}");
    instance.run(&["down"]).ended(0);
}

#[test]
fn a_log_that_is_read_leaves_an_orphaned_task_running() {
    assert_goes_on_after(|session| ["log", session].map(str::to_owned).to_vec());
}

#[test]
fn a_list_of_sessions_leaves_an_orphaned_task_running() {
    assert_goes_on_after(|_| vec!["sessions".to_owned()]);
}

#[test]
fn an_export_leaves_an_orphaned_task_running() {
    assert_goes_on_after(|session| ["export", session].map(str::to_owned).to_vec());
}
