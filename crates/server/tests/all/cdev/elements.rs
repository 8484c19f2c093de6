//! Elements of a screen, and how calls get their ends.

use roost_rpc::element::Element;
use roost_server::cdev::element::elements;
use serde_json::{Value, json};
use testkit::events as support;

use super::{body, started};

/// The elements of these events as JSON, without times.
fn shown(events: &[(&str, Value)]) -> Vec<Value> {
    let events: Vec<_> =
        (1..).zip(events).map(|(seq, (name, payload))| support::event(seq, body(name, payload.clone()))).collect();
    let element = |element: &Element| {
        let mut element = serde_json::to_value(element).unwrap();
        element.as_object_mut().unwrap().remove("timestamp");
        element
    };
    elements(&events).iter().map(element).collect()
}

fn statuses(events: &[(&str, Value)]) -> Vec<(String, Value)> {
    let shown = shown(events);
    let line = |element: &Value| {
        let content = &element["content"];
        let what = content.get("status").or(content.get("message")).or(content.get("text")).unwrap_or(&Value::Null);
        (element["type"].as_str().unwrap().to_owned(), what.clone())
    };
    shown.iter().map(line).collect()
}

fn requested() -> (&'static str, Value) {
    ("tool.call.requested", json!({ "name": "Bash", "kind": "execute", "input": { "command": "ls" } }))
}

#[test]
fn a_call_and_its_result_are_two_elements() {
    let done = ("tool.call.completed", json!({ "name": "Bash", "result_preview": "a.txt\nb.txt\n" }));
    let expected = json!([
        { "id": "elem_1", "type": "tool_call", "content": {
            "tool": "Bash", "tool_id": "tc_1", "display": "Bash(ls)", "params": { "command": "ls" },
            "status": "completed", "duration_ms": 1 } },
        { "id": "elem_2", "type": "tool_result", "content": {
            "tool_call_id": "tc_1", "tool_name": "Bash", "is_error": false, "summary": "a.txt",
            "full_content": "a.txt\nb.txt\n", "line_count": 2, "expandable": true, "truncated": false } },
    ]);
    assert_eq!(json!(shown(&[requested(), done])), expected);
}

#[test]
fn a_call_has_the_status_that_its_events_tell() {
    let done = |is_error: bool| ("tool.call.completed", json!({ "name": "Bash", "is_error": is_error }));
    let denied = ("tool.call.denied", json!({ "name": "Bash", "reason": "no" }));
    let cases =
        [(None, "running"), (Some(done(false)), "completed"), (Some(done(true)), "error"), (Some(denied), "error")];
    for (end, status) in cases {
        let events: Vec<_> = std::iter::once(requested()).chain(end).collect();
        assert_eq!(shown(&events)[0]["content"]["status"], status);
    }
}

#[test]
fn a_call_that_the_end_of_the_task_cuts_off_is_interrupted() {
    let closed =
        ("tool.call.completed", json!({ "name": "Bash", "is_error": true, "result_preview": "stopped: user" }));
    let denied = ("tool.call.denied", json!({ "name": "Bash", "reason": "stopped: user" }));
    let stopped = ("task.stopped", json!({ "reason": "user" }));
    let expected = [("tool_call".to_owned(), json!("interrupted")), ("interrupted".to_owned(), json!("stopped: user"))];
    for events in [
        vec![requested(), closed, stopped.clone()],
        vec![requested(), denied, stopped.clone()],
        vec![requested(), stopped],
    ] {
        assert_eq!(statuses(&events), expected, "{events:?}");
    }
}

#[test]
fn a_call_that_failed_before_a_stop_keeps_its_result() {
    let failed = ("tool.call.completed", json!({ "name": "Bash", "is_error": true, "result_preview": "no such file" }));
    let shown = statuses(&[requested(), failed, ("task.stopped", json!({ "reason": "user" }))]);
    let types: Vec<_> = shown.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(types, ["tool_call", "tool_result", "interrupted"]);
    assert_eq!(shown[0].1, "error");
}

#[test]
fn a_failed_task_is_never_shown_as_done() {
    let failed =
        json!({ "reason": "it died", "error": { "code": "RUNTIME_EXITED", "message": "m", "retryable": true } });
    let expected =
        [("user_input".to_owned(), json!("hello")), ("interrupted".to_owned(), json!("task failed: it died"))];
    assert_eq!(statuses(&[("task.started", started("hello")), ("task.failed", failed)]), expected);
}

#[test]
fn pieces_of_thinking_are_one_element_where_the_thinking_began() {
    let delta = |kind: &str, block: &str, delta: &str| {
        ("model.output.delta", json!({ "kind": kind, "block_id": block, "delta": delta }))
    };
    let shown = shown(&[
        delta("reasoning_delta", "b1", "First, "),
        delta("reasoning_delta", "b1", "this."),
        delta("text_delta", "b2", "Said."),
        ("model.output.completed", json!({ "content": [{ "type": "text", "text": "Said." }] })),
        delta("reasoning_delta", "b3", "Then that."),
    ]);
    let expected = json!([
        { "id": "elem_1", "type": "thinking", "content": { "text": "First, this.", "collapsed": true } },
        { "id": "elem_4", "type": "assistant_text", "content": { "text": "Said." } },
        { "id": "elem_5", "type": "thinking", "content": { "text": "Then that.", "collapsed": true } },
    ]);
    assert_eq!(json!(shown), expected);
}

#[test]
fn an_edit_shows_its_lines() {
    let input = json!({ "file_path": "a.txt", "old_string": "one\ntwo\n", "new_string": "one\nzwei\ndrei\n" });
    let shown = shown(&[("tool.call.requested", json!({ "name": "Edit", "input": input }))]);
    assert_eq!(shown[0]["content"]["display"], "Update(a.txt)");
    let expected = json!({ "id": "elem_1_1", "type": "diff", "content": {
        "tool_call_id": "tc_1", "file_path": "a.txt", "summary": { "added": 2, "removed": 1, "display": "+2 -1" },
        "hunks": [{ "header": "@@ -1,2 +1,3 @@", "old_start": 1, "old_count": 2, "new_start": 1, "new_count": 3,
            "lines": [
                { "type": "context", "old_line": 1, "new_line": 1, "content": "one" },
                { "type": "removed", "old_line": 2, "content": "two" },
                { "type": "added", "new_line": 2, "content": "zwei" },
                { "type": "added", "new_line": 3, "content": "drei" },
            ] }] } });
    assert_eq!(shown[1], expected);
}

#[test]
fn a_change_is_found_in_the_words_of_every_agent() {
    let acp = json!([{ "type": "diff", "path": "a", "oldText": null, "newText": "x\n" }]);
    let cases = [
        (json!({ "file_path": "a", "content": "x\n" }), vec!["+1 -0"]),
        (json!({ "path": "a", "oldText": "y\n", "newText": "x\n" }), vec!["+1 -1"]),
        (
            json!({ "file_path": "a", "edits": [
                { "old_string": "y\n", "new_string": "" }, { "old_string": "z\n", "new_string": "x\n" }] }),
            vec!["+0 -1", "+1 -1"],
        ),
        (json!({ "title": "Write a", "locations": ["a"], "content": acp }), vec!["+1 -0"]),
        (json!({ "file_path": "a" }), vec![]),
        (json!("a"), vec![]),
    ];
    for (input, expected) in cases {
        let shown = shown(&[("tool.call.requested", json!({ "name": "t", "kind": "edit", "input": input }))]);
        let diffs: Vec<_> = shown[1..].iter().map(|diff| diff["content"]["summary"]["display"].clone()).collect();
        assert_eq!(diffs, expected, "{input}");
    }
}

#[test]
fn a_change_that_only_the_result_tells_is_shown_once() {
    let edit = |input: Value| ("tool.call.requested", json!({ "name": "edit", "kind": "edit", "input": input }));
    let diff = json!([{ "type": "diff", "path": "a", "oldText": "", "newText": "x\n" }]);
    let done = ("tool.call.completed", json!({ "name": "edit", "result_preview": diff }));
    for input in [json!({ "path": "a" }), json!({ "path": "a", "content": "x\n" })] {
        let shown = shown(&[edit(input), done.clone()]);
        assert_eq!(shown.iter().filter(|element| element["type"] == "diff").count(), 1);
    }
}

#[test]
fn a_cut_input_shows_no_change() {
    let input = json!({ "file_path": "a", "content": "x…" });
    let call = json!({ "name": "Write", "kind": "edit", "input": input, "input_ref": { "artifact_id": "a1" } });
    assert_eq!(shown(&[("tool.call.requested", call)]).len(), 1);
}

#[test]
fn a_question_is_a_call_until_it_is_answered() {
    let asked = ("question.asked", json!({ "question_id": "q_1", "message": "Which?", "fields": [] }));
    let answered =
        ("question.resolved", json!({ "question_id": "q_1", "outcome": "answered", "answers": { "a": ["b"] } }));
    assert_eq!(shown(std::slice::from_ref(&asked))[0]["content"]["status"], "running");
    let shown = shown(&[asked, answered]);
    assert_eq!(shown[0]["content"]["display"], "AskUserQuestion(Which?)");
    assert_eq!(shown[0]["content"]["status"], "completed");
    assert_eq!(shown[1]["content"]["full_content"], "a: b");
}

#[test]
fn a_long_result_is_summed_up_and_says_that_there_is_more() {
    let line = "x".repeat(100);
    let whole = json!({ "name": "Bash", "result_preview": line });
    let mut cut = whole.clone();
    cut["result_ref"] = json!({ "artifact_id": "a1" });
    for (payload, truncated) in [(whole, false), (cut, true)] {
        let result = &shown(&[requested(), ("tool.call.completed", payload)])[1]["content"];
        assert_eq!(result["summary"].as_str().unwrap().chars().count(), 80);
        assert_eq!((&result["expandable"], &result["truncated"]), (&json!(true), &json!(truncated)));
    }
}

#[test]
fn params_are_texts_whatever_the_input_is() {
    let input = json!({ "n": 1, "deep": { "a": [true] }, "text": "t" });
    let shown = shown(&[("tool.call.requested", json!({ "name": "t", "input": input }))]);
    assert_eq!(shown[0]["content"]["params"], json!({ "n": "1", "deep": r#"{"a":[true]}"#, "text": "t" }));
}
