//! Messages of the history, and that the live ones are the same.

use roost_server::cdev::message::{from_event, messages};
use roost_server::cdev::notify::project;
use serde_json::{Value, json};
use testkit::events as support;
use testkit::events::examples;

use super::{SESSION, demo, event, started};

fn content(name: &str, payload: Value) -> (String, Value) {
    let message = serde_json::to_value(from_event(&event(name, payload)).unwrap()).unwrap();
    assert_eq!(message["type"], message["message"]["role"]);
    (message["type"].as_str().unwrap().to_owned(), message["message"]["content"].clone())
}

fn text(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

fn result(content: &str, is_error: bool) -> Value {
    json!([{ "type": "tool_result", "tool_use_id": "tc_1", "content": content, "is_error": is_error }])
}

#[test]
fn each_event_that_says_or_does_something_is_a_message() {
    let failed =
        json!({ "reason": "it died", "error": { "code": "RUNTIME_EXITED", "message": "m", "retryable": true } });
    let cases = [
        ("task.started", started("hello"), "user", text("hello")),
        (
            "model.output.completed",
            json!({ "content": [
                { "type": "text", "text": "Here:" },
                { "type": "code", "code": "1", "language": "python" },
                { "type": "artifact_ref", "artifact_id": "a1", "name": "out.txt" },
                { "type": "artifact_ref", "artifact_id": "a2" },
            ] }),
            "assistant",
            json!([
                { "type": "text", "text": "Here:" },
                { "type": "text", "text": "```python\n1\n```" },
                { "type": "text", "text": "[artifact out.txt: a1]" },
                { "type": "text", "text": "[artifact a2]" },
            ]),
        ),
        (
            "tool.call.requested",
            json!({ "name": "Read", "input": { "file_path": "a" } }),
            "assistant",
            json!([{ "type": "tool_use", "id": "tc_1", "name": "Read", "input": { "file_path": "a" } }]),
        ),
        (
            "tool.call.requested",
            json!({ "name": "shell", "input": "ls" }),
            "assistant",
            json!([{ "type": "tool_use", "id": "tc_1", "name": "shell", "input": { "input": "ls" } }]),
        ),
        ("tool.call.completed", json!({ "name": "Read", "result_preview": "A" }), "user", result("A", false)),
        ("tool.call.completed", json!({ "name": "Read" }), "user", result("", false)),
        (
            "tool.call.completed",
            json!({ "name": "Read", "result_preview": { "n": 1 }, "is_error": true }),
            "user",
            result(r#"{"n":1}"#, true),
        ),
        (
            "tool.call.completed",
            json!({ "name": "Read", "result_preview": [
                { "type": "content", "content": { "type": "text", "text": "A" } },
                { "type": "content", "content": { "type": "text", "text": "B" } },
            ] }),
            "user",
            result("A\nB", false),
        ),
        (
            "tool.call.completed",
            json!({ "name": "Read", "result_preview": "A", "result_ref": { "artifact_id": "a1", "size_bytes": 9000 } }),
            "user",
            result("A… [cut: the whole is artifact a1 of 9000 bytes]", false),
        ),
        ("tool.call.denied", json!({ "name": "Read", "reason": "not here" }), "user", result("not here", true)),
        ("task.failed", failed, "assistant", text("The task failed (RUNTIME_EXITED): it died")),
        (
            "question.resolved",
            json!({ "question_id": "q_1", "outcome": "answered", "answers": { "db": ["pg"], "why": ["a", "b"] } }),
            "user",
            json!([{ "type": "tool_result", "tool_use_id": "q_1", "content": "db: pg\nwhy: a, b", "is_error": false }]),
        ),
        (
            "question.resolved",
            json!({ "question_id": "q_1", "outcome": "declined", "reason": "nobody is here" }),
            "user",
            json!([{ "type": "tool_result", "tool_use_id": "q_1",
                "content": "The user did not answer: nobody is here", "is_error": true }]),
        ),
    ];
    for (name, payload, speaker, expected) in cases {
        assert_eq!(content(name, payload), (speaker.to_owned(), expected), "{name}");
    }
}

#[test]
fn several_fields_of_a_question_are_several_questions_and_none_is_one() {
    let asked = |fields: Value| {
        let (_, content) =
            content("question.asked", json!({ "question_id": "q_1", "message": "Set up?", "fields": fields }));
        content[0]["input"]["questions"].as_array().unwrap().iter().map(|q| q["question"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        asked(json!([{ "id": "a", "label": "A" }, { "id": "b", "label": "B" }])),
        ["Set up? (A)", "Set up? (B)"]
    );
    assert_eq!(asked(json!([{ "id": "a", "label": "A" }])), ["Set up?"]);
    assert_eq!(asked(json!([])), ["Set up?"]);
}

#[test]
fn a_call_that_asks_a_question_is_shown_as_the_question_only() {
    let name = "AskUserQuestion";
    for (event_name, payload) in [
        ("tool.call.requested", json!({ "name": name, "input": {} })),
        ("tool.call.completed", json!({ "name": name })),
        ("tool.call.denied", json!({ "name": name, "reason": "" })),
    ] {
        assert_eq!(from_event(&event(event_name, payload)), None);
    }
}

#[test]
fn an_answer_without_words_is_no_message() {
    for blocks in [json!([]), json!([{ "type": "text", "text": "" }])] {
        assert_eq!(from_event(&event("model.output.completed", json!({ "content": blocks }))), None);
    }
}

#[test]
fn the_model_is_named_where_it_speaks() {
    let model = |name, payload| {
        let mut event = event(name, payload);
        event.runtime.model = Some("gpt-6".into());
        from_event(&event).unwrap().message.model
    };
    let said = json!({ "content": [{ "type": "text", "text": "hi" }] });
    assert_eq!(model("model.output.completed", said).as_deref(), Some("gpt-6"));
    assert_eq!(model("task.started", started("hi")), None);
    let failed = json!({ "reason": "r", "error": { "code": "INTERNAL", "message": "m", "retryable": true } });
    assert_eq!(model("task.failed", failed), None, "the model did not say that it failed");
}

#[test]
fn a_message_has_the_id_of_its_event_and_a_uuid_of_its_own() {
    let bodies = [("task.started", started("same")), ("task.started", started("same"))];
    let events: Vec<_> =
        (1..).zip(bodies).map(|(seq, (name, payload))| support::event(seq, support::body(name, payload))).collect();
    let found = messages(&events);
    assert_eq!(found.iter().map(|message| message.id).collect::<Vec<_>>(), [1, 2]);
    assert_ne!(found[0].uuid, found[1].uuid);
    assert_eq!(found, messages(&events));
    let mut elsewhere = events[0].clone();
    elsewhere.trace.session_id = "s2".into();
    assert_ne!(from_event(&elsewhere).unwrap().uuid, found[0].uuid);
}

/// A live block in the words of the history.
fn in_the_historys_words(block: &Value) -> Value {
    match block["type"].as_str() {
        Some("tool_use") => {
            let (id, name, input) = (&block["tool_id"], &block["tool_name"], &block["tool_input"]);
            json!({ "type": "tool_use", "id": id, "name": name, "input": input })
        }
        _ => block.clone(),
    }
}

#[test]
fn the_history_and_the_live_messages_are_the_same() {
    for event in demo().into_iter().chain(examples()) {
        let live: Vec<_> =
            project(&event, &SESSION).into_iter().filter(|note| note.event == "claude_message").collect();
        let said: Vec<_> = live.iter().filter(|note| note.params["content"] != json!([])).collect();
        assert!(live.len() <= 1, "{event:?}");
        assert_eq!(said.len(), usize::from(from_event(&event).is_some()), "{event:?}");
        if let (Some(live), Some(stored)) = (said.first(), from_event(&event)) {
            let stored = serde_json::to_value(stored).unwrap();
            let blocks: Vec<_> = live.params["content"].as_array().unwrap().iter().map(in_the_historys_words).collect();
            assert_eq!(json!(blocks), stored["message"]["content"]);
            for field in ["type", "uuid", "timestamp", "session_id"] {
                assert_eq!(live.params[field], stored[field]);
            }
        }
    }
}
