//! Codex's questions to the user, and the answers as it expects them.

use std::collections::BTreeMap;

use roost_engine::adapter::Answer;
use roost_model::ids::QuestionId;
use roost_model::payload::{QuestionAskedPayload, QuestionField, QuestionOption};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::requests::{Elicitation, HostRequest};

/// Which JSON the answer to a question takes.
#[derive(Clone, Debug)]
pub(super) enum AnswerFormat {
    /// The result of `item/tool/requestUserInput`.
    Agent,
    /// The result of an MCP elicitation, with values in the types of this JSON schema.
    Server(Value),
}

/// The parameters of `item/tool/requestUserInput`, by which the agent asks the user.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UserInput {
    turn_id: String,
    item_id: String,
    questions: Vec<UserQuestion>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UserQuestion {
    id: String,
    #[serde(default)]
    header: String,
    question: String,
    #[serde(default)]
    is_secret: bool,
    #[serde(default)]
    options: Option<Vec<UserOption>>,
}

#[derive(Deserialize)]
struct UserOption {
    label: String,
    #[serde(default)]
    description: Option<String>,
}

/// Turns the agent's question into ours. One that asks for a secret is answered with nothing, because answers are
/// stored in the log.
pub(super) fn from_user_input(request: UserInput) -> HostRequest {
    if request.questions.iter().any(|question| question.is_secret) {
        let reason =
            "Codex asked for a secret, which Roost would have to keep in its log; it was told that nobody answers";
        return HostRequest::AutoReply { answer: json!({ "answers": {} }), reason };
    }
    let message = request.questions.iter().map(|question| question.question.as_str()).collect::<Vec<_>>().join("\n");
    let fields = request.questions.into_iter().map(|question| QuestionField {
        label: if question.header.is_empty() { question.question } else { question.header },
        id: question.id,
        options: question.options.into_iter().flatten().map(choice).collect(),
        multiple: false,
        required: true,
    });
    let question = QuestionAskedPayload {
        question_id: question_id(&request.turn_id, &request.item_id),
        message,
        fields: fields.collect(),
        tool_call_id: None,
    };
    HostRequest::Question { question, format: AnswerFormat::Agent }
}

/// Turns an MCP server's question into ours. One whose schema has no properties is declined.
pub(super) fn from_elicitation(request: Elicitation) -> HostRequest {
    let Some(properties) = request.requested_schema.get("properties").and_then(Value::as_object) else {
        let reason = "a tool server asked for something that is no form; it was refused";
        return HostRequest::AutoReply { answer: json!({ "action": "decline", "content": null }), reason };
    };
    let required: Vec<_> =
        request.requested_schema.get("required").and_then(Value::as_array).into_iter().flatten().collect();
    let fields = properties.iter().map(|(id, property)| QuestionField {
        id: id.clone(),
        label: text(property, "title").or(text(property, "description")).unwrap_or_else(|| id.clone()),
        options: choices(property),
        multiple: property.get("type").is_some_and(|kind| kind == "array"),
        required: required.iter().any(|name| *name == id),
    });
    let question = QuestionAskedPayload {
        question_id: question_id(request.turn_id.as_deref().unwrap_or(&request.thread_id), &request.message),
        message: format!("{}: {}", request.server_name, request.message),
        fields: fields.collect(),
        tool_call_id: None,
    };
    HostRequest::Question { question, format: AnswerFormat::Server(request.requested_schema) }
}

impl AnswerFormat {
    /// The JSON result for this answer.
    pub(super) fn answer(&self, answer: Answer) -> Value {
        match (self, answer) {
            (Self::Agent, Answer::Given(answers)) => {
                let given = answers.into_iter().map(|(id, words)| (id, json!({ "answers": words })));
                json!({ "answers": given.collect::<Map<_, _>>() })
            }
            (Self::Agent, Answer::Declined | Answer::Cancelled) => json!({ "answers": {} }),
            (Self::Server(schema), Answer::Given(answers)) => {
                json!({ "action": "accept", "content": typed(schema, answers) })
            }
            (Self::Server(_), Answer::Declined) => json!({ "action": "decline", "content": null }),
            (Self::Server(_), Answer::Cancelled) => json!({ "action": "cancel", "content": null }),
        }
    }
}

/// Derived from Codex's own ids, so that a daemon that takes over the session gives the same question the same id.
/// `scope` is the turn, or the thread where no turn is named.
fn question_id(scope: &str, question: &str) -> QuestionId {
    let name = format!("{scope}/{question}");
    format!("q_{}", Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()).simple()).into()
}

fn choice(option: UserOption) -> QuestionOption {
    QuestionOption { value: option.label.clone(), label: option.label, description: option.description }
}

fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).map(str::to_owned)
}

/// The choices of a schema property, in any of the three forms that MCP allows: `enum`, titled `oneOf` or `anyOf`, and
/// a boolean.
fn choices(property: &Value) -> Vec<QuestionOption> {
    let plain = |value: &str| QuestionOption { value: value.to_owned(), label: value.to_owned(), description: None };
    if property.get("type").is_some_and(|kind| kind == "boolean") {
        return ["true", "false"].map(plain).into();
    }
    let schema = property.get("items").unwrap_or(property);
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values.iter().filter_map(Value::as_str).map(plain).collect();
    }
    let titled = ["oneOf", "anyOf"].iter().find_map(|name| schema.get(name)?.as_array());
    let titled = titled.into_iter().flatten().filter_map(|option| {
        let value = text(option, "const")?;
        Some(QuestionOption { label: text(option, "title").unwrap_or_else(|| value.clone()), value, description: None })
    });
    titled.collect()
}

/// The answers in the types of the schema; one that cannot be converted is left out.
fn typed(schema: &Value, answers: BTreeMap<String, Vec<String>>) -> Map<String, Value> {
    let kind = |id: &str| schema.pointer("/properties")?.get(id)?.get("type")?.as_str();
    let value = |id: &str, words: Vec<String>| {
        if kind(id) == Some("array") {
            return Some(json!(words));
        }
        let first = words.into_iter().next()?;
        match kind(id) {
            Some("boolean" | "integer" | "number") => serde_json::from_str(&first).ok(),
            _ => Some(first.into()),
        }
    };
    answers.into_iter().filter_map(|(id, words)| Some((id.clone(), value(&id, words)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_servers_form_is_answered_in_its_own_types() {
        let schema = json!({ "type": "object", "required": ["name"], "properties": {
            "name": { "type": "string", "title": "Your name" },
            "age": { "type": "integer" },
            "sure": { "type": "boolean" },
            "size": { "type": "string", "enum": ["s", "l"] },
            "tags": { "type": "array", "items": { "anyOf": [{ "const": "a", "title": "A" }] } },
        } });
        let request = json!({ "threadId": "t", "turnId": "u", "serverName": "shop", "message": "Who?", "requestedSchema": schema });
        let HostRequest::Question { question, format } = from_elicitation(serde_json::from_value(request).unwrap())
        else {
            panic!()
        };
        let shown: Vec<_> = question.fields.iter().map(|f| (f.label.as_str(), f.options.len(), f.required)).collect();
        let expected =
            [("Your name", 0, true), ("age", 0, false), ("sure", 2, false), ("size", 2, false), ("tags", 1, false)];
        assert_eq!(shown, expected);
        let given = [("name", "Anna"), ("age", "7"), ("sure", "true"), ("size", "l"), ("tags", "a")];
        let given = given.map(|(id, word)| (id.to_owned(), vec![word.to_owned()])).into();
        let answer = format.answer(Answer::Given(given));
        let content = json!({ "age": 7, "name": "Anna", "size": "l", "sure": true, "tags": ["a"] });
        assert_eq!(answer, json!({ "action": "accept", "content": content }));
    }

    #[test]
    fn a_question_for_a_secret_reaches_nobody() {
        let request = json!({ "turnId": "u", "itemId": "i", "questions": [
            { "id": "key", "question": "Your key?", "isSecret": true }
        ] });
        let request = from_user_input(serde_json::from_value(request).unwrap());
        assert!(matches!(request, HostRequest::AutoReply { answer, .. } if answer == json!({ "answers": {} })));
    }
}
