//! Tables of events and the updates that an editor gets for them.

use roost_model::event::RuntimeRef;
use roost_model::ids::SessionId;
use roost_model::runtime::RuntimeName;
use roost_model::time::Timestamp;
use serde_json::{Value, json};

use super::*;

/// Events of one task, from their types and payloads.
fn events(all: Value) -> Vec<NormalizedEvent> {
    let event = |(seq, event): (usize, &Value)| {
        let runtime = serde_json::to_value(RuntimeRef::new(RuntimeName::Demo)).unwrap();
        let trace = json!({ "session_id": SessionId::from("s"), "task_id": "task_1" });
        let time = serde_json::to_value(Timestamp::from_millis(0)).unwrap();
        let whole = json!({ "schema_version": 1, "seq": seq + 1, "time": time, "type": event["type"], "trace": trace,
            "runtime": runtime, "payload": event["payload"] });
        serde_json::from_value(whole).unwrap()
    };
    all.as_array().unwrap().iter().enumerate().map(event).collect()
}

fn delta(kind: &str, block: &str, text: &str) -> Value {
    json!({ "type": "model.output.delta", "payload": { "kind": kind, "block_id": block, "delta": text } })
}

fn whole(text: &str) -> Value {
    json!({ "type": "model.output.completed", "payload": { "content": [{ "type": "text", "text": text }] } })
}

fn call(kind: &str, more: Value) -> Value {
    let mut payload = json!({ "tool_call_id": "call_1", "attempt": 1, "input_hash": "sha256:0" });
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({ "type": kind, "payload": payload })
}

fn project(projection: &mut Projection, all: Value) -> Vec<Value> {
    let updates = events(all).iter().flat_map(|event| projection.project(event, true)).collect::<Vec<_>>();
    updates.iter().map(|update| serde_json::to_value(update).unwrap()).collect()
}

/// The kind and text of each update.
fn texts(updates: &[Value]) -> Vec<String> {
    let line = |update: &Value| {
        let kind = update["sessionUpdate"].as_str().unwrap();
        format!("{kind} {}", update["content"]["text"].as_str().unwrap_or_default())
    };
    updates.iter().map(line).collect()
}

#[test]
fn an_answer_is_shown_once_whether_it_came_in_pieces_or_not() {
    let (a, b) = (delta("text_delta", "b", "Hel"), delta("text_delta", "b", "lo"));
    for (all, live, replayed) in [
        (json!([whole("Hello")]), vec!["agent_message_chunk Hello"], vec!["agent_message_chunk Hello"]),
        (
            json!([a, b, whole("Hello"), whole("Bye")]),
            vec!["agent_message_chunk Hel", "agent_message_chunk lo", "agent_message_chunk Bye"],
            vec!["agent_message_chunk Hello", "agent_message_chunk Bye"],
        ),
        (
            json!([delta("reasoning_delta", "r", "hm"), delta("json_delta", "j", "{"), a]),
            vec!["agent_thought_chunk hm", "agent_message_chunk Hel"],
            vec!["agent_thought_chunk hm"],
        ),
    ] {
        assert_eq!(texts(&project(&mut Projection::new(Shows::default()), all.clone())), live, "{all}");
        assert_eq!(texts(&project(&mut Projection::replay(Shows::default()), all.clone())), replayed, "{all}");
    }
}

#[test]
fn an_answer_that_is_being_written_goes_on_after_a_replay_without_a_repetition() {
    let mut projection = Projection::replay(Shows::default());
    assert!(project(&mut projection, json!([delta("text_delta", "b", "Hel")])).is_empty());
    let rest: Vec<_> = projection.end_replay().iter().map(|update| serde_json::to_value(update).unwrap()).collect();
    assert_eq!(texts(&rest), ["agent_message_chunk Hel"]);
    let live = project(&mut projection, json!([delta("text_delta", "b", "lo"), whole("Hello"), whole("Bye")]));
    assert_eq!(texts(&live), ["agent_message_chunk lo", "agent_message_chunk Bye"]);
}

#[test]
fn an_unfinished_answer_of_an_ended_task_is_in_the_replay() {
    let all = json!([
        delta("text_delta", "b", "Hel"),
        { "type": "task.stopped", "payload": { "reason": "cancelled" } },
    ]);
    assert_eq!(texts(&project(&mut Projection::replay(Shows::default()), all)), ["agent_message_chunk Hel"]);
}

#[test]
fn a_prompt_is_shown_to_everybody_but_its_sender() {
    let messages = json!([{ "role": "user", "content": [{ "type": "text", "text": "hi" }] }]);
    let started = json!([{ "type": "task.started", "payload": {
        "messages": messages, "permission_mode": "ask", "mode": "ask", "interaction_mode": "interactive",
    } }]);
    let event = &events(started)[0];
    assert_eq!(Projection::new(Shows::default()).project(event, true).len(), 0);
    for updates in [
        Projection::new(Shows::default()).project(event, false),
        Projection::replay(Shows::default()).project(event, true),
    ] {
        let update = serde_json::to_value(&updates[0]).unwrap();
        assert_eq!(
            (&update["sessionUpdate"], &update["content"]["text"]),
            (&json!("user_message_chunk"), &json!("hi"))
        );
        assert_eq!(update["_meta"]["roost"]["taskId"], "task_1");
    }
}

#[test]
fn a_tool_call_is_announced_with_its_diff_and_ends_with_its_result() {
    let all = json!([
        call(
            "tool.call.requested",
            json!({
                "name": "Write", "kind": "edit", "title": "harmless",
                "input": { "path": "/w/a.txt", "content": "new\n" },
            })
        ),
        call("tool.call.started", json!({})),
        call(
            "tool.call.completed",
            json!({
                "name": "Write", "executed_by": "runtime", "execution_env": "unknown",
                "policy_snapshot": { "decision": "allow", "sources": [] },
                "result_preview": { "stdout": "done" }, "is_error": false,
            })
        ),
    ]);
    insta::assert_json_snapshot!(project(&mut Projection::new(Shows::default()), all));
}

#[test]
fn a_terminal_is_shown_with_its_call_whichever_comes_first_and_no_text_replaces_it() {
    let requested = json!([call(
        "tool.call.requested",
        json!({ "name": "Bash", "kind": "execute", "input": { "command": "ls" } })
    )]);
    let rest = json!([
        call("tool.output.delta", json!({ "stream": "stdout", "delta": "x" })),
        call(
            "tool.call.completed",
            json!({
                "name": "Bash", "executed_by": "runtime", "execution_env": "unknown",
                "policy_snapshot": { "decision": "allow", "sources": [] },
                "result_preview": { "output": "x" }, "is_error": true,
            })
        ),
    ]);
    let show = |projection: &mut Projection| {
        let updates = projection.show_terminal(&ToolCallId::from("call_1"), "mine".into());
        updates.iter().map(|update| serde_json::to_value(update).unwrap()).collect::<Vec<_>>()
    };
    for is_early in [true, false] {
        let mut projection = Projection::new(Shows::default());
        let mut updates = if is_early { show(&mut projection) } else { Vec::new() };
        updates.extend(project(&mut projection, requested.clone()));
        updates.extend(if is_early { Vec::new() } else { show(&mut projection) });
        updates.extend(project(&mut projection, rest.clone()));
        let contents: Vec<_> = updates.iter().filter_map(|update| update.get("content")).collect();
        assert_eq!(contents, [&json!([{ "type": "terminal", "terminalId": "mine" }])], "{updates:#?}");
        assert_eq!(updates.last().unwrap()["status"], "failed");
    }
}

#[test]
fn the_cost_that_an_editor_is_told_is_that_of_the_whole_session() {
    let context = json!({ "used": 10, "size": 200 });
    let all = json!([
        { "type": "usage.reported", "payload": { "cost_usd": 0.5 } },
        { "type": "usage.reported", "payload": { "cost_usd": 0.25, "context": context } },
        { "type": "usage.reported", "payload": { "context": context } },
    ]);
    let updates = project(&mut Projection::new(Shows::default()).after_cost(1.0), all);
    let costs: Vec<_> = updates.iter().map(|update| update["cost"]["amount"].as_f64().unwrap()).collect();
    assert_eq!(costs, [1.75, 1.75]);
}

#[test]
fn output_of_a_running_tool_is_repeated_only_when_it_has_doubled() {
    let piece = || call("tool.output.delta", json!({ "stream": "stdout", "delta": "x".repeat(100) }));
    let all: Vec<_> = (0..64).map(|_| piece()).collect();
    let updates = project(&mut Projection::new(Shows::default()), json!(all));
    let lengths: Vec<_> =
        updates.iter().map(|update| update["content"][0]["content"]["text"].as_str().unwrap().len()).collect();
    assert_eq!(lengths, [100, 200, 400, 800, 1600, 3200, 6400]);
}

#[test]
fn the_rest_of_what_happens_has_updates_of_its_own() {
    let all = json!([
        call("tool.call.denied", json!({
            "name": "Bash", "reason": "not now", "policy_snapshot": { "decision": "deny", "sources": [] },
        })),
        { "type": "plan.updated", "payload": {
            "entries": [{ "content": "read", "priority": "high", "status": "in_progress" }],
        } },
        { "type": "usage.reported", "payload": { "input_tokens": 3 } },
        { "type": "usage.reported", "payload": { "cost_usd": 0.5, "context": { "used": 10, "size": 200 } } },
        { "type": "session.updated", "payload": { "title": "A title" } },
        { "type": "question.asked", "payload": {
            "question_id": "q", "message": "Which?",
            "fields": [{ "id": "f", "label": "Colour", "options": [{ "value": "r", "label": "red" }] }],
        } },
        { "type": "runtime.notice", "payload": { "level": "info", "source": "stderr", "message": "noise" } },
        { "type": "runtime.notice", "payload": { "level": "warning", "source": "engine", "message": "look" } },
    ]);
    insta::assert_json_snapshot!(project(&mut Projection::new(Shows { notices: true, ..Shows::default() }), all));
}
