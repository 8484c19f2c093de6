use roost_model::event::{NewEvent, RuntimeRef, Trace};
use roost_model::ids::SessionId;
use roost_model::runtime::RuntimeName;
use roost_model::time::Timestamp;
use serde_json::{Value, json};

use super::*;

const USUAL: Show = Show { prompts: false, all: false, asks: true };

/// What these events look like.
fn rendered(show: Show, events: &[(&str, Value)]) -> String {
    let mut renderer = Renderer::new(Style::PLAIN, show);
    let mut out = Vec::new();
    for (name, payload) in events {
        renderer.event(&mut out, &event(name, payload)).unwrap();
    }
    String::from_utf8(out).unwrap()
}

fn event(name: &str, payload: &Value) -> NormalizedEvent {
    let body = EventBody::Other { name: name.into(), payload: payload.clone() };
    let trace = Trace::session(SessionId::from("s"));
    let time = Timestamp::from_millis(0);
    let event = NewEvent { time, trace, runtime: RuntimeRef::new(RuntimeName::Demo), body }.numbered(7);
    // Through JSON the body becomes the one that its name says.
    serde_json::from_value(serde_json::to_value(event).unwrap()).unwrap()
}

fn delta(kind: &str, text: &str) -> (&'static str, Value) {
    ("model.output.delta", json!({ "kind": kind, "block_id": "b", "delta": text }))
}

fn tool(name: &'static str, id: &str, more: Value) -> (&'static str, Value) {
    let mut payload = json!({ "tool_call_id": id, "attempt": 1, "input_hash": "sha256:0" });
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    (name, payload)
}

fn requested(id: &str, title: &str) -> (&'static str, Value) {
    tool("tool.call.requested", id, json!({ "name": "t", "input": {}, "title": title }))
}

fn completed(id: &str, more: Value) -> (&'static str, Value) {
    let snapshot = json!({ "decision": "allow", "sources": [] });
    let mut payload = json!({
        "name": "t", "executed_by": "runtime", "execution_env": "unknown", "policy_snapshot": snapshot,
    });
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    tool("tool.call.completed", id, payload)
}

#[test]
fn thoughts_and_answers_have_lines_of_their_own() {
    let events = [
        delta("reasoning_delta", "hm"),
        delta("reasoning_delta", "m"),
        delta("text_delta", "yes"),
        delta("text_delta", "!"),
        ("task.completed", json!({ "reason": "end_turn" })),
    ];
    assert_eq!(rendered(USUAL, &events), "hmm\nyes!\n✓ completed (end_turn)\n");
}

#[test]
fn a_whole_answer_is_shown_only_where_its_pieces_were_not() {
    let whole = |text: &str| ("model.output.completed", json!({ "content": [{ "type": "text", "text": text }] }));
    let events = [delta("text_delta", "one\n"), whole("one\n"), whole("two\n")];
    assert_eq!(rendered(USUAL, &events), "one\ntwo\n");
}

#[test]
fn a_tool_call_shows_its_decision_a_little_output_and_its_end() {
    let output = |text: &str| tool("tool.output.delta", "a", json!({ "stream": "stdout", "delta": text }));
    let events = [
        requested("a", "Print"),
        tool("tool.call.policy_evaluated", "a", json!({ "source": "codesdk", "result": "allow", "rule": "yolo" })),
        tool("tool.call.approved", "a", json!({})),
        output("1\n2"),
        output("2\n3\n4\n5\n6\n7"),
        completed("a", json!({})),
    ];
    let expected =
        "→ t() · Print\n  approved (rule yolo)\n  │ 1\n  │ 22\n  │ 3\n  │ 4\n  │ 5\n  … 2 more lines\n✓ t() · Print\n";
    assert_eq!(rendered(USUAL, &events), expected);
}

#[test]
fn a_decision_names_its_call_when_another_one_came_in_between() {
    let snapshot =
        json!({ "decision": "deny", "sources": [{ "source": "user", "result": "deny", "rule": "no_approver" }] });
    let denied = json!({ "name": "t", "reason": "nobody", "policy_snapshot": snapshot });
    let events = [
        requested("a", "First"),
        requested("b", "Second"),
        tool("tool.call.denied", "a", denied.clone()),
        tool("tool.call.denied", "b", denied),
    ];
    let expected = "→ t() · First\n→ t() · Second\n  t() · First: denied (rule no_approver): nobody\n  \
                    t() · Second: denied (rule no_approver): nobody\n";
    assert_eq!(rendered(USUAL, &events), expected);
}

#[test]
fn a_failed_call_says_why() {
    let events = [requested("a", "Cut"), completed("a", json!({ "is_error": true, "result_preview": "no knife" }))];
    assert_eq!(rendered(USUAL, &events), "→ t() · Cut\n✗ t() · Cut: no knife\n");
}

#[test]
fn a_plan_shows_only_what_moved() {
    let plan = |first: &str, second: &str| {
        let step = |content: &str, status: &str| json!({ "content": content, "priority": "low", "status": status });
        ("plan.updated", json!({ "entries": [step("look", first), step("do", second)] }))
    };
    let events = [plan("pending", "pending"), plan("in_progress", "pending"), plan("completed", "in_progress")];
    assert_eq!(rendered(USUAL, &events), "[ ] look\n[ ] do\n[>] look\n[x] look\n[>] do\n");
}

#[test]
fn a_failure_shows_its_code_its_reason_and_what_the_agent_said() {
    let error = json!({
        "code": "RUNTIME_EXITED", "message": "it left", "retryable": true, "stderr_tail": "oh\x1b[2J\nno\n",
    });
    let events = [("task.failed", json!({ "reason": "it left", "error": error }))];
    let expected = "✗ failed (RUNTIME_EXITED): it left\n  stderr: oh␛[2J\n  stderr: no\n";
    assert_eq!(rendered(USUAL, &events), expected);
}

#[test]
fn usage_is_shown_at_the_end() {
    let events = [
        ("usage.reported", json!({ "input_tokens": 3, "output_tokens": 4, "cost_usd": 0.5 })),
        ("task.stopped", json!({ "reason": "enough" })),
    ];
    assert_eq!(rendered(USUAL, &events), "■ stopped (enough)  3 tokens in, 4 out, $0.5000\n");
}

#[test]
fn what_is_only_good_to_know_is_shown_when_asked_for() {
    let notice = |level: &str| ("runtime.notice", json!({ "level": level, "source": "stderr", "message": level }));
    let events =
        [notice("info"), notice("warning"), ("session.closed", json!({ "reason": "over" })), ("x.y", json!({}))];
    assert_eq!(rendered(USUAL, &events), "! warning\n");
    let all = Show { all: true, ..USUAL };
    assert_eq!(rendered(all, &events), "· info\n! warning\nsession closed: over\n7 x.y\n");
}

#[test]
fn a_message_that_roost_does_not_know_is_shown_when_asked_for() {
    let payload = json!({ "level": "warning", "source": "protocol", "message": "a message that Roost does not know" });
    for (all, raw, expected) in [(false, None, true), (false, Some(json!({})), false), (true, Some(json!({})), true)] {
        let mut notice = event("runtime.notice", &payload);
        notice.runtime.raw = raw;
        let mut out = Vec::new();
        Renderer::new(Style::PLAIN, Show { all, ..USUAL }).event(&mut out, &notice).unwrap();
        assert_eq!(!out.is_empty(), expected, "{notice:?}");
    }
}

#[test]
fn a_log_shows_what_the_user_said() {
    let message = json!({ "role": "user", "content": [{ "type": "text", "text": "do\nit" }] });
    let started = json!({
        "messages": [message], "permission_mode": "ask", "mode": "ask", "interaction_mode": "non_interactive",
    });
    let show = Show { prompts: true, all: false, asks: true };
    assert_eq!(rendered(show, &[("task.started", started.clone())]), "> do\n  it\n");
    assert_eq!(rendered(USUAL, &[("task.started", started)]), "");
}
