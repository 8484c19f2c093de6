//! Messages of the history, and that the live ones are the same.

use roost_model::event::NormalizedEvent;
use roost_server::cdev::message::{from_event, messages};
use roost_server::cdev::prelude::Prelude;
use serde_json::{Value, json};
use testkit::events as support;
use testkit::events::examples;

use super::{SESSION, demo, event, project, project_all, started};

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
    for events in [demo(), examples()] {
        let notes = project_all(&events).into_iter().flat_map(|(_, notes)| notes);
        let said: Vec<_> = notes
            .filter(|note| note.event == "claude_message" && note.params["content"] != json!([]))
            .map(|note| note.params)
            .collect();
        let stored: Vec<_> = messages(&events).iter().map(|message| serde_json::to_value(message).unwrap()).collect();
        assert_eq!(said.len(), stored.len());
        for (live, stored) in said.iter().zip(stored) {
            let blocks: Vec<_> = live["content"].as_array().unwrap().iter().map(in_the_historys_words).collect();
            assert_eq!(json!(blocks), stored["message"]["content"]);
            for field in ["type", "uuid", "timestamp", "session_id"] {
                assert_eq!(live[field], stored[field]);
            }
        }
    }
}

/// Pieces of a turn: thinking in two blocks, an answer in two pieces, and the answer as a whole.
fn pieces() -> Vec<NormalizedEvent> {
    let delta = |kind: &str, block: &str, text: &str| {
        ("model.output.delta", json!({ "kind": kind, "block_id": block, "delta": text }))
    };
    let answer = json!({ "content": [{ "type": "text", "text": "done" }] });
    let bodies = [
        ("task.started", started("go")),
        delta("reasoning_delta", "b1", "first "),
        delta("reasoning_delta", "b1", "thought"),
        delta("reasoning_delta", "b2", "second thought"),
        delta("text_delta", "b3", "do"),
        delta("text_delta", "b3", "ne"),
        ("model.output.completed", answer),
        ("task.completed", json!({ "reason": "end_turn" })),
    ];
    (1..).zip(bodies).map(|(seq, (name, payload))| support::event(seq, support::body(name, payload))).collect()
}

#[test]
fn what_the_agent_thought_is_a_message_of_its_own_before_what_it_said() {
    let told: Vec<_> = messages(&pieces())
        .iter()
        .map(|message| (message.id, serde_json::to_value(&message.message.content).unwrap()))
        .collect();
    let thinking = |text: &str| json!([{ "type": "thinking", "text": text }]);
    let expected =
        [(1, text("go")), (2, thinking("first thought")), (4, thinking("second thought")), (7, text("done"))];
    assert_eq!(told, expected);
    let notes: Vec<_> = project_all(&pieces()).into_iter().flat_map(|(_, notes)| notes).collect();
    let thought: Vec<_> = notes
        .iter()
        .filter(|note| note.event == "claude_log")
        .map(|note| note.params["parsed"]["is_thinking"].clone())
        .collect();
    assert_eq!(json!(thought), json!([true, true, false, null]));
}

#[test]
fn the_uuid_of_an_answer_is_known_with_its_first_piece() {
    let (events, mut prelude) = (pieces(), Prelude::default());
    let uuids: Vec<_> = events
        .iter()
        .map(|event| {
            prelude.push(event);
            prelude.answer_uuid(event)
        })
        .collect();
    let said = messages(&events).into_iter().find(|message| message.id == 7).unwrap();
    assert_eq!(uuids[3], None);
    assert_eq!((uuids[4].as_ref(), uuids[5].as_ref()), (Some(&said.uuid), Some(&said.uuid)));
    assert_eq!(uuids[6], None, "what is written next is another answer");
}

#[test]
fn a_message_that_ends_with_a_call_says_that_the_agent_stopped_for_it() {
    let call = json!({ "name": "Bash", "input": { "command": "ls" } });
    let message = from_event(&event("tool.call.requested", call.clone())).unwrap();
    assert_eq!(message.message.stop_reason.as_deref(), Some("tool_use"));
    let notes = project(&event("tool.call.requested", call), &SESSION);
    assert_eq!(notes[0].params["stop_reason"], "tool_use");
}
