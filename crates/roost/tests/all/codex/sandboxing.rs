//! What leaves Codex's sandbox, and who is asked.

use roost_engine::adapter::{Fact, OpenSession, RuntimeAdapter, RuntimeSession, TaskEnd};
use roost_model::payload::ToolCallRequestedPayload;
use serde_json::json;
use testkit::soon;

use super::live::{Live, Say, WatchedTask, completed, run};

/// A session that can write nowhere but in its working directory, which is itself in the folder for temporary files.
async fn session(live: &Live) -> Box<dyn RuntimeSession> {
    let mut open: OpenSession = live.open();
    let settings = json!({ "sandbox_workspace_write": { "exclude_slash_tmp": true, "exclude_tmpdir_env_var": true } });
    open.input.runtime_config = settings.as_object().cloned();
    soon("Codex starts", live.adapter.create_session(open)).await.unwrap()
}

/// A command that writes a file outside of the sandbox, and counts how often it runs.
fn escaping(live: &Live) -> String {
    let outside = live.sandbox.home().join("outside.txt");
    format!("echo run >> runs.txt; echo hi > {}", outside.display())
}

fn runs(live: &Live) -> usize {
    std::fs::read_to_string(live.sandbox.work().join("runs.txt")).unwrap_or_default().lines().count()
}

fn is_outside(live: &Live) -> bool {
    live.sandbox.home().join("outside.txt").exists()
}

/// Everything that was asked about.
fn asked(task: &WatchedTask) -> Vec<ToolCallRequestedPayload> {
    let asked = task.facts().filter_map(|fact| match fact {
        Fact::ToolAsks(call) => Some(call.clone()),
        _ => None,
    });
    asked.collect()
}

#[tokio::test]
async fn a_command_that_fails_in_the_sandbox_is_not_run_again_outside_of_it() {
    let live = Live::new();
    let mut session = session(&live).await;
    let (end, task) = run(&mut session, &format!("SCRIPT:shell RUN:{}", escaping(&live)), Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    assert_eq!((asked(&task).len(), runs(&live), is_outside(&live)), (1, 1, false), "{:#?}", task.seen);
    let failed = task.facts().find_map(|fact| match fact {
        Fact::ToolCompleted(outcome) if outcome.is_error => outcome.result.clone(),
        _ => None,
    });
    let failed = failed.unwrap_or_else(|| panic!("{:#?}", task.seen));
    let failed = failed.as_str().unwrap();
    assert!(failed.starts_with("exit code 1\n") && failed.contains("Read-only file system"), "{failed}");
    session.close().await;
}

#[tokio::test]
async fn a_command_that_asks_to_leave_the_sandbox_is_marked_and_leaves_it_after_a_yes() {
    // With a reason and without.
    for script in ["esc", "sneak"] {
        let live = Live::new();
        let mut session = session(&live).await;
        let (end, task) = run(&mut session, &format!("SCRIPT:{script} RUN:{}", escaping(&live)), Say::Yes).await;
        assert!(completed(&end), "{end:?}");
        let [asked] = asked(&task).try_into().unwrap();
        assert_eq!(asked.input["sandbox_permissions"], "require_escalated", "{script}");
        assert_eq!((runs(&live), is_outside(&live)), (1, true), "{script}: {:#?}", task.seen);
        session.close().await;
    }
}

#[tokio::test]
async fn an_ordinary_command_is_not_marked() {
    let live = Live::new();
    let mut session = session(&live).await;
    let (_, task) = run(&mut session, "SCRIPT:shell", Say::Yes).await;
    let [asked] = asked(&task).try_into().unwrap();
    assert_eq!(asked.input.get("sandbox_permissions"), None);
    session.close().await;
}

#[tokio::test]
async fn the_sandbox_leaves_no_folders_in_the_working_directory() {
    let live = Live::new();
    let mut session = session(&live).await;
    assert!(completed(&run(&mut session, "SCRIPT:shell", Say::Yes).await.0));
    session.close().await;
    let left: Vec<_> =
        std::fs::read_dir(live.sandbox.work()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["out.txt"]);
}

#[tokio::test]
async fn a_command_that_codex_s_own_rules_refuse_is_told_as_refused() {
    let live = Live::new();
    let rules = live.sandbox.home().join(".codex/rules");
    std::fs::create_dir_all(&rules).unwrap();
    let rule = r#"prefix_rule(pattern=["touch"], decision="forbidden", justification="no touching")"#;
    std::fs::write(rules.join("default.rules"), rule).unwrap();
    let mut session = session(&live).await;
    let (end, task) = run(&mut session, "SCRIPT:shell RUN:touch x", Say::Yes).await;
    assert!(matches!(end, TaskEnd::Completed(_)), "{end:?}");
    let told: Vec<_> =
        task.facts().filter(|fact| matches!(fact, Fact::ToolRequested(_) | Fact::ToolRefused { .. })).collect();
    let [Fact::ToolRequested(call), Fact::ToolRefused { reason, .. }] = told.as_slice() else {
        panic!("{:#?}", task.seen)
    };
    assert_eq!(call.input["command"], "touch x");
    assert!(reason.contains("no touching"), "{reason}");
    session.close().await;
}

#[tokio::test]
async fn the_output_of_a_command_is_told_whole() {
    let live = Live::new();
    let mut session = session(&live).await;
    let (_, task) = run(&mut session, "SCRIPT:shell RUN:seq 1 300", Say::Yes).await;
    let told: String = task
        .facts()
        .filter_map(|fact| match fact {
            Fact::ToolOutputDelta { delta, .. } => Some(delta.as_str()),
            _ => None,
        })
        .collect();
    let expected: String = (1..=300).map(|line| format!("{line}\n")).collect();
    assert_eq!(told, expected);
    session.close().await;
}
