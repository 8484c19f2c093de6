//! Words that are found in what was said.

use roost_model::event::NormalizedEventType;
use serde_json::{Value, json};
use testkit::facts;

use crate::kit::{Client, Door};

/// A new session in which this was asked and answered.
async fn conversation(door: &mut Door, client: &mut Client, prompt: &str, answer: &str) -> String {
    let start = json!({ "workspace_id": door.workspace().await, "mode": "new" });
    let session = client.call("session/start", start).await.unwrap()["session_id"].as_str().unwrap().to_owned();
    client.call("session/send", json!({ "session_id": session, "prompt": prompt })).await.unwrap();
    let (_runtime, task) = door.runtimes().task().await;
    task.say(facts::output(answer)).await;
    task.finish().await;
    door.harness.wait_for(&session.as_str().into(), NormalizedEventType::TaskCompleted).await;
    session
}

async fn search(client: &mut Client, params: Value) -> Value {
    client.call("session/search", params).await.unwrap()
}

#[tokio::test]
async fn prompts_and_answers_are_found_the_latest_session_first_and_long_ones_to_their_end() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let long = format!("{} the needle at the end", facts::noise(64 << 10));
    let first = conversation(&mut door, &mut client, "where is the Needle?", "in the haystack").await;
    let second = conversation(&mut door, &mut client, "hello", &long).await;
    let found = search(&mut client, json!({ "query": "NEEDLE the" })).await;
    let hits: Vec<_> = found["hits"].as_array().unwrap().iter().map(|hit| [&hit["session_id"], &hit["kind"]]).collect();
    assert_eq!(json!(hits), json!([[second, "answer"], [first, "prompt"]]), "{found}");
    assert!(found["hits"][0]["excerpt"].as_str().unwrap().ends_with("the needle at the end"), "{found}");
    let seq = found["hits"][1]["seq"].as_u64().unwrap();
    let place = json!({ "session_id": first, "after_seq": seq - 1, "limit": 1 });
    assert_eq!(client.call("log/read", place).await.unwrap()["events"][0]["type"], "task.started");
}

#[tokio::test]
async fn a_search_ends_at_its_limit_and_goes_on_from_there_and_leaves_out_what_is_off_the_lists() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let mut sessions = Vec::new();
    for _ in 0..3 {
        sessions.push(conversation(&mut door, &mut client, "a word", "an answer").await);
    }
    client.call("session/delete", json!({ "session_id": sessions[1] })).await.unwrap();
    let page = search(&mut client, json!({ "query": "word", "limit": 1 })).await;
    assert_eq!((&page["hits"][0]["session_id"], &page["next_offset"]), (&json!(sessions[2]), &json!(1)), "{page}");
    let rest = search(&mut client, json!({ "query": "word", "limit": 9, "offset": 1 })).await;
    assert_eq!(rest["hits"].as_array().unwrap().len(), 1, "{rest}");
    assert_eq!((&rest["hits"][0]["session_id"], &rest["next_offset"]), (&json!(sessions[0]), &Value::Null), "{rest}");
    let nothing = search(&mut client, json!({ "query": "word elsewhere" })).await;
    assert_eq!((&nothing["hits"], &nothing["searched"]), (&json!([]), &json!(2)), "{nothing}");
}
