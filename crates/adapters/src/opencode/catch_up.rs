//! What happened while nobody listened. The stream of events has no memory, so it is asked for and told as events.

use serde_json::{Value, json};

use super::http::{Client, HttpError};

/// Everything since this prompt of the session, in the order in which it would have been told.
pub(super) async fn missed(client: &Client, session: &str, last_prompt: &str) -> Result<Vec<Value>, HttpError> {
    let children = client.get(&format!("/session/{session}/children")).await?;
    let messages = client.get(&format!("/session/{session}/message")).await?;
    let permissions = client.get("/permission").await?;
    let questions = client.get("/question").await?;
    let status = client.get("/session/status").await?;
    let asked = [children, messages, permissions, questions];
    Ok(told(session, last_prompt, &asked, &status))
}

/// Told of children, messages, permissions and questions, and what the sessions do.
fn told(session: &str, last_prompt: &str, asked: &[Value; 4], status: &Value) -> Vec<Value> {
    let [children, messages, permissions, questions] = asked;
    let event = |kind: &str, properties: Value| json!({ "type": kind, "properties": properties });
    let mut events: Vec<_> = list(children).map(|info| event("session.created", json!({ "info": info }))).collect();
    let id = |message: &Value| message.pointer("/info/id").and_then(Value::as_str).unwrap_or_default().to_owned();
    for message in list(messages).filter(|message| id(message).as_str() > last_prompt) {
        events.push(event("message.updated", json!({ "info": message["info"] })));
        let parts = list(&message["parts"]);
        events.extend(parts.map(|part| event("message.part.updated", json!({ "part": part }))));
    }
    events.extend(list(permissions).map(|asked| event("permission.asked", asked.clone())));
    events.extend(list(questions).map(|asked| event("question.asked", asked.clone())));
    // A session that does nothing is not in the list.
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
        let asked = [json!([{ "id": "ses_2" }]), messages, json!([{ "id": "per_1" }]), json!([])];
        let told = told("ses_1", "msg_1", &asked, &json!({}));
        let kinds: Vec<_> = told.iter().map(|event| event["type"].as_str().unwrap()).collect();
        assert_eq!(
            kinds,
            ["session.created", "message.updated", "message.part.updated", "permission.asked", "session.idle"]
        );
        assert_eq!(told[1]["properties"]["info"]["id"], "msg_2");
    }
}
