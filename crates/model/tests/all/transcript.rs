//! The transcript as the sum of events, and its form as one text.

use roost_model::content::TranscriptMessage;
use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::transcript::{flatten, messages, transcript};
use serde_json::{Value, json};
use testkit::events::examples;
use testkit::events::{body, event};

fn call(id: &str, mut payload: Value) -> Value {
    payload["tool_call_id"] = json!(id);
    payload["attempt"] = json!(1);
    payload["input_hash"] = json!("sha256:00");
    payload
}

fn started(prompt: &str) -> EventBody {
    let message = json!({ "role": "user", "content": [{ "type": "text", "text": prompt }] });
    body(
        "task.started",
        json!({ "messages": [message], "permission_mode": "ask", "mode": "ask", "interaction_mode": "interactive" }),
    )
}

fn requested(id: &str) -> EventBody {
    body("tool.call.requested", call(id, json!({ "name": "read", "input": { "path": "a" } })))
}

fn completed(id: &str, result: Value) -> EventBody {
    let mut payload = call(
        id,
        json!({ "name": "read", "executed_by": "runtime", "execution_env": "runtime_internal",
            "policy_snapshot": { "decision": "allow", "sources": [] } }),
    );
    payload.as_object_mut().unwrap().extend(result.as_object().unwrap().clone());
    body("tool.call.completed", payload)
}

fn denied(id: &str) -> EventBody {
    let policy = json!({ "decision": "deny", "sources": [] });
    body("tool.call.denied", call(id, json!({ "name": "read", "reason": "not here", "policy_snapshot": policy })))
}

fn answered(text: &str) -> EventBody {
    body("model.output.completed", json!({ "content": [{ "type": "text", "text": text }] }))
}

fn tool_result(id: &str, result: Value) -> Value {
    json!([{ "role": "tool", "content": [{ "type": "tool_result", "tool_call_id": id, "result": result }] }])
}

#[test]
fn each_event_adds_its_messages() {
    let cases = [
        (started("hello"), json!([{ "role": "user", "content": [{ "type": "text", "text": "hello" }] }])),
        (
            requested("tc_1"),
            json!([{ "role": "assistant", "content": [
                { "type": "tool_use", "tool_call_id": "tc_1", "name": "read", "input": { "path": "a" } }] }]),
        ),
        (completed("tc_1", json!({ "result_preview": { "lines": 3 } })), tool_result("tc_1", json!({ "lines": 3 }))),
        (completed("tc_1", json!({})), tool_result("tc_1", json!(null))),
        (
            completed(
                "tc_1",
                json!({ "result_ref": { "artifact_id": "a1", "size_bytes": 9000 }, "result_preview": "x" }),
            ),
            tool_result("tc_1", json!({ "artifact_ref": { "artifact_id": "a1", "size_bytes": 9000 }, "preview": "x" })),
        ),
        (
            completed("tc_1", json!({ "result_ref": { "artifact_id": "a1" } })),
            tool_result("tc_1", json!({ "artifact_ref": { "artifact_id": "a1" }, "preview": null })),
        ),
        (
            completed("tc_1", json!({ "result_preview": "no such file", "is_error": true })),
            json!([{ "role": "tool", "content": [
                { "type": "tool_result", "tool_call_id": "tc_1", "result": "no such file", "is_error": true }] }]),
        ),
        (
            denied("tc_1"),
            json!([{ "role": "tool", "content": [
                { "type": "tool_result", "tool_call_id": "tc_1", "result": "not here", "is_error": true }] }]),
        ),
        (
            body(
                "model.output.completed",
                json!({ "content": [
                    { "type": "text", "text": "Here:" },
                    { "type": "code", "code": "1", "language": "python" },
                    { "type": "artifact_ref", "artifact_id": "a1", "name": "n" },
                ] }),
            ),
            json!([{ "role": "assistant", "content": [
                { "type": "text", "text": "Here:" },
                { "type": "code", "code": "1", "language": "python" },
                { "type": "artifact_ref", "artifact_id": "a1", "name": "n" },
            ] }]),
        ),
    ];
    for (body, expected) in cases {
        assert_eq!(serde_json::to_value(messages(&body)).unwrap(), expected, "{body:?}");
    }
}

#[test]
fn only_what_was_said_and_done_is_in_the_transcript() {
    let speaking: Vec<_> = examples()
        .iter()
        .filter(|event| !messages(&event.body).is_empty())
        .map(|event| event.body.name().to_owned())
        .collect();
    let expected = [
        "task.started",
        "model.output.completed",
        "tool.call.requested",
        "tool.call.denied",
        "tool.call.completed",
        "task.steered",
    ];
    assert_eq!(speaking, expected);
}

#[test]
fn a_transcript_has_the_order_of_its_events_and_no_deltas() {
    let delta = body("model.output.delta", json!({ "kind": "text_delta", "block_id": "b", "delta": "do" }));
    let bodies = [
        started("read a"),
        delta.clone(),
        requested("tc_1"),
        requested("tc_2"),
        denied("tc_2"),
        completed("tc_1", json!({ "result_preview": "A" })),
        delta,
        answered("done"),
        started("thanks"),
        answered("welcome"),
    ];
    let events: Vec<NormalizedEvent> = (1..).zip(bodies).map(|(seq, body)| event(seq, body)).collect();
    assert_eq!(
        flatten(&transcript(&events)),
        "USER: read a\n\n\
         ASSISTANT: [called read with {\"path\":\"a\"}]\n\n\
         ASSISTANT: [called read with {\"path\":\"a\"}]\n\n\
         TOOL: not here\n\n\
         TOOL: A\n\n\
         ASSISTANT: done\n\n\
         USER: thanks\n\n\
         ASSISTANT: welcome"
    );
}

#[test]
fn a_flat_transcript_has_one_line_per_block_and_a_blank_one_between_messages() {
    let messages: Vec<TranscriptMessage> = serde_json::from_value(json!([
        { "role": "system", "content": [{ "type": "text", "text": "Be brief." }] },
        { "role": "user", "content": [
            { "type": "text", "text": "Run it:" },
            { "type": "code", "code": "print(1)", "language": "python" },
            { "type": "artifact_ref", "artifact_id": "a1", "name": "data.csv" },
            { "type": "artifact_ref", "artifact_id": "a2" },
        ] },
        { "role": "tool", "content": [{ "type": "tool_result", "tool_call_id": "tc_1", "result": { "code": 0 } }] },
        { "role": "assistant", "content": [] },
    ]))
    .unwrap();
    let expected = "SYSTEM: Be brief.\n\n\
        USER: Run it:\nprint(1)\n[artifact data.csv]\n[artifact a2]\n\n\
        TOOL: {\"code\":0}\n\n\
        ASSISTANT: ";
    assert_eq!(flatten(&messages), expected);
    assert_eq!(flatten(&[]), "");
}
