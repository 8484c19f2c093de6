use roost_model::event::{NewEvent, RuntimeRef, Trace};
use roost_model::ids::SessionId;
use roost_model::runtime::RuntimeName;
use roost_model::time::Timestamp;
use serde_json::json;

use super::*;

fn event(name: &str, payload: Value) -> NormalizedEvent {
    let body = EventBody::Other { name: name.into(), payload };
    let trace = Trace::session(SessionId::from("s"));
    let runtime = RuntimeRef::new(RuntimeName::Demo);
    let event = NewEvent { time: Timestamp::from_millis(0), trace, runtime, body }.numbered(1);
    // Through JSON the body becomes the one that its name says.
    serde_json::from_value(serde_json::to_value(event).unwrap()).unwrap()
}

fn call(id: &str) -> Value {
    json!({ "tool_call_id": id, "attempt": 2, "input_hash": "sha256:0" })
}

fn requested(id: &str, more: Value) -> NormalizedEvent {
    let mut payload = call(id);
    payload["name"] = "run".into();
    payload["input"] = json!({ "command": "ls" });
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event("approval.requested", payload)
}

fn asker(events: &[NormalizedEvent]) -> Asker {
    let mut asker = Asker::new(Style::PLAIN, Path::new("/nowhere"));
    for event in events {
        assert_eq!(asker.note(event), None);
    }
    asker
}

fn line(text: &str) -> KeyboardInput {
    KeyboardInput::Line(text.into())
}

/// What is sent after these lines; the last one must be an answer.
fn sent(asker: &mut Asker, lines: &[KeyboardInput]) -> UserResponse {
    for typed in lines {
        match asker.answer(typed.clone()) {
            Some(Reaction::Respond(to)) => return to,
            Some(Reaction::Say(_)) => {}
            None => panic!("nothing is asked"),
        }
    }
    panic!("{lines:?} is no answer");
}

fn decided(to: UserResponse) -> CallDecision {
    match to {
        UserResponse::Approval { call, attempt, input_hash, decision } => {
            assert_eq!((call.as_str(), attempt, input_hash.as_str()), ("a", 2, "sha256:0"));
            decision
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_answer_names_the_call_as_it_was_shown() {
    let deny =
        |reason: Option<&str>| CallDecision::Deny { scope: ApprovalScope::Once, reason: reason.map(str::to_owned) };
    let allow = |scope| CallDecision::Allow { scope };
    let offer = json!({ "offer": { "kind": "any" } });
    let table = [
        (json!({}), vec![line("y")], allow(ApprovalScope::Once)),
        (json!({}), vec![line("s"), line("w"), line("yes")], allow(ApprovalScope::Once)),
        (offer.clone(), vec![line("s")], allow(ApprovalScope::Session)),
        (offer, vec![line("w")], allow(ApprovalScope::Workspace)),
        (json!({}), vec![line("n too risky")], deny(Some("too risky"))),
        (json!({}), vec![line("n"), line("y")], deny(Some("y"))),
        (json!({}), vec![line("n"), line("")], deny(None)),
        (json!({}), vec![KeyboardInput::End], deny(None)),
        (json!({}), vec![line("n"), KeyboardInput::End], deny(None)),
    ];
    for (more, lines, expected) in table {
        let mut asker = asker(&[requested("a", more)]);
        asker.begin().unwrap();
        assert_eq!(decided(sent(&mut asker, &lines)), expected, "{lines:?}");
        assert!(!asker.is_asking());
    }
}

#[test]
fn one_thing_is_asked_at_a_time_in_the_order_of_asking() {
    let mut asker = asker(&[requested("a", json!({})), requested("b", json!({}))]);
    asker.begin().unwrap();
    assert!(asker.prompt().unwrap().contains("1 more after this one"));
    assert_eq!(sent(&mut asker, &[line("y")]).id(), "a");
    assert!(asker.is_due());
    asker.begin().unwrap();
    assert_eq!(sent(&mut asker, &[line("y")]).id(), "b");
    assert!(!asker.is_due());
}

#[test]
fn what_somebody_else_answered_or_nobody_did_is_taken_back_with_a_word() {
    let resolved = |more: Value| {
        let mut payload = call("a");
        payload
            .as_object_mut()
            .unwrap()
            .extend(json!({ "decision": "deny", "scope": "once" }).as_object().unwrap().clone());
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event("approval.resolved", payload)
    };
    let table = [
        (
            json!({ "end": "answered", "answered_by": { "client_id": "phone", "from": "web" } }),
            "answered by a client over web",
        ),
        (json!({ "end": "expired" }), "nobody answered in time"),
        (json!({ "end": "stopped" }), "the task was stopped"),
        (json!({ "end": "withdrawn" }), "took it back"),
    ];
    for (more, said) in table {
        let mut asker = asker(&[requested("a", json!({}))]);
        asker.begin().unwrap();
        let words = asker.note(&resolved(more)).unwrap();
        assert!(words.contains(said), "{words}");
        assert!(!asker.is_asking() && asker.answer(line("y")).is_none());
    }
}

#[test]
fn what_was_closed_before_its_turn_is_never_asked() {
    let mut payload = call("a");
    payload
        .as_object_mut()
        .unwrap()
        .extend(json!({ "decision": "deny", "scope": "once", "end": "withdrawn" }).as_object().unwrap().clone());
    let asker = asker(&[requested("a", json!({})), event("approval.resolved", payload)]);
    assert!(!asker.is_due());
}

#[test]
fn a_question_is_answered_field_by_field_or_declined() {
    let question = || {
        let bird = json!({ "id": "bird", "label": "Bird", "required": true, "options": [
            { "value": "owl", "label": "Owl" }, { "value": "robin", "label": "Robin" } ] });
        let why = json!({ "id": "why", "label": "Why?" });
        event("question.asked", json!({ "question_id": "q", "message": "Which?", "fields": [bird, why] }))
    };
    let given = |answers: &[(&str, &str)]| {
        QuestionAnswer::Given(answers.iter().map(|(id, value)| ((*id).to_owned(), vec![(*value).to_owned()])).collect())
    };
    let table = [
        (vec![line("2"), line("red")], given(&[("bird", "robin"), ("why", "red")])),
        (vec![line("9"), line(""), line("owl"), line("")], given(&[("bird", "owl")])),
        (vec![line("/decline")], QuestionAnswer::Declined),
        (vec![line("1"), KeyboardInput::End], QuestionAnswer::Declined),
    ];
    for (lines, expected) in table {
        let mut asker = asker(&[question()]);
        let shown = asker.begin().unwrap();
        assert!(shown.contains("? Which?") && shown.contains("2) Robin"), "{shown}");
        match sent(&mut asker, &lines) {
            UserResponse::Question { question, answer } => assert_eq!((question.as_str(), answer), ("q", expected)),
            other => panic!("{other:?}"),
        }
    }
}
