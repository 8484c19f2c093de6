//! How much a client may use up, and how big an answer may become.

use serde_json::{Value, json};
use testkit::{facts, soon};

use crate::kit::{Client, Door};
use crate::stage::unlimited;

/// A call that changes nothing that matters.
async fn change(client: &mut Client, workspace: &str) -> Result<Value, Value> {
    client.call("workspace/update", json!({ "workspace_id": workspace, "auto_start": false })).await
}

fn is_refusal(fault: &Value) -> bool {
    let data = &fault["data"];
    fault["code"] == -32050
        && data["code"] == "RATE_LIMITED"
        && data["retry_after"].as_u64().is_some_and(|wait| wait >= 1)
}

#[tokio::test]
async fn one_changing_call_too_many_is_refused_with_when_to_try_again() {
    let door = Door::open_with(|settings| settings.limits.changes_per_minute = 2).await;
    let workspace = door.workspace().await;
    let token = door.token().await;
    let mut client = door.connect(&token).await.unwrap();
    client.hello().await;
    change(&mut client, &workspace).await.unwrap();
    change(&mut client, &workspace).await.unwrap();
    let refusal = change(&mut client, &workspace).await.unwrap_err();
    assert!(is_refusal(&refusal), "{refusal}");
    // The same device is the same account through every other way in.
    let mut again = door.connect(&token).await.unwrap();
    again.hello().await;
    assert!(is_refusal(&change(&mut again, &workspace).await.unwrap_err()));
    let params = json!({ "workspace_id": workspace, "auto_start": false });
    let (status, answer) = door.rpc(&token, "workspace/update", params).await;
    assert_eq!(status, 429);
    assert!(is_refusal(&answer["error"]), "{answer}");
    let authorization = format!("Bearer {token}");
    let (status, head, _) = door.http("POST /api/claude/stop", &[("Authorization", &authorization)], "").await;
    assert_eq!(status, 429);
    assert!(head.contains("\r\nretry-after: "), "{head}");
    // What only reads is counted apart, and others have their own account.
    client.call("status/health", json!({})).await.unwrap();
    change(&mut door.client().await, &workspace).await.unwrap();
}

#[tokio::test]
async fn agent_starts_have_a_limit_of_their_own() {
    let door = Door::open_with(|settings| settings.limits.starts_per_minute = 2).await;
    let workspace = door.workspace().await;
    let mut client = door.client().await;
    let start = json!({ "workspace_id": workspace, "mode": "new" });
    client.call("session/start", start.clone()).await.unwrap();
    client.call("session/start", start.clone()).await.unwrap();
    assert!(is_refusal(&client.call("session/start", start.clone()).await.unwrap_err()));
    let run = json!({ "prompt": "hi" });
    assert!(is_refusal(&client.call("agent/run", run).await.unwrap_err()));
    change(&mut client, &workspace).await.unwrap();
}

#[tokio::test]
async fn reading_calls_have_a_limit_too_and_a_batch_is_as_many_calls_as_it_holds() {
    let door = Door::open_with(|settings| settings.limits.reads_per_minute = 5).await;
    let mut client = door.client().await;
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "status/health" });
    client.send(&json!(vec![call; 10]).to_string()).await;
    let answers = client.reply().await;
    let served = answers.as_array().unwrap().iter().filter(|answer| answer.get("result").is_some()).count();
    // The hello was the first of five.
    assert_eq!(served, 4, "{answers}");
}

#[tokio::test]
async fn zero_means_no_limit_and_the_local_door_has_none() {
    let door = Door::open_with(unlimited).await;
    let workspace = door.workspace().await;
    let mut client = door.client().await;
    for _ in 0..150 {
        change(&mut client, &workspace).await.unwrap();
    }
    let door = Door::open_with(|settings| settings.limits.changes_per_minute = 1).await;
    let workspace = door.workspace().await;
    let mut local = door.local().await;
    for _ in 0..10 {
        change(&mut local, &workspace).await.unwrap();
    }
}

#[tokio::test]
async fn of_a_hundred_sockets_of_one_device_thirty_two_are_open() {
    let door = Door::open().await;
    let authorization = format!("Bearer {}", door.token().await);
    let headers = [("Authorization", authorization.as_str())];
    let knocks = futures::future::join_all((0..100).map(|_| door.upgrade("/ws", &headers))).await;
    let (open, refused): (Vec<_>, Vec<_>) = knocks.into_iter().partition(Result::is_ok);
    assert_eq!((open.len(), refused.len()), (32, 68));
    assert!(refused.iter().all(|refusal| matches!(refusal, Err(429))));
    door.client().await;
    drop(open);
    let free = async { while door.upgrade("/ws", &headers).await.is_err() {} };
    soon("there is room again", free).await;
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_refused() {
    let door = Door::open_with(|settings| settings.limits.max_body_bytes = 4096).await;
    let token = door.token().await;
    assert_eq!(door.rpc(&token, "session/send", json!({ "prompt": "x".repeat(5000) })).await.0, 413);
    assert_eq!(door.post("/api/claude/run", Some(&token), &json!({ "prompt": "x".repeat(5000) })).await.0, 413);
    assert_eq!(door.rpc(&token, "status/health", json!({})).await.0, 200);
}

/// A client whose session has a turn of these answers behind it, and the session.
async fn session_with_answers(door: &mut Door, answers: impl IntoIterator<Item = String>) -> (Client, String) {
    let mut client = door.client().await;
    let scene = door.scene(&mut client).await;
    for answer in answers {
        scene.agent.say(facts::output(&answer)).await;
    }
    scene.agent.finish().await;
    client.until("stream_read_complete").await;
    (client, scene.session)
}

#[tokio::test]
async fn a_session_of_big_messages_is_read_in_pages_that_fit() {
    let mut door = Door::open().await;
    let (mut client, session) =
        session_with_answers(&mut door, (0..20).map(|k| format!("{k:02}{}", "\"x\"".repeat(30_000)))).await;
    for order in ["asc", "desc"] {
        let (mut seen, mut offset) = (Vec::new(), 0);
        loop {
            let params = json!({ "session_id": session, "limit": 500, "offset": offset, "order": order });
            let page = client.call("session/messages", params).await.unwrap();
            let messages = page["messages"].as_array().unwrap();
            assert_eq!((&page["total"], &page["offset"]), (&json!(21), &json!(offset)));
            seen.extend(messages.iter().map(|message| message["uuid"].clone()));
            offset += messages.len();
            if page["has_more"] == false {
                break;
            }
        }
        assert_eq!(seen.len(), 21);
        seen.sort_by_key(Value::to_string);
        seen.dedup();
        assert_eq!(seen.len(), 21);
    }
}

#[tokio::test]
async fn elements_and_events_come_in_pages_that_fit_too() {
    let mut door = Door::open().await;
    let (mut client, session) =
        session_with_answers(&mut door, (0..20).map(|k| format!("{k:02}{}", "x".repeat(100_000)))).await;
    let mut params = json!({ "session_id": session, "limit": 100 });
    let mut seen = 0;
    loop {
        let page = client.call("session/elements", params.clone()).await.unwrap();
        seen += page["elements"].as_array().unwrap().len();
        if page["pagination"]["has_more_before"] == false {
            break;
        }
        params["before"] = page["pagination"]["oldest_id"].clone();
    }
    let whole = client.call("session/elements", json!({ "session_id": session })).await.unwrap();
    assert_eq!(json!(seen), whole["pagination"]["total"]);
    let (mut events, mut after) = (0, json!(0));
    loop {
        let page = client
            .call("log/read", json!({ "session_id": session, "after_seq": after, "limit": 10_000 }))
            .await
            .unwrap();
        events += page["events"].as_array().unwrap().len();
        after = page["last_seq"].clone();
        if page["has_more"] == false {
            break;
        }
    }
    assert_eq!(json!(events), after);
}

#[tokio::test]
async fn a_batch_of_answers_that_do_not_fit_together_still_fits_into_a_frame() {
    let mut door = Door::open_with(unlimited).await;
    let (mut client, session) =
        session_with_answers(&mut door, (0..300).map(|k| format!("{k:03}{}", "x".repeat(3000)))).await;
    let call = |id: usize, method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    // Two pages that nearly fill the frame, and many small answers for which there is no room any more.
    let page = |limit| json!({ "session_id": session, "limit": limit });
    for limit in [60, 65, 70, 75] {
        let mut batch = vec![call(0, "session/messages", page(500)), call(1, "session/messages", page(limit))];
        batch.extend((2..64).map(|id| call(id, "initialize", json!({}))));
        client.send(&json!(batch).to_string()).await;
        let answers = client.reply().await;
        let answers = answers.as_array().unwrap();
        assert_eq!(answers.len(), 64);
        assert!(answers[0].get("result").is_some());
        assert_eq!(answers[63]["error"]["data"]["code"], "TOO_LARGE");
    }
}

#[tokio::test]
async fn one_answer_bigger_than_a_frame_is_told_cut_and_is_whole_as_an_artifact() {
    let mut door = Door::open().await;
    let (mut client, session) = session_with_answers(&mut door, [facts::noise(3 << 20)]).await;
    let page = client.call("session/messages", json!({ "session_id": session })).await.unwrap();
    let text = page["messages"][1]["message"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("[cut: "), "{}", &text[text.len() - 100..]);
    let read = client.call("log/read", json!({ "session_id": session })).await.unwrap();
    let output =
        read["events"].as_array().unwrap().iter().find(|event| event["type"] == "model.output.completed").unwrap();
    let id = &output["payload"]["content"][0]["artifact_id"];
    let mut whole = String::new();
    loop {
        let params = json!({ "artifact_id": id, "offset": whole.len(), "length": 1 << 20 });
        let piece = client.call("artifact/read", params).await.unwrap();
        whole += piece["content"].as_str().unwrap();
        if piece["size"] == json!(whole.len()) {
            break;
        }
    }
    assert_eq!(whole, facts::noise(3 << 20));
}

#[tokio::test]
async fn a_prompt_bigger_than_a_frame_reaches_the_agent_whole_and_is_told_in_frames_that_fit() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    client.call("events/subscribe", json!({ "format": "normalized" })).await.unwrap();
    let prompt = format!("Read this\n{}", facts::noise(2 << 20));
    let send = json!({ "workspace_id": door.workspace().await, "prompt": prompt });
    let sent = client.call("session/send", send).await.unwrap();
    let (_runtime, agent) = door.runtimes().task().await;
    assert!(agent.prompt() == prompt);
    agent.finish().await;
    client.events_until("task.completed").await;
    let page = client.call("session/messages", json!({ "session_id": sent["session_id"] })).await.unwrap();
    let text = page["messages"][0]["message"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("Read this\n") && text.contains("[cut: "));
    let list = client.call("session/list", json!({})).await.unwrap();
    assert_eq!(list["sessions"][0]["summary"], "Read this");
}

#[tokio::test]
async fn what_a_session_is_made_with_does_not_spoil_the_lists() {
    let door = Door::open().await;
    let mut client = door.local().await;
    let workspace = door.workspace().await;
    let long = "x".repeat(2 << 20);
    for (field, value) in [("title", json!(long)), ("model", json!(long)), ("runtime_config", json!({ "a": long }))] {
        let start = json!({ "workspace_id": workspace, "mode": "new", field: value });
        let fault = client.call("session/start", start).await.unwrap_err();
        assert_eq!((&fault["code"], &fault["data"]["field"]), (&json!(-32602), &json!(field)), "{fault}");
    }
    client.call("workspace/list", json!({})).await.unwrap();
}

#[tokio::test]
async fn prompts_that_wait_fit_into_a_frame_together() {
    let mut door = Door::open_with(unlimited).await;
    let mut client = door.client().await;
    let scene = door.scene(&mut client).await;
    client.call("events/subscribe", json!({ "format": "normalized" })).await.unwrap();
    let send = |bytes| json!({ "session_id": scene.session, "prompt": "x".repeat(bytes) });
    assert_eq!(client.call("session/send", send(2 << 20)).await.unwrap_err()["data"]["code"], "BUSY");
    client.call("session/send", send(300 << 10)).await.unwrap();
    let fault = client.call("session/send", send(300 << 10)).await.unwrap_err();
    assert_eq!((&fault["code"], &fault["data"]["session_id"]), (&json!(-32056), &json!(scene.session)));
    client.call("session/send", send(100 << 10)).await.unwrap();
    let state = client.call("session/state", json!({ "session_id": scene.session })).await.unwrap();
    assert_eq!(state["queue"].as_array().unwrap().len(), 2);
}
