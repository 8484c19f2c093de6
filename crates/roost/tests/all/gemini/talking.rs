//! What Gemini says, and what is said about it.

use roost_engine::adapter::{Availability, Fact, RuntimeAdapter};
use roost_model::canonical;
use roost_model::mode::Mode;
use serde_json::json;
use testkit::agents::Agent;
use testkit::soon;

use super::Live;
use crate::codex::live::{Say, WatchedTask, completed, input, run};

#[tokio::test]
async fn thoughts_are_told_apart_from_text_and_tokens_are_counted() {
    let live = Live::new();
    let mut session = live.session().await;
    let (end, task) = run(&mut session, "SCRIPT:think", Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    assert_eq!(task.text(), "Thought it through.");
    let used: Vec<_> = task.facts().filter(|fact| matches!(fact, Fact::Usage(_))).collect();
    let [Fact::Usage(usage)] = used.as_slice() else { panic!("{used:?}") };
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(100), Some(25)));
    session.close().await;
}

#[tokio::test]
async fn what_a_command_prints_is_told() {
    let live = Live::new();
    let mut session = live.session().await;
    let (end, task) = run(&mut session, "SCRIPT:shell RUN:touch a; seq 1 3", Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    let printed = |fact: &Fact| matches!(fact, Fact::ToolOutputDelta { delta, .. } if delta.contains("1\n2\n3"));
    assert!(task.facts().any(printed), "{:#?}", task.seen);
    session.close().await;
}

#[tokio::test]
async fn a_refused_call_is_heard_of_no_more_and_the_next_one_asks_again() {
    let live = Live::new();
    let mut session = live.session().await;
    let (end, task) = run(&mut session, "SCRIPT:parallel RUN:touch", Say::No("not today")).await;
    assert!(completed(&end), "{end:?}");
    let count = |wanted: fn(&Fact) -> bool| task.facts().filter(|fact| wanted(fact)).count();
    assert_eq!(count(|fact| matches!(fact, Fact::ToolAsks(_))), 2, "{:#?}", task.seen);
    assert_eq!(count(|fact| matches!(fact, Fact::ToolCompleted(_) | Fact::ToolStarted(_))), 0, "{:#?}", task.seen);
    session.close().await;
}

#[tokio::test]
async fn a_change_of_mode_is_no_answer() {
    let live = Live::new();
    let mut session = live.session().await;
    for mode in [Mode::Plan, Mode::Ask, Mode::Plan] {
        let mut task =
            WatchedTask::begin_with(&mut session, roost_engine::adapter::TaskInput { mode, ..input("SCRIPT:text") })
                .await;
        assert!(completed(&task.end(Say::Yes).await));
        assert_eq!(task.text(), "Hello from the scripted model, streaming in several deltas.", "{mode:?}");
    }
    session.close().await;
}

#[tokio::test]
async fn the_input_names_what_is_read_beside_it() {
    let live = Live::new();
    std::fs::write(live.sandbox.work().join("GEMINI.md"), "Speak of nothing but whales.").unwrap();
    let mut session = live.session().await;
    let (_, task) = run(&mut session, "SCRIPT:text", Say::Yes).await;
    let sources = &task.sent.as_ref().unwrap().implicit_sources.sources;
    let hash =
        |end: &str| sources.iter().find(|source| source.path.ends_with(end)).and_then(|source| source.hash.clone());
    assert_eq!(hash("work/GEMINI.md"), Some(canonical::hash_bytes(b"Speak of nothing but whales.")));
    assert!(hash(".gemini/settings.json").is_some());
    session.close().await;
}

#[tokio::test]
async fn settings_of_a_session_stand_over_the_users_and_leave_them_alone() {
    let live = Live::new();
    let settings = live.sandbox.home().join(".gemini/settings.json");
    let before = std::fs::read(&settings).unwrap();
    let mut open = live.open();
    open.input.runtime_config = json!({ "tools": { "exclude": ["run_shell_command"] } }).as_object().cloned();
    let mut session = soon("Gemini starts", live.adapter.create_session(open)).await.unwrap();
    let (_, task) = run(&mut session, "SCRIPT:shell", Say::Yes).await;
    assert!(task.text().contains("NO SHELL TOOL"), "{}", task.text());
    let told = &task.sent.as_ref().unwrap().input["runtime_config"];
    assert_eq!(told["settings"], json!(["tools"]));
    let native = session.native_id().unwrap();
    session.close().await;
    live.is_empty();
    assert_eq!(std::fs::read(&settings).unwrap(), before);
    // Where a session without settings finds it.
    let mut session = live.resume(&native).await.unwrap();
    let (_, task) = run(&mut session, "SCRIPT:recall", Say::Yes).await;
    assert!(task.text().starts_with("RECALL saw 2 prompt(s): SCRIPT:shell"), "{}", task.text());
    session.close().await;
}

#[tokio::test]
async fn the_pinned_version_is_told() {
    let live = Live::new();
    let Availability::Installed { version } = live.adapter.availability(&live.env()).await else { panic!() };
    assert_eq!(version, Some(Agent::Gemini.version()));
}
