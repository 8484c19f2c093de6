//! Reconstructs the events that were missed while the event stream was broken. The stream has no memory, so the
//! server's state is fetched and turned into events.

use serde_json::{Value, json};

use super::http::{Client, HttpError};

/// Fetches everything that happened in the session after the prompt `last_prompt`, as events in the order in which the
/// stream would have sent them.
pub(super) async fn fetch_missed(client: &Client, session: &str, last_prompt: &str) -> Result<Vec<Value>, HttpError> {
    let children = client.get(&format!("/session/{session}/children")).await?;
    let messages = client.get(&format!("/session/{session}/message")).await?;
    let permissions = client.get("/permission").await?;
    let questions = client.get("/question").await?;
    let status = client.get("/session/status").await?;
    let lists = [children, messages, permissions, questions];
    Ok(missed_events(session, last_prompt, &lists, &status))
}

/// Turns the fetched lists (children, messages, permissions, questions) and the status of all sessions into events.
fn missed_events(session: &str, last_prompt: &str, lists: &[Value; 4], status: &Value) -> Vec<Value> {
    let [children, messages, permissions, questions] = lists;
    let event = |kind: &str, properties: Value| json!({ "type": kind, "properties": properties });
    let mut events: Vec<_> = list(children).map(|info| event("session.created", json!({ "info": info }))).collect();
    let id = |message: &Value| message.pointer("/info/id").and_then(Value::as_str).unwrap_or_default().to_owned();
    for message in list(messages).filter(|message| id(message).as_str() > last_prompt) {
        events.push(event("message.updated", json!({ "info": message["info"] })));
        let parts = list(&message["parts"]);
        events.extend(parts.map(|part| event("message.part.updated", json!({ "part": part }))));
    }
    events.extend(list(permissions).map(|request| event("permission.asked", request.clone())));
    events.extend(list(questions).map(|request| event("question.asked", request.clone())));
    // Idle sessions are not in the list.
    match status.get(session) {
        Some(status) if status["type"] != "idle" => {
            events.push(event("session.status", json!({ "sessionID": session, "status": status })));
        }
        _ => events.push(event("session.idle", json!({ "sessionID": session }))),
    }
    events
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_missed_is_told_from_the_last_prompt_on() {
        let message = |id: &str| json!({ "info": { "id": id }, "parts": [{ "id": format!("part of {id}") }] });
        let messages = json!([message("msg_1"), message("msg_2")]);
        let lists = [json!([{ "id": "ses_2" }]), messages, json!([{ "id": "per_1" }]), json!([])];
        let events = missed_events("ses_1", "msg_1", &lists, &json!({}));
        let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
        assert_eq!(
            kinds,
            ["session.created", "message.updated", "message.part.updated", "permission.asked", "session.idle"]
        );
        assert_eq!(events[1]["properties"]["info"]["id"], "msg_2");
    }
}
