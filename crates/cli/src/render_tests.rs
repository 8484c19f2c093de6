use roost_model::event::{NewEvent, RuntimeRef, Trace};
use roost_model::ids::SessionId;
use roost_model::runtime::RuntimeName;
use roost_model::time::Timestamp;
use serde_json::{Value, json};

use super::*;

const USUAL: Show =
    Show { prompts: false, all: false, asks: true, full: false, quiet: false, unfold: None, text: TextForm::Source };

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
    assert_eq!(rendered(USUAL, &events), "┊ hmm\nyes!\n✓ completed (end_turn)\n");
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
    let show = Show { prompts: true, ..USUAL };
    assert_eq!(rendered(show, &[("task.started", started.clone())]), "> do\n  it\n");
    assert_eq!(rendered(USUAL, &[("task.started", started)]), "");
}

fn wants(id: &str, name: &str, kind: &str, input: Value) -> (&'static str, Value) {
    tool("tool.call.requested", id, json!({ "name": name, "kind": kind, "input": input, "title": "Tidy up" }))
}

fn approved_by(id: &str, rule: &str) -> [(&'static str, Value); 2] {
    let source = if rule == "runtime:unasked" { "runtime" } else { "codesdk" };
    [
        tool("tool.call.policy_evaluated", id, json!({ "source": source, "result": "allow", "rule": rule })),
        tool("tool.call.approved", id, json!({})),
    ]
}

#[test]
fn what_runs_unasked_is_shown_too_and_what_is_folded_is_marked() {
    let lines: Vec<_> = (1..=15).map(|number| format!("echo {number}")).collect();
    let [evaluated, approved] = approved_by("a", "yolo");
    let events = [wants("a", "Bash", "execute", json!({ "command": lines.join("\n") })), evaluated, approved];
    let beginning = "→ Bash(echo 1 …) · Tidy up\n  $ echo 1\n  > echo 2\n";
    let shown = rendered(USUAL, &events);
    assert!(shown.starts_with(beginning), "{shown}");
    assert!(shown.ends_with("  > echo 10\n  … 5 more lines\n  approved (rule yolo)\n"), "{shown}");
    let full = rendered(Show { full: true, ..USUAL }, &events);
    assert!(full.ends_with("  > echo 15\n  approved (rule yolo)\n"), "{full}");
}

#[test]
fn an_edit_is_a_diff_whichever_agent_makes_it() {
    let patch = json!({ "path": "a", "kind": { "type": "update" }, "diff": "@@ -1 +1 @@\n-x\n+y\n" });
    let table = [
        ("Edit", json!({ "file_path": "a", "old_string": "x\n", "new_string": "y\n" })),
        ("fileChange", json!({ "changes": [patch] })),
    ];
    for (name, input) in table {
        let [evaluated, approved] = approved_by("a", "yolo");
        let shown = rendered(USUAL, &[wants("a", name, "edit", input), evaluated, approved]);
        let expected = "→ Update(a) · Tidy up\n  a\n  @@ -1 +1 @@\n  -x\n  +y\n  approved (rule yolo)\n";
        assert_eq!(shown, expected, "{name}");
    }
}

#[test]
fn a_call_that_was_asked_about_is_not_shown_twice() {
    let input = json!({ "path": "a", "content": "x\n" });
    let asked = tool("approval.requested", "a", json!({ "name": "Write", "kind": "edit", "input": input }));
    let events = [wants("a", "Write", "edit", input), asked, tool("tool.call.approved", "a", json!({}))];
    let shown = rendered(Show { asks: false, ..USUAL }, &events);
    assert_eq!(shown, "→ Write(a) · Tidy up\n  approved\n");
    assert_eq!(rendered(USUAL, &events).matches("+x").count(), 1);
}

#[test]
fn a_failed_command_is_an_exit_code_and_what_it_printed() {
    let result = json!("Exit code 2\nls: cannot access 'x'\nls: cannot access 'y'");
    let failed = completed("a", json!({ "is_error": true, "result_preview": result }));
    let events = [wants("a", "Bash", "execute", json!({ "command": "ls x y" })), failed];
    let expected = "→ Bash(ls x y) · Tidy up\n  │ ls: cannot access 'x'\n  │ ls: cannot access 'y'\n\
                    ✗ Bash(ls x y) · Tidy up: exit code 2\n";
    assert_eq!(rendered(USUAL, &events), expected);
}

#[test]
fn what_the_runtime_refused_by_itself_was_never_approved() {
    let [evaluated, approved] = approved_by("a", "runtime:unasked");
    let refused = json!({ "is_error": true, "result_preview": "<tool_use_error>Read it first.</tool_use_error>" });
    let events = [requested("a", "Cut"), evaluated, approved, completed("a", refused)];
    assert_eq!(rendered(USUAL, &events), "→ t() · Cut\n✗ t() · Cut: Read it first.\n");
    let snapshot =
        json!({ "decision": "deny", "sources": [{ "source": "runtime", "result": "deny", "rule": "hook" }] });
    let denied = json!({ "name": "t", "reason": "not on a Monday", "policy_snapshot": snapshot });
    let events = [requested("a", "Cut"), tool("tool.call.denied", "a", denied)];
    let expected = "→ t() · Cut\n  refused by the agent itself (rule hook): not on a Monday\n";
    assert_eq!(rendered(USUAL, &events), expected);
}

#[test]
fn folded_output_can_be_opened_while_its_call_runs_and_after_it() {
    let output = |lines: std::ops::RangeInclusive<u32>| {
        let text: String = lines.map(|line| format!("{line}\n")).collect();
        let (name, payload) = tool("tool.output.delta", "a", json!({ "stream": "stdout", "delta": text }));
        event(name, &payload)
    };
    let mut renderer = Renderer::new(Style::PLAIN, USUAL);
    let mut out = Vec::new();
    let (name, payload) = requested("a", "Count");
    renderer.event(&mut out, &event(name, &payload)).unwrap();
    renderer.event(&mut out, &output(1..=5)).unwrap();
    assert!(!renderer.is_folded());
    renderer.event(&mut out, &output(6..=8)).unwrap();
    assert!(renderer.is_folded());
    out.clear();
    renderer.unfold(&mut out).unwrap();
    renderer.event(&mut out, &output(9..=9)).unwrap();
    assert!(!renderer.is_folded());
    let shown = String::from_utf8(std::mem::take(&mut out)).unwrap();
    assert_eq!(shown, "t() · Count:\n  │ 6\n  │ 7\n  │ 8\n  │ 9\n");

    let (name, payload) = requested("b", "Count");
    renderer.event(&mut out, &event(name, &payload)).unwrap();
    let text = json!({ "stdout": "1\n2\n3\n4\n5\n6\n" });
    for (name, payload) in [tool("tool.output.completed", "b", text), completed("b", json!({}))] {
        renderer.event(&mut out, &event(name, &payload)).unwrap();
    }
    out.clear();
    renderer.unfold(&mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "  │ 6\n");
}

#[test]
fn messages_that_roost_does_not_know_are_counted_and_not_shown_in_every_turn() {
    let message = "a message that Roost does not know: new";
    let payload = json!({ "level": "warning", "source": "protocol", "message": message });
    let mut notice = event("runtime.notice", &payload);
    notice.runtime.raw = Some(json!({}));
    let end = event("task.completed", &json!({ "reason": "end_turn" }));
    let shown = |show: Show| {
        let (mut renderer, mut out) = (Renderer::new(Style::PLAIN, show), Vec::new());
        for event in [&notice, &notice, &end] {
            renderer.event(&mut out, event).unwrap();
        }
        String::from_utf8(out).unwrap()
    };
    assert_eq!(shown(USUAL), "✓ completed (end_turn)\n");
    assert_eq!(shown(Show { full: true, ..USUAL }), format!("· 2 × {message}\n✓ completed (end_turn)\n"));
}

#[test]
fn the_status_line_says_what_is_done_and_for_how_long() {
    let started = json!({
        "messages": [], "permission_mode": "ask", "mode": "ask", "interaction_mode": "non_interactive",
    });
    let mut renderer = Renderer::new(Style::PLAIN, USUAL);
    let mut status = |after: &[(&str, Value)], seconds: i64| {
        for (name, payload) in after {
            renderer.event(&mut Vec::new(), &event(name, payload)).unwrap();
        }
        renderer.status(Timestamp::from_millis(seconds * 1000)).map(|line| line.chars().skip(2).collect::<String>())
    };
    assert_eq!(status(&[], 1), None, "nothing runs");
    assert_eq!(status(&[("task.started", started)], 1).as_deref(), Some("starting the agent · 1 s"));
    assert_eq!(status(&[delta("text_delta", "half a line")], 2), None, "the line is not free");
    let run = [requested("a", "Build"), tool("tool.call.started", "a", json!({}))];
    assert_eq!(status(&run, 83).as_deref(), Some("t() · Build · 1 min 23 s"));
    assert_eq!(status(&[completed("a", json!({}))], 3).as_deref(), Some("waiting for the model · 3 s"));
    assert_eq!(status(&[("task.completed", json!({ "reason": "end_turn" }))], 9), None);
}

#[test]
fn a_network_that_is_down_is_called_that() {
    let error = json!({ "code": "RUNTIME_ERROR", "message": "connect ECONNREFUSED 127.0.0.1:9", "retryable": true });
    let shown = rendered(USUAL, &[("task.failed", json!({ "reason": "it failed", "error": error }))]);
    assert!(shown.contains("the network is down, or the model's provider cannot be reached"), "{shown}");
}

#[test]
fn a_notice_in_the_middle_of_a_text_does_not_change_how_the_rest_is_shown() {
    let notice = ("runtime.notice", json!({ "level": "warning", "source": "stderr", "message": "careful" }));
    let events = [
        delta("text_delta", "```rust\nfn a() {}\n"),
        notice.clone(),
        delta("text_delta", "fn b() {}\n```\none **two"),
        notice,
        delta("text_delta", " three** four"),
        ("task.completed", json!({ "reason": "end_turn" })),
    ];
    let show = Show { text: TextForm::Terminal { margin: 0 }, ..USUAL };
    let expected = "  fn a() {}\n! careful\n  fn b() {}\none\n! careful\n**two three** four\n✓ completed (end_turn)\n";
    assert_eq!(rendered(show, &events), expected);
}

/// Answers and notes in streams of their own.
#[derive(Default)]
struct Apart {
    answer: Vec<u8>,
    notes: Vec<u8>,
}

impl ConversationSink for Apart {
    fn answer(&mut self) -> io::Result<&mut dyn Write> {
        Ok(&mut self.answer)
    }

    fn notes(&mut self) -> io::Result<&mut dyn Write> {
        Ok(&mut self.notes)
    }

    fn is_apart(&self) -> bool {
        true
    }
}

#[test]
fn an_answer_with_a_stream_of_its_own_is_not_interrupted() {
    let events = [
        delta("reasoning_delta", "hm"),
        delta("text_delta", "half "),
        ("runtime.notice", json!({ "level": "warning", "source": "stderr", "message": "careful" })),
        delta("text_delta", "a line"),
        requested("a", "Cut"),
        delta("text_delta", "more\n"),
        ("task.completed", json!({ "reason": "end_turn" })),
    ];
    let (mut renderer, mut out) = (Renderer::new(Style::PLAIN, USUAL), Apart::default());
    for (name, payload) in events {
        renderer.event(&mut out, &event(name, &payload)).unwrap();
    }
    assert_eq!(String::from_utf8(out.answer).unwrap(), "half a line\nmore\n");
    assert_eq!(String::from_utf8(out.notes).unwrap(), "┊ hm\n! careful\n→ t() · Cut\n✓ completed (end_turn)\n");
}
