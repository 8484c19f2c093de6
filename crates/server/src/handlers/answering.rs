//! Answers to pending approvals and questions, by whichever method they come.

use std::collections::BTreeMap;
use std::sync::Arc;

use roost_engine::adapter::Answer;
use roost_engine::{Decision, Response, ResponseTo};
use roost_model::approval::{ApprovalScope, Pending, PendingAsk};
use roost_model::mode::Mode;
use roost_model::payload::QuestionAskedPayload;
use roost_rpc::{Fault, FaultCode};
use serde_json::Value;

use crate::dispatch::Context;
use crate::fault;

/// The pending approval or question of this id, in this session or in any.
pub(super) async fn find(context: &Context<'_>, id: &str, session: Option<&str>) -> Result<Arc<Pending>, Fault> {
    let session = match session {
        Some(session) => Some(context.session(session).await?.session_id),
        None => None,
    };
    let mut found = context.host.sessions.log.pending(session.as_ref()).await.map_err(fault::log)?;
    found.retain(|one| one.id() == id);
    match found.len() {
        0 => Err(gone(id)),
        1 => found.pop().ok_or_else(|| gone(id)),
        _ => {
            Err(Fault::params(format_args!("{id} waits in several sessions; name the session_id"))
                .with("tool_use_id", id))
        }
    }
}

/// The fault of an answer that comes too late, with the code and the words that clients take for "somebody else was
/// faster".
pub(super) fn gone(id: &str) -> Fault {
    let why = format_args!("request not found: {id} was answered already, ended or never asked");
    Fault::new(FaultCode::InternalError, why).with("tool_use_id", id)
}

/// The oldest pending item of a session that `wanted` accepts.
pub(super) async fn oldest(
    context: &Context<'_>,
    session: &roost_model::ids::SessionId,
    wanted: impl Fn(&PendingAsk) -> bool,
) -> Result<Option<Arc<Pending>>, Fault> {
    let found = context.host.sessions.log.pending(Some(session)).await.map_err(fault::log)?;
    Ok(found.into_iter().find(|one| wanted(&one.ask)))
}

/// Sends an answer to the engine. Free text is as good as a prompt, so in a yolo session it needs the right to yolo.
pub(super) async fn respond(
    context: &Context<'_>,
    pending: &Pending,
    to: ResponseTo,
    key: Option<String>,
) -> Result<(), Fault> {
    if !context.may_yolo() && is_free_text(pending, &to) {
        let record = context.host.sessions.get(pending.session_id.as_str()).await?;
        if record.mode == Mode::Yolo {
            return Err(fault::engine(roost_engine::Error::Yolo(record.session_id)));
        }
    }
    let response = Response { to, by: context.caller.answerer(), key };
    context.host.sessions.engine.respond(pending.session_id.as_str(), response).await.map_err(fault::engine)
}

/// Whether an answer holds text that the question did not offer. To an agent that is as good as a prompt.
fn is_free_text(pending: &Pending, to: &ResponseTo) -> bool {
    let (PendingAsk::Question(asked), ResponseTo::Question { answer: Answer::Given(given), .. }) = (&pending.ask, to)
    else {
        return false;
    };
    let is_offered = |id: &String, value: &String| {
        let field = asked.fields.iter().find(|field| field.id == *id);
        field.is_some_and(|field| field.options.iter().any(|option| option.value == *value))
    };
    given.iter().any(|(id, values)| !values.iter().all(|value| is_offered(id, value)))
}

/// The response to a pending call, bound to its attempt and its input.
pub(super) fn approval_response(pending: &Pending, decision: Decision) -> Result<ResponseTo, Fault> {
    let PendingAsk::Approval(asked) = &pending.ask else {
        return Err(Fault::params(format_args!("{} is a question; answer it with session/respond", pending.id())));
    };
    Ok(ResponseTo::Approval {
        call: asked.identity.tool_call_id.clone(),
        attempt: Some(asked.identity.attempt),
        input_hash: Some(asked.identity.input_hash.clone()),
        decision,
    })
}

/// The response that a text means: yes or no for a call, the answer for a question.
pub(super) fn text_response(pending: &Pending, words: &Value, is_no: bool) -> Result<ResponseTo, Fault> {
    match &pending.ask {
        PendingAsk::Approval(_) => {
            let text = words.as_str().map(str::trim).unwrap_or_default();
            let decision = if !is_no && (words.as_bool() == Some(true) || is_yes(text)) {
                Decision::Allow { scope: chosen_scope(text) }
            } else {
                let reason = Some(text).filter(|text| !text.is_empty() && !is_no_word(text)).map(ToOwned::to_owned);
                Decision::Deny { scope: ApprovalScope::Once, reason }
            };
            approval_response(pending, decision)
        }
        PendingAsk::Question(asked) => {
            let answer = if is_no { Answer::Declined } else { Answer::Given(answers(asked, words)?) };
            Ok(ResponseTo::Question { question: asked.question_id.clone(), answer })
        }
    }
}

/// The words that real clients send for yes.
fn is_yes(text: &str) -> bool {
    let words = ["yes", "y", "true", "allow", "allowed", "approve", "approved", "ok", "1", "2", "enter", "allow_once"];
    words.iter().any(|word| text.eq_ignore_ascii_case(word)) || text.eq_ignore_ascii_case("allow_session")
}

fn is_no_word(text: &str) -> bool {
    ["no", "n", "false", "deny", "denied", "reject", "rejected", "3", "esc", "escape"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word))
}

/// The scope that a text means: the second choice of a permission panel is for the session.
fn chosen_scope(text: &str) -> ApprovalScope {
    if text == "2" || text.eq_ignore_ascii_case("allow_session") { ApprovalScope::Session } else { ApprovalScope::Once }
}

/// The answers by field: an object names the fields by id or label, anything else answers the first.
fn answers(asked: &QuestionAskedPayload, words: &Value) -> Result<BTreeMap<String, Vec<String>>, Fault> {
    // A client may send an object as text.
    let parsed = words.as_str().filter(|text| text.trim_start().starts_with('{'));
    let parsed = parsed.and_then(|text| serde_json::from_str::<Value>(text).ok());
    let words = parsed.as_ref().unwrap_or(words);
    let Value::Object(named) = words else {
        let Some(first) = asked.fields.first() else { return Ok(BTreeMap::new()) };
        return Ok([(first.id.clone(), values(first, words))].into());
    };
    let named = named.get("answers").and_then(Value::as_object).unwrap_or(named);
    let mut answers = BTreeMap::new();
    for (name, value) in named {
        let field = asked.fields.iter().find(|field| field.id == *name || field.label == *name).ok_or_else(|| {
            let ids: Vec<_> = asked.fields.iter().map(|field| field.id.as_str()).collect();
            Fault::params(format_args!("the question has no field \"{name}\"; it has {}", ids.join(", ")))
        })?;
        answers.insert(field.id.clone(), values(field, value));
    }
    Ok(answers)
}

/// The values of a field; a choice may be given by its label.
fn values(field: &roost_model::payload::QuestionField, value: &Value) -> Vec<String> {
    let one = |value: &Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        let chosen = field.options.iter().find(|option| option.value == text || option.label == text);
        chosen.map_or(text, |option| option.value.clone())
    };
    match value {
        Value::Array(several) => several.iter().map(one).collect(),
        Value::Null => Vec::new(),
        single => vec![one(single)],
    }
}
