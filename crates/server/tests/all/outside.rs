//! A runtime that is registered from outside brings everything along that Roost must know of it.

mod lantern;

use std::sync::Arc;

use roost_engine::{Engine, NewSession};
use roost_log::{LogOptions, SqliteLog};
use roost_model::event::EventBody;
use roost_model::ids::SessionId;
use roost_model::mode::Mode;
use roost_model::payload::{ToolCallRequestedPayload, ToolKind};
use roost_model::registry::RuntimeStatus;
use roost_model::tool::PolicyResult;
use serde_json::{Value, json};
use testkit::fake::EngineMessage;
use testkit::{Harness, Home, facts};

use crate::kit::Door;
use crate::stage::unlimited;
use lantern::Lantern;

use PolicyResult::{Allow, Ask};

/// An engine with the fake runtime and Lantern, which is all that it takes.
async fn harness() -> Harness {
    let home = Home::new();
    let mut runtimes = home.runtimes();
    runtimes.register(Arc::new(Lantern), RuntimeStatus::Active);
    let log = SqliteLog::open(&home.lock().await, LogOptions::default()).unwrap();
    let engine = Engine::start(Arc::new(log.clone()), runtimes, home.config(|_| {})).await.unwrap();
    std::fs::create_dir(home.path().join("lantern.d")).unwrap();
    Harness { engine: Arc::new(engine), log, home }
}

async fn session(host: &Harness, runtime: &str, mode: Mode) -> SessionId {
    let new = NewSession { runtime: Some(runtime.into()), ..host.new_session(mode) };
    host.engine.create_session(new).await.unwrap()
}

#[tokio::test]
async fn it_is_listed_under_its_name_and_preferred_by_its_rank() {
    let door = Door::over(harness().await, unlimited).await;
    let hello = door.client().await.hello().await;
    let registry = &hello["capabilities"]["runtimeRegistry"];
    let listed = &registry["runtimes"][1];
    assert_eq!((&listed["id"], &listed["displayName"]), (&json!("lantern"), &json!("Lantern")));
    assert_eq!(listed["availability"]["version"], "1.0");
    // The fake runtime is as ready and comes first, but has no rank.
    assert_eq!(registry["defaultRuntime"], "lantern");
}

#[tokio::test]
async fn a_device_may_choose_its_plain_settings_and_no_other() {
    let door = Door::over(harness().await, unlimited).await;
    let mut client = door.client().await;
    let workspace = door.workspace().await;
    let start = |config: Value| json!({ "workspace_id": workspace, "mode": "new", "agent_type": "lantern", "runtime_config": config });
    client.call("session/start", start(json!({ "glow": "dim" }))).await.unwrap();
    for (config, field) in [(json!({ "glow": "$(x)" }), "glow"), (json!({ "oil": "x" }), "oil")] {
        let fault = client.call("session/start", start(config)).await.unwrap_err();
        let message = fault["message"].as_str().unwrap();
        assert!(message.starts_with(&format!("runtime_config.{field} needs the scope admin")), "{message}");
        assert!(message.contains("of lantern's settings a device may choose glow"), "{message}");
    }
}

#[tokio::test]
async fn its_calls_are_judged_by_its_own_tools_and_files() {
    let cases = [
        (Mode::Ask, r#"look {"path":"a"}"#, Allow, "permission_mode:ask:read_only"),
        (Mode::Ask, r#"paint {"path":"a"}"#, Ask, "permission_mode:ask"),
        (Mode::AcceptEdits, r#"paint {"path":"a"}"#, Allow, "permission_mode:accept_edits"),
        (Mode::AcceptEdits, r#"paint {"path":"lantern.d/oil"}"#, Ask, "permission_mode:accept_edits"),
        (Mode::AcceptEdits, r#"paint {"path":"Lantern.toml"}"#, Ask, "permission_mode:accept_edits"),
        (Mode::Ask, r#"run {"command":"ls","wick":3}"#, Allow, "permission_mode:ask:read_only"),
        (Mode::Auto, r#"run {"command":"ls","flame":3}"#, Ask, "permission_mode:dangerous"),
        (Mode::Auto, r#"run {"command":"rm -rf x"}"#, Ask, "permission_mode:dangerous"),
        // What it does not know itself, nobody does; and the name of another runtime's tool is nothing here.
        (Mode::Auto, r#"conjure {}"#, Ask, "permission_mode:dangerous"),
        (Mode::Auto, r#"Read {"file_path":"a"}"#, Ask, "permission_mode:dangerous"),
    ];
    let host = harness().await;
    for (mode, prompt, result, rule) in cases {
        let session = session(&host, "lantern", mode).await;
        let task = host.begin(&session, prompt).await;
        host.wait_for_end(&session, &task).await;
        let events = host.events(&session).await;
        let word = events.iter().find_map(|event| match &event.body {
            EventBody::ToolCallPolicyEvaluated(word) => Some(word),
            _ => None,
        });
        let word = word.unwrap();
        assert_eq!((word.result, word.rule.as_deref()), (result, Some(rule)), "{mode} {prompt}");
        let ran = events.iter().any(|event| matches!(event.body, EventBody::ToolCallCompleted(_)));
        assert_eq!(ran, result == Allow, "{mode} {prompt}");
    }
    host.stop().await;
}

#[tokio::test]
async fn its_files_are_guarded_in_the_sessions_of_other_runtimes_too() {
    let mut host = harness().await;
    for (path, allowed) in [("a", true), ("lantern.d/oil", false), ("lantern.toml", false)] {
        let session = session(&host, "fake", Mode::AcceptEdits).await;
        host.begin(&session, "go").await;
        let (_runtime, mut agent) = host.runtimes().task().await;
        let request = facts::request("edit", "call", 1, json!({ "path": path }));
        let request = ToolCallRequestedPayload { kind: Some(ToolKind::Edit), ..request };
        agent.say(roost_engine::adapter::Fact::ToolAsks(request)).await;
        let told = agent.next_message().await;
        assert_eq!(matches!(told, EngineMessage::Approved(_)), allowed, "{path}: {told:?}");
    }
    host.stop().await;
}
