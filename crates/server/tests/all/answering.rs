//! What waits for an answer is shown to whoever comes, answered once, and told to all.

use roost_engine::adapter::Answer;
use roost_engine::adapter::Fact;
use roost_model::payload::{QuestionAskedPayload, QuestionField, QuestionOption};
use serde_json::{Value, json};
use testkit::facts;
use testkit::fake::EngineMessage;

use crate::kit::{Client, Door};
use crate::stage::{Scene, events_named};

/// A question with one field and choices.
fn question(id: &str) -> Fact {
    let option = |value: &str, label: &str| QuestionOption {
        value: value.into(),
        label: label.into(),
        description: Some(format!("use {label}")),
    };
    let field = |id: &str, label: &str, multiple| QuestionField {
        id: id.into(),
        label: label.into(),
        options: vec![option("pg", "Postgres"), option("lite", "SQLite")],
        multiple,
        required: true,
    };
    Fact::Question(QuestionAskedPayload {
        question_id: id.into(),
        message: "Which database?".into(),
        fields: vec![field("db", "Database", false), field("also", "Also", true)],
        tool_call_id: None,
    })
}

/// A session whose agent waits for leave to write.
async fn waiting(door: &mut Door, client: &mut Client) -> Scene {
    let scene = door.scene(client).await;
    scene.agent.say_all([facts::requested("call"), facts::asks("call")]).await;
    client.event("pty_permission").await;
    scene
}

#[tokio::test]
async fn a_call_that_needs_leave_is_asked_in_the_form_that_phones_decode() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let scene = door.scene(&mut client).await;
    scene.agent.say_all([facts::requested("call"), facts::asks("call")]).await;
    let asked = client.event("pty_permission").await;
    assert_eq!((&asked["tool_use_id"], &asked["session_id"]), (&json!("call"), &json!(scene.session)));
    for field in ["type", "target", "description", "workspace_id", "agent_type", "cursor"] {
        assert!(asked[field].is_string(), "{field}: {asked}");
    }
    let keys: Vec<_> = asked["options"].as_array().unwrap().iter().map(|option| option["key"].clone()).collect();
    assert!(
        [json!(["allow_once", "allow_session", "deny"]), json!(["allow_once", "deny"])].contains(&json!(keys)),
        "{keys:?}"
    );
    assert!(asked["options"].as_array().unwrap().iter().all(|option| option["label"].is_string()));
    let state = client.call("session/state", json!({ "session_id": scene.session })).await.unwrap();
    let found = [&state["claude_state"], &state["waiting_for_input"], &state["pending_tool_use_id"]];
    assert_eq!(found, [&json!("waiting"), &json!(true), &json!("call")]);
    let status = client.call("agent/status", json!({})).await.unwrap();
    assert_eq!((&status["state"], &status["waiting_for"]), (&json!("waiting"), &json!("write")));
}

#[tokio::test]
async fn what_waits_is_sent_again_to_whoever_watches_or_attaches() {
    let mut door = Door::open().await;
    let mut first = door.client().await;
    let Scene { session, workspace, agent, runtime: _runtime } = waiting(&mut door, &mut first).await;
    agent.say(question("q")).await;
    first.event("claude_waiting").await;
    for (method, params) in [
        ("session/watch", json!({ "session_id": session })),
        ("workspace/session/watch", json!({ "session_id": session, "workspace_id": workspace })),
        ("session/start", json!({ "workspace_id": workspace, "session_id": session })),
        ("session/start", json!({ "workspace_id": workspace })),
    ] {
        let mut late = door.client().await;
        let answer = late.call(method, params.clone()).await.unwrap();
        let told = late.event("pty_permission").await;
        assert_eq!(told["tool_use_id"], "call", "{method}");
        assert_eq!(late.event("claude_waiting").await["tool_use_id"], "q", "{method}");
        if method == "session/start" {
            assert_eq!((&answer["status"], &answer["has_pending_permission"]), (&json!("attached"), &json!(true)));
            let answered = [&answer["pending_permission_type"], &answer["pending_permission_target"]];
            assert_eq!(answered, [&told["type"], &told["target"]]);
        }
        // And again to the same client, as often as it asks.
        late.call(method, params).await.unwrap();
        assert_eq!(late.event("pty_permission").await["tool_use_id"], "call", "{method}");
    }
    let pending = first.call("permission/pending", json!({})).await.unwrap();
    assert_eq!(pending["count"], 2);
    let ids: Vec<_> = pending["requests"].as_array().unwrap().iter().map(|one| one["tool_use_id"].clone()).collect();
    assert_eq!(json!(ids), json!(["call", "q"]));
    assert_eq!(first.call("permission/stats", json!({})).await.unwrap()["pending_requests"], 2);
}

#[tokio::test]
async fn an_answer_given_elsewhere_is_announced_with_who_gave_it() {
    let mut door = Door::open().await;
    let (mut first, mut second) = (door.client().await, door.client().await);
    let second_id = second.id().await;
    let mut scene = waiting(&mut door, &mut first).await;
    let deny = json!({ "tool_use_id": "call", "decision": "deny", "reason": "not today" });
    assert_eq!(second.call("permission/respond", deny).await.unwrap(), json!({ "success": true }));
    assert_eq!(scene.agent.next_message().await, EngineMessage::Denied("call".into(), "not today".into()));
    for client in [&mut first, &mut second] {
        let resolved = client.event("pty_permission_resolved").await;
        let found = [&resolved["tool_use_id"], &resolved["decision"], &resolved["resolved_by"]];
        assert_eq!(found, [&json!("call"), &json!("deny"), &json!(second_id)]);
        assert_eq!(resolved["answered_by"]["from"], "websocket");
    }
}

#[tokio::test]
async fn a_late_answer_is_refused_as_clients_expect_it_however_it_comes() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let mut scene = waiting(&mut door, &mut client).await;
    let allow = json!({ "tool_use_id": "call", "decision": "allow" });
    client.call("permission/respond", allow.clone()).await.unwrap();
    assert_eq!(scene.agent.next_message().await, EngineMessage::Approved("call".into()));
    for (method, params) in [
        ("permission/respond", allow),
        ("permission/respond", json!({ "tool_use_id": "call", "decision": "deny", "session_id": scene.session })),
        ("permission/respond", json!({ "tool_use_id": "never asked", "decision": "allow" })),
        ("session/respond", json!({ "session_id": scene.session, "type": "permission", "response": "yes" })),
        ("session/respond", json!({ "session_id": scene.session, "type": "question", "response": "yes" })),
    ] {
        let fault = client.call(method, params.clone()).await.unwrap_err();
        assert_eq!(fault["code"], -32603, "{method} {params}: {fault}");
    }
    // Clients of this one look for another code.
    let fault = client.call("agent/respond", json!({ "tool_use_id": "call", "response": "yes" })).await.unwrap_err();
    assert_eq!(fault["code"], -32003, "{fault}");
    assert_eq!(scene.agent.messages_so_far(), []);
}

#[tokio::test]
async fn of_two_answers_at_once_one_counts() {
    let mut door = Door::open().await;
    let (mut first, mut second) = (door.client().await, door.client().await);
    let mut scene = waiting(&mut door, &mut first).await;
    let answer = |decision: &str| json!({ "tool_use_id": "call", "decision": decision });
    let answers = tokio::join!(
        first.call("permission/respond", answer("allow")),
        second.call("permission/respond", answer("deny"))
    );
    let winner = match answers {
        (Ok(_), Err(late)) => (EngineMessage::Approved("call".into()), late),
        (Err(late), Ok(_)) => (EngineMessage::Denied("call".into(), "the user refused it".into()), late),
        both => panic!("{both:?}"),
    };
    assert_eq!(scene.agent.next_message().await, winner.0);
    assert_eq!(winner.1["code"], -32603);
    assert_eq!(scene.agent.messages_so_far(), []);
}

#[tokio::test]
async fn every_way_to_say_yes_or_no_to_a_call_is_understood() {
    let ways = [
        ("agent/respond", json!({ "response": "approved" }), true),
        ("agent/respond", json!({ "response": "approved", "is_error": true }), false),
        ("agent/respond", json!({ "response": "no, never" }), false),
        ("session/respond", json!({ "type": "permission", "response": "yes" }), true),
        ("session/respond", json!({ "type": "permission", "response": true }), true),
        ("session/respond", json!({ "type": "permission", "response": "no" }), false),
        ("session/input", json!({ "input": "enter" }), true),
        ("session/input", json!({ "key": "enter" }), true),
        ("session/input", json!({ "input": "escape" }), false),
        ("session/input", json!({ "input": "1" }), true),
        ("session/input", json!({ "input": "n" }), false),
        ("agent/input", json!({ "input": "y" }), true),
    ];
    let mut door = Door::open_with(crate::stage::unlimited).await;
    let mut client = door.client().await;
    for (method, mut params, yes) in ways {
        let mut scene = waiting(&mut door, &mut client).await;
        params["session_id"] = json!(scene.session);
        params["tool_use_id"] = json!("call");
        client.call(method, params.clone()).await.unwrap();
        let told = scene.agent.next_message().await;
        assert_eq!(matches!(told, EngineMessage::Approved(_)), yes, "{method} {params}: {told:?}");
        scene.agent.finish().await;
        client.until("stream_read_complete").await;
    }
}

#[tokio::test]
async fn keys_that_mean_nothing_to_an_agent_are_taken_and_escape_stops_it() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let mut scene = door.scene(&mut client).await;
    for key in [
        "up",
        "down",
        "left",
        "right",
        "tab",
        "backspace",
        "delete",
        "home",
        "end",
        "pageup",
        "pagedown",
        "space",
        "enter",
        "return",
    ] {
        for field in ["input", "key"] {
            let sent = client.call("session/input", json!({ "session_id": scene.session, field: key })).await.unwrap();
            assert_eq!(sent, json!({ "status": "sent", "key": key, "agent_type": "fake" }));
        }
    }
    assert_eq!(scene.agent.messages_so_far(), []);
    let id = client.ask("session/input", json!({ "session_id": scene.session, "input": "escape" })).await;
    assert_eq!(scene.agent.next_message().await, EngineMessage::Stop);
    scene.agent.finish().await;
    client.answer(id).await.unwrap();
    // Text that nothing waits for is a prompt.
    client.call("session/input", json!({ "session_id": scene.session, "input": "go on\r" })).await.unwrap();
    assert_eq!(scene.runtime.task().await.prompt(), "go on");
}

#[tokio::test]
async fn a_question_arrives_as_the_tool_call_that_clients_know_and_is_answered_by_field_or_label() {
    let mut door = Door::open_with(crate::stage::unlimited).await;
    let mut client = door.client().await;
    let given = |pairs: &[(&str, &[&str])]| {
        Answer::Given(
            pairs
                .iter()
                .map(|(field, values)| ((*field).into(), values.iter().map(|&value| value.into()).collect()))
                .collect(),
        )
    };
    let answers = [
        (json!("SQLite"), given(&[("db", &["lite"])])),
        (json!({ "db": "pg", "also": ["lite", "Postgres"] }), given(&[("db", &["pg"]), ("also", &["lite", "pg"])])),
        (json!({ "answers": { "Database": "Postgres" } }), given(&[("db", &["pg"])])),
        (json!("{\"Database\": \"SQLite\"}"), given(&[("db", &["lite"])])),
        (json!("something else"), given(&[("db", &["something else"])])),
    ];
    for (response, expected) in answers {
        let mut scene = door.scene(&mut client).await;
        scene.agent.say(question("q")).await;
        let events = client.until("claude_waiting").await;
        let asked = events_named(&events, "claude_message")
            .into_iter()
            .find(|message| message["content"][0]["type"] == "tool_use")
            .unwrap_or_else(|| panic!("{events:#?}"));
        let call = &asked["content"][0];
        assert_eq!((&call["tool_name"], &call["tool_id"]), (&json!("AskUserQuestion"), &json!("q")));
        let first = &call["tool_input"]["questions"][0];
        assert_eq!((&first["header"], &first["multiSelect"]), (&json!("Database"), &json!(false)));
        assert_eq!(first["options"][0], json!({ "label": "Postgres", "description": "use Postgres" }));
        assert!(first["question"].as_str().unwrap().starts_with("Which database?"));
        let waits = &events.last().unwrap().1;
        assert_eq!((&waits["request_id"], &waits["question"]), (&json!("q"), &json!("Which database?")));
        let params = json!({ "session_id": scene.session, "type": "question", "response": response });
        let answered = client.call("session/respond", params).await.unwrap();
        assert_eq!(answered["status"], "responded");
        assert_eq!(scene.agent.next_message().await, EngineMessage::Answer("q".into(), expected), "{response}");
        let resolved = client.event("pty_permission_resolved").await;
        assert_eq!((&resolved["tool_use_id"], &resolved["decision"]), (&json!("q"), &json!("allow")));
        scene.agent.finish().await;
        client.until("stream_read_complete").await;
    }
}

#[tokio::test]
async fn a_field_that_the_question_has_not_is_refused_with_those_that_it_has() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let mut scene = door.scene(&mut client).await;
    scene.agent.say(question("q")).await;
    client.event("claude_waiting").await;
    let params = json!({ "session_id": scene.session, "type": "question", "response": { "colour": "red" } });
    let fault = client.call("session/respond", params).await.unwrap_err();
    assert_eq!(fault["code"], -32602);
    assert!(fault["message"].as_str().unwrap().contains("db, also"), "{fault}");
    assert_eq!(scene.agent.messages_so_far(), []);
}

#[tokio::test]
async fn an_answer_about_another_attempt_or_input_is_refused() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let scene = waiting(&mut door, &mut client).await;
    for stale in [json!({ "attempt": 2 }), json!({ "input_hash": "sha256:00" })] {
        let mut params = json!({ "tool_use_id": "call", "decision": "allow" });
        params.as_object_mut().unwrap().extend(stale.as_object().unwrap().clone());
        let fault = client.call("permission/respond", params).await.unwrap_err();
        assert_eq!(fault["code"], -32011, "{fault}");
    }
    let pending = client.call("permission/pending", json!({ "session_id": scene.session })).await.unwrap();
    assert_eq!(pending["count"], 1);
    let seen: &Value = &pending["requests"][0]["pending"]["ask"]["approval"];
    let params = json!({
        "tool_use_id": "call", "decision": "allow", "attempt": seen["attempt"], "input_hash": seen["input_hash"],
    });
    client.call("permission/respond", params).await.unwrap();
}

#[tokio::test]
async fn an_answer_for_the_session_is_not_asked_for_again() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let mut scene = door.scene(&mut client).await;
    scene.agent.say_all([facts::requested("one"), facts::asks("one")]).await;
    let asked = client.event("pty_permission").await;
    assert!(asked["options"].as_array().unwrap().iter().any(|option| option["key"] == "allow_session"), "{asked}");
    client
        .call("permission/respond", json!({ "tool_use_id": "one", "decision": "allow", "scope": "session" }))
        .await
        .unwrap();
    assert_eq!(scene.agent.next_message().await, EngineMessage::Approved("one".into()));
    let stats = client.call("permission/stats", json!({})).await.unwrap();
    assert_eq!((&stats["total_patterns"], &stats["active_sessions"]), (&json!(1), &json!(1)));
}

#[tokio::test]
async fn a_removed_answer_is_asked_for_again() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let scene = door.scene(&mut client).await;
    scene.agent.say_all([facts::requested("one"), facts::asks("one")]).await;
    client.event("pty_permission").await;
    let forever = json!({ "tool_use_id": "one", "decision": "allow", "scope": "workspace" });
    client.call("permission/respond", forever).await.unwrap();
    let rules = client.call("rule/list", json!({})).await.unwrap();
    let id = rules["rules"][0]["rule_id"].clone();
    client.call("rule/remove", json!({ "rule_id": id })).await.unwrap();
    scene.agent.say_all([facts::requested("two"), facts::asks("two")]).await;
    let asked = client.event("pty_permission").await;
    assert_eq!(asked["tool_use_id"], "two", "{asked}");
}

#[tokio::test]
async fn a_remembered_no_is_removed_only_by_an_admin() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let scene = door.scene(&mut client).await;
    scene.agent.say_all([facts::requested("one"), facts::asks("one")]).await;
    client.event("pty_permission").await;
    let never = json!({ "tool_use_id": "one", "decision": "deny", "scope": "workspace" });
    client.call("permission/respond", never).await.unwrap();
    let rules = client.call("rule/list", json!({})).await.unwrap();
    let rule = json!({ "rule_id": rules["rules"][0]["rule_id"] });
    let fault = client.call("rule/remove", rule.clone()).await.unwrap_err();
    assert_eq!((&fault["code"], &fault["data"]["needs"]), (&json!(-32051), &json!("admin")), "{fault}");
    door.local().await.call("rule/remove", rule).await.unwrap();
}

/// The options of a panel as pairs of key and whether it is selected.
fn selected(asked: &Value) -> Value {
    let options = asked["options"].as_array().unwrap().iter();
    options.filter(|option| option["selected"] == true).map(|option| option["key"].clone()).collect()
}

#[tokio::test]
async fn arrows_move_a_selection_that_everybody_sees_and_enter_takes_it() {
    let mut door = Door::open().await;
    let mut first = door.client().await;
    let mut scene = waiting(&mut door, &mut first).await;
    let mut second = door.client().await;
    second.call("session/watch", json!({ "session_id": scene.session })).await.unwrap();
    assert_eq!(selected(&second.event("pty_permission").await), json!(["allow_once"]));
    let presses = [
        ("up", "allow_once"),
        ("down", "allow_session"),
        ("up", "allow_once"),
        ("down", "allow_session"),
        ("down", "deny"),
        ("down", "deny"),
    ];
    for (key, expected) in presses {
        first.call("session/input", json!({ "session_id": scene.session, "key": key })).await.unwrap();
        for client in [&mut first, &mut second] {
            assert_eq!(selected(&client.event("pty_permission").await), json!([expected]), "{key}");
        }
    }
    // Whoever comes later sees it too, and may take it.
    let mut third = door.client().await;
    third.call("session/watch", json!({ "session_id": scene.session })).await.unwrap();
    assert_eq!(selected(&third.event("pty_permission").await), json!(["deny"]));
    assert_eq!(scene.agent.messages_so_far(), [], "nothing is answered by moving");
    third.call("session/input", json!({ "session_id": scene.session, "input": "enter" })).await.unwrap();
    assert!(matches!(scene.agent.next_message().await, EngineMessage::Denied(call, _) if call == "call".into()));
}

#[tokio::test]
async fn a_selection_is_of_one_attempt_and_not_of_the_next() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let mut scene = waiting(&mut door, &mut client).await;
    client.call("session/input", json!({ "session_id": scene.session, "key": "down" })).await.unwrap();
    client.event("pty_permission").await;
    let deny = json!({ "tool_use_id": "call", "decision": "deny" });
    client.call("permission/respond", deny).await.unwrap();
    scene.agent.next_message().await;
    client.event("pty_permission_resolved").await;
    scene.agent.say_all([facts::requested("other"), facts::asks("other")]).await;
    assert_eq!(selected(&client.event("pty_permission").await), json!(["allow_once"]));
}

#[tokio::test]
async fn a_key_that_nobody_knows_and_an_option_that_is_not_shown_are_refused() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let mut scene = waiting(&mut door, &mut client).await;
    for typed in [json!({ "key": "f1" }), json!({ "key": "" }), json!({ "input": "0" }), json!({ "input": "4" })] {
        let mut params = typed.clone();
        params["session_id"] = json!(scene.session);
        let fault = client.call("session/input", params).await.unwrap_err();
        assert_eq!(fault["code"], -32602, "{typed}: {fault}");
    }
    assert_eq!(scene.agent.messages_so_far(), []);
    client.call("session/input", json!({ "session_id": scene.session, "input": "3" })).await.unwrap();
    assert!(matches!(scene.agent.next_message().await, EngineMessage::Denied(..)), "the third option is to deny");
}

#[tokio::test]
async fn a_key_answers_only_what_its_client_was_shown() {
    let mut door = Door::open().await;
    let mut first = door.client().await;
    let mut scene = waiting(&mut door, &mut first).await;
    // Somebody who has seen nothing.
    let mut blind = door.client().await;
    let enter = json!({ "session_id": scene.session, "key": "enter" });
    let fault = blind.call("session/input", enter.clone()).await.unwrap_err();
    assert_eq!((&fault["code"], &fault["data"]["field"]), (&json!(-32602), &json!("tool_use_id")), "{fault}");
    // Two at once: which one is meant?
    scene.agent.say_all([facts::requested("other"), facts::asks("other")]).await;
    first.event("pty_permission").await;
    let fault = first.call("session/input", enter.clone()).await.unwrap_err();
    assert!(fault["message"].as_str().unwrap().contains("call, other"), "{fault}");
    assert_eq!(scene.agent.messages_so_far(), []);
    let named = json!({ "session_id": scene.session, "key": "enter", "tool_use_id": "other" });
    first.call("session/input", named).await.unwrap();
    assert_eq!(scene.agent.next_message().await, EngineMessage::Approved("other".into()));
    first.event("pty_permission_resolved").await;
    first.call("session/input", enter).await.unwrap();
    assert_eq!(
        scene.agent.next_message().await,
        EngineMessage::Approved("call".into()),
        "one is left, and it was shown"
    );
}

#[tokio::test]
async fn an_approval_is_told_once_in_the_form_of_its_session() {
    let mut door = Door::open_with(crate::stage::unlimited).await;
    let cases = [
        ("agent/run", json!({}), "claude_permission"),
        ("agent/run", json!({ "permission_mode": "default" }), "claude_permission"),
        ("agent/run", json!({ "permission_mode": "interactive" }), "pty_permission"),
        ("session/send", json!({}), "pty_permission"),
        ("session/send", json!({ "permission_mode": "interactive" }), "pty_permission"),
    ];
    for (method, mut params, expected) in cases {
        let mut client = door.client().await;
        params["prompt"] = json!("go");
        params["workspace_id"] = json!(door.workspace().await);
        let session = client.call(method, params.clone()).await.unwrap()["session_id"].clone();
        let (_runtime, agent) = door.runtimes().task().await;
        client.call("session/watch", json!({ "session_id": session })).await.unwrap();
        agent.say_all([facts::requested("call"), facts::asks("call")]).await;
        let working = client.until("pty_state").await;
        let live = [working, client.until("pty_state").await].concat();
        client.call("session/watch", json!({ "session_id": session })).await.unwrap();
        let again = client.until("pty_state").await;
        for told in [live, again] {
            let forms: Vec<_> = crate::stage::names(&told)
                .into_iter()
                .filter(|name| ["pty_permission", "claude_permission"].contains(name))
                .collect();
            assert_eq!(forms, [expected], "{method} {params}");
        }
        agent.finish().await;
        client.until("stream_read_complete").await;
    }
}

#[tokio::test]
async fn of_two_approvals_that_wait_an_answer_to_one_leaves_the_session_waiting() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let mut scene = waiting(&mut door, &mut client).await;
    scene.agent.say_all([facts::requested("other"), facts::asks("other")]).await;
    client.event("pty_permission").await;
    for (call, status, pty) in [("call", "waiting", "permission"), ("other", "running", "thinking")] {
        client.call("permission/respond", json!({ "tool_use_id": call, "decision": "allow" })).await.unwrap();
        scene.agent.next_message().await;
        client.event("pty_permission_resolved").await;
        assert_eq!(client.event("claude_status").await["state"], status, "{call}");
        assert_eq!(client.event("pty_state").await["state"], pty, "{call}");
    }
}

#[tokio::test]
async fn a_key_for_what_was_answered_meanwhile_is_refused_and_stops_nothing() {
    let mut door = Door::open().await;
    let mut first = door.client().await;
    let mut scene = waiting(&mut door, &mut first).await;
    // It looks elsewhere, where it is not told of the end.
    let elsewhere = door.harness.home.path().join("elsewhere");
    let add = json!({ "path": elsewhere, "create_if_missing": true });
    let other = first.call("workspace/add", add).await.unwrap();
    first.call("workspace/subscribe", json!({ "workspace_id": other["id"] })).await.unwrap();
    let mut second = door.client().await;
    second.call("permission/respond", json!({ "tool_use_id": "call", "decision": "allow" })).await.unwrap();
    assert_eq!(scene.agent.next_message().await, EngineMessage::Approved("call".into()));
    let escape = json!({ "session_id": scene.session, "key": "escape" });
    let fault = first.call("session/input", escape).await.unwrap_err();
    assert_eq!((&fault["code"], &fault["data"]["tool_use_id"]), (&json!(-32603), &json!("call")), "{fault}");
    assert_eq!(scene.agent.messages_so_far(), []);
}
