//! Which runtime and which session a call means.

use roost_engine::adapter::Availability;
use roost_model::registry::RuntimeStatus;
use serde_json::{Value, json};
use testkit::facts;

use crate::kit::Door;
use crate::stage::unlimited;

fn installed() -> Availability {
    Availability::Installed { version: Some("1.2".into()) }
}

/// Every call that names a runtime.
fn calls(workspace: &str, session: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("agent/run", json!({ "prompt": "x" })),
        ("agent/stop", json!({})),
        ("agent/respond", json!({ "tool_use_id": "x" })),
        ("agent/status", json!({})),
        ("agent/input", json!({ "input": "x" })),
        ("session/start", json!({ "workspace_id": workspace })),
        ("session/send", json!({ "prompt": "x", "workspace_id": workspace })),
        ("session/send", json!({ "prompt": "x", "session_id": session })),
        ("session/stop", json!({ "session_id": session })),
        ("session/input", json!({ "session_id": session, "input": "x" })),
        ("session/respond", json!({ "session_id": session, "type": "question", "response": "x" })),
        ("session/state", json!({ "session_id": session })),
        ("session/info", json!({ "session_id": session })),
        ("session/list", json!({})),
        ("session/get", json!({ "session_id": session })),
        ("session/messages", json!({ "session_id": session })),
        ("session/elements", json!({ "session_id": session })),
        ("session/watch", json!({ "session_id": session })),
        ("session/unwatch", json!({ "session_id": session })),
        ("session/delete", json!({ "session_id": session })),
        ("workspace/session/history", json!({ "workspace_id": workspace })),
        ("workspace/session/messages", json!({ "workspace_id": workspace, "session_id": session })),
        ("workspace/session/watch", json!({ "workspace_id": workspace, "session_id": session })),
        ("workspace/session/unwatch", json!({ "workspace_id": workspace, "session_id": session })),
        ("workspace/session/delete", json!({ "workspace_id": workspace, "session_id": session })),
    ]
}

#[tokio::test]
async fn an_empty_runtime_is_the_usual_one_wherever_one_can_be_named() {
    let mut door = Door::open_with(unlimited).await;
    let mut client = door.client().await;
    let workspace = door.workspace().await;
    let session = door.scene(&mut client).await.session;
    for (method, mut params) in calls(&workspace, &session) {
        params["agent_type"] = json!(" ");
        if let Err(fault) = client.call(method, params).await {
            assert!(!fault["message"].as_str().unwrap().contains("agent_type"), "{method}: {fault}");
        }
    }
}

#[tokio::test]
async fn an_unknown_runtime_is_refused_before_anything_else_is_looked_at() {
    let (door, _others) = Door::with_other(RuntimeStatus::Active, installed()).await;
    let mut client = door.client().await;
    let whole = calls("no such workspace", "no such session");
    // Not even what is missing comes first.
    let bare = whole.iter().map(|(method, _)| (*method, json!({})));
    for (method, mut params) in whole.clone().into_iter().chain(bare) {
        for field in ["agent_type", "runtime"] {
            params.as_object_mut().unwrap().retain(|name, _| !["agent_type", "runtime"].contains(&name.as_str()));
            params[field] = json!("hal9000");
            let fault = client.call(method, params.clone()).await.unwrap_err();
            assert_eq!(fault["code"], -32602, "{method} {params}: {fault}");
            assert_eq!(fault["message"], "agent_type must be one of: fake, other", "{method} {params}");
            let data = &fault["data"];
            assert_eq!((&data["agent_type"], &data["method"]), (&json!("hal9000"), &json!(method)));
            assert_eq!(data["supported_agent_types"], json!(["fake", "other"]));
        }
    }
}

#[tokio::test]
async fn a_session_keeps_its_runtime_and_another_one_is_refused() {
    let (mut door, _others) = Door::with_other(RuntimeStatus::Active, installed()).await;
    let mut client = door.client().await;
    let scene = door.scene(&mut client).await;
    let about_it = calls(&scene.workspace, &scene.session);
    for (method, mut params) in about_it.into_iter().filter(|(_, params)| params.get("session_id").is_some()) {
        if method.ends_with("unwatch") {
            continue;
        }
        params["agent_type"] = json!("other");
        let fault = client.call(method, params).await.unwrap_err();
        assert_eq!(fault["code"], -32602, "{method}: {fault}");
        let data = &fault["data"];
        assert_eq!((&data["agent_type"], &data["session_agent_type"]), (&json!("other"), &json!("fake")), "{method}");
    }
    // Nobody needs to say it again.
    let state = client.call("session/state", json!({ "session_id": scene.session })).await.unwrap();
    assert_eq!(state["agent_type"], "fake");
    let sent = client.call("session/send", json!({ "session_id": scene.session, "prompt": "more" })).await.unwrap();
    assert_eq!((&sent["agent_type"], &sent["delivery"]), (&json!("fake"), &json!("queued")));
}

#[tokio::test]
async fn a_runtime_is_known_in_any_case_and_between_spaces() {
    let (door, mut others) = Door::with_other(RuntimeStatus::Active, installed()).await;
    let mut client = door.client().await;
    let workspace = door.workspace().await;
    let send = json!({ "workspace_id": workspace, "prompt": "hi", "agent_type": " Other " });
    let sent = client.call("session/send", send).await.unwrap();
    assert_eq!(sent["agent_type"], "other");
    others.task().await;
    // It is the same runtime to everything that reads.
    for (method, params) in [
        ("session/list", json!({ "agent_type": "OTHER" })),
        ("session/list", json!({ "agent_type": "acp:other" })),
        ("session/list", json!({ "runtime": "acp:other" })),
        ("workspace/session/history", json!({ "workspace_id": workspace, "agent_type": "OTHER" })),
    ] {
        assert_eq!(client.call(method, params).await.unwrap()["total"], 1, "{method}");
    }
    let attach = json!({ "workspace_id": workspace, "agent_type": "OTHER" });
    assert_eq!(client.call("session/start", attach).await.unwrap()["session_id"], sent["session_id"]);
    client.call("session/watch", json!({ "session_id": sent["session_id"], "agent_type": "OTHER" })).await.unwrap();
    let unwatched = client.call("session/unwatch", json!({ "agent_type": "OTHER" })).await.unwrap();
    assert_eq!(unwatched["session_id"], sent["session_id"]);
    assert_eq!(client.call("session/delete", json!({ "agent_type": "OTHER" })).await.unwrap()["deleted"], 1);
}

#[tokio::test]
async fn a_disabled_runtime_is_shown_and_cannot_be_invoked() {
    let (door, others) = Door::with_other(RuntimeStatus::Disabled, installed()).await;
    let mut client = door.client().await;
    let hello = client.hello().await;
    assert_eq!(hello["capabilities"]["runtimeRegistry"]["runtimes"][1]["status"], "disabled");
    let workspace = door.workspace().await;
    for (method, params) in [
        ("session/start", json!({ "workspace_id": workspace, "agent_type": "other" })),
        ("session/send", json!({ "workspace_id": workspace, "prompt": "x", "agent_type": "other" })),
        ("agent/run", json!({ "prompt": "x", "agent_type": "other" })),
    ] {
        let fault = client.call(method, params).await.unwrap_err();
        assert_eq!(fault["code"], -32603, "{method}: {fault}");
        let data = &fault["data"];
        assert_eq!(
            (&data["agent_type"], &data["status"], &data["method"]),
            (&json!("other"), &json!("disabled"), &json!(method))
        );
    }
    assert!(others.is_idle());
    assert_eq!(client.call("session/list", json!({})).await.unwrap()["total"], 0);
}

#[tokio::test]
async fn a_runtime_that_is_not_there_is_not_active_and_only_the_machine_is_told_where_it_was_looked_for() {
    let missing = Availability::Missing { reason: "`other` is not in /home/ada/bin".into() };
    let (door, others) = Door::with_other(RuntimeStatus::Active, missing).await;
    let mut client = door.client().await;
    let hello = client.hello().await;
    let shown = &hello["capabilities"]["runtimeRegistry"]["runtimes"][1];
    let availability = &shown["availability"];
    assert_eq!((&availability["installed"], &availability["loggedIn"]), (&json!(false), &json!(false)));
    assert_eq!(shown["status"], "disabled");
    assert!(!hello.to_string().contains("/home/ada/bin"), "{hello}");
    let hello = door.local().await.hello().await;
    let shown = &hello["capabilities"]["runtimeRegistry"]["runtimes"][1];
    assert_eq!(
        (&shown["status"], &shown["availability"]["reason"]),
        (&json!("active"), &json!("`other` is not in /home/ada/bin"))
    );
    let workspace = door.workspace().await;
    for (method, params) in [
        ("session/start", json!({ "workspace_id": workspace, "agent_type": "other" })),
        ("session/send", json!({ "workspace_id": workspace, "prompt": "x", "agent_type": "other" })),
        ("agent/run", json!({ "prompt": "x", "agent_type": "other" })),
    ] {
        let fault = client.call(method, params).await.unwrap_err();
        assert_eq!(
            (&fault["code"], &fault["data"]["agent_type"]),
            (&json!(-32603), &json!("other")),
            "{method}: {fault}"
        );
        let message = fault["message"].as_str().unwrap();
        assert!(message.contains("not installed on this host") && !message.contains("/home/ada"), "{fault}");
    }
    assert!(others.is_idle());
}

#[tokio::test]
async fn a_session_answers_to_its_runtimes_id_in_every_call() {
    let mut door = Door::open_with(unlimited).await;
    let mut client = door.client().await;
    let scene = door.scene(&mut client).await;
    let native =
        client.call("session/state", json!({ "session_id": scene.session })).await.unwrap()["claude_session_id"]
            .clone();
    assert_ne!(native, json!(scene.session));
    let w = &scene.workspace;
    let calls = [
        ("session/state", json!({}), "session_id"),
        ("session/get", json!({}), "session_id"),
        ("session/messages", json!({}), "session_id"),
        ("session/elements", json!({}), "session_id"),
        ("session/watch", json!({}), "session_id"),
        ("session/send", json!({ "prompt": "more" }), "session_id"),
        ("session/start", json!({ "workspace_id": w }), "session_id"),
        ("workspace/session/messages", json!({ "workspace_id": w }), "session_id"),
        ("workspace/session/watch", json!({ "workspace_id": w }), "session_id"),
        ("workspace/session/activate", json!({ "workspace_id": w }), "session_id"),
        ("client/session/focus", json!({ "workspace_id": w }), "session_id"),
        ("agent/status", json!({}), "session_id"),
        ("session/unwatch", json!({}), "session_id"),
    ];
    for (method, mut params, field) in calls {
        params["session_id"] = native.clone();
        let answer = client.call(method, params).await.unwrap();
        assert_eq!(answer[field], json!(scene.session), "{method}");
    }
    client.call("session/start", json!({ "workspace_id": w, "resume_session_id": native })).await.unwrap();
    client.call("log/read", json!({ "session_id": native })).await.unwrap();
    client.call("events/subscribe", json!({ "sessions": [native] })).await.unwrap();
    client.call("permission/pending", json!({ "session_id": native })).await.unwrap();
    client.call("session/stop", json!({ "session_id": native })).await.unwrap();
}

#[tokio::test]
async fn a_session_of_another_workspace_is_not_found_there() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let scene = door.scene(&mut client).await;
    let folder = door.harness.home.path().join("other");
    let other = client.call("workspace/add", json!({ "path": folder, "create_if_missing": true })).await.unwrap();
    for method in
        ["workspace/session/messages", "workspace/session/watch", "workspace/session/activate", "client/session/focus"]
    {
        let params = json!({ "workspace_id": other["id"], "session_id": scene.session });
        let fault = client.call(method, params).await.unwrap_err();
        assert_eq!(fault["code"], -32010, "{method}: {fault}");
        let params = json!({ "workspace_id": "no such", "session_id": scene.session });
        assert_eq!(client.call(method, params).await.unwrap_err()["data"]["code"], "WORKSPACE_NOT_FOUND", "{method}");
    }
}

#[tokio::test]
async fn the_one_agent_of_a_workspace_is_not_taken_for_another_runtimes() {
    let (mut door, _others) = Door::with_other(RuntimeStatus::Active, installed()).await;
    let mut client = door.client().await;
    let mut scene = door.scene(&mut client).await;
    scene.agent.say_all([facts::requested("call"), facts::asks("call")]).await;
    client.event("pty_permission").await;
    let calls = [
        ("agent/stop", json!({}), -32002),
        ("agent/input", json!({ "input": "enter" }), -32002),
        ("agent/respond", json!({ "tool_use_id": "call", "response": "yes" }), -32602),
    ];
    for (method, mut params, code) in calls {
        params["agent_type"] = json!("other");
        assert_eq!(client.call(method, params).await.unwrap_err()["code"], code, "{method}");
    }
    assert_eq!(client.call("agent/status", json!({ "agent_type": "other" })).await.unwrap()["state"], "idle");
    assert_eq!(scene.agent.messages_so_far(), []);
}
