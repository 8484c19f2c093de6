//! `roost run` at a terminal: it asks, and what is answered happens.

use std::fs;

use rustix::process::Signal;
use serde_json::json;

use crate::kit::{RoostInstance, of_type, script};
use crate::terminal::{CTRL_C, CTRL_D};

const CHOICE: &str = "[n]o: ";

#[test]
fn an_edit_is_shown_as_a_diff_and_written_after_a_yes() {
    let instance = RoostInstance::new();
    let file = instance.work().join("demo.txt");
    fs::write(&file, "old\n").unwrap();
    let mut run = instance.terminal(&["run", "edit"]);
    run.shows("rule permission_mode:ask").shows("-old\n").shows("+Written by the Roost demo agent.\n").shows(CHOICE);
    assert_eq!(fs::read_to_string(&file).unwrap(), "old\n", "nothing is written before the answer");
    run.types("y\n").shows("I wrote `demo.txt`");
    run.ended(0);
    assert_eq!(fs::read_to_string(&file).unwrap(), "Written by the Roost demo agent.\n");
    instance.assert_nothing_left();
}

#[test]
fn a_no_with_its_reason_reaches_the_agent() {
    for (lines, reason) in [("n too risky\n", "too risky"), ("no, because it is late\n", "it is late")] {
        let instance = RoostInstance::new();
        let mut run = instance.terminal(&["run", "edit"]);
        run.shows(CHOICE).types(lines).shows(&format!("You did not allow it ({reason})"));
        run.ended(0);
        assert!(!instance.work().join("demo.txt").exists());
    }
}

#[test]
fn a_bare_no_asks_for_a_reason() {
    let instance = RoostInstance::new();
    let mut run = instance.terminal(&["run", "edit"]);
    run.shows(CHOICE).types("n\n").shows("why").types("not today\n").shows("You did not allow it (not today)");
    run.ended(0);
}

#[test]
fn what_is_not_understood_is_asked_again() {
    let instance = RoostInstance::new();
    let mut run = instance.terminal(&["run", "edit"]);
    for unclear in ["", "yes but", "sure", "maybe"] {
        run.shows(CHOICE).types(&format!("{unclear}\n")).shows("not understood");
    }
    run.shows(CHOICE).types("n no\n");
    run.ended(0);
    assert!(!instance.work().join("demo.txt").exists());
}

#[test]
fn what_was_typed_before_the_question_is_no_answer_to_it() {
    let instance = RoostInstance::new();
    let mut run = instance.terminal(&["run", "tour"]);
    run.shows("Welcome").types("y\n").shows(CHOICE);
    run.types("n typed too early\n").shows("nothing was written");
    run.ended(0);
    assert!(!instance.work().join("hello-roost.txt").exists());
}

#[test]
fn the_answer_and_where_it_came_from_are_in_the_log() {
    let instance = RoostInstance::new();
    let mut run = instance.terminal(&["run", "edit"]);
    run.shows(CHOICE).types("y\n");
    let shown = run.ended(0);
    let session = shown.rsplit("roost log ").next().unwrap().trim();
    let events = instance.run(&["log", "--json", session]).ended(0).events(1);
    let resolved = of_type(&events, "approval.resolved");
    assert_eq!(resolved.len(), 1);
    assert_eq!(resolved[0]["payload"]["answered_by"]["from"], "local");
    assert_eq!(resolved[0]["payload"]["decision"], "allow");
}

#[test]
fn a_yes_for_the_session_is_not_asked_again_in_it_but_in_another() {
    let instance = RoostInstance::new();
    let mut run = instance.terminal(&["run", "edit"]);
    run.shows("s and w would also cover").shows(CHOICE).types("s\n").shows("I wrote `demo.txt`");
    run.ended(0);
    let mut again = instance.terminal(&["run", "--continue", "edit"]);
    again.shows("I wrote `demo.txt`");
    let shown = again.ended(0);
    assert!(!shown.contains(CHOICE), "{shown}");
    let mut other = instance.terminal(&["run", "edit"]);
    other.shows(CHOICE).types("n\n").shows("why").types("\n");
    other.ended(0);
}

#[test]
fn a_yes_for_the_workspace_counts_in_its_other_sessions() {
    let instance = RoostInstance::new();
    let mut run = instance.terminal(&["run", "edit"]);
    run.shows(CHOICE).types("w\n").shows("I wrote `demo.txt`");
    run.ended(0);
    let mut other = instance.terminal(&["run", "edit"]);
    other.shows("I wrote `demo.txt`");
    let shown = other.ended(0);
    assert!(!shown.contains(CHOICE), "{shown}");
}

#[test]
fn several_calls_are_asked_one_after_the_other() {
    let instance = RoostInstance::new();
    let mut run = instance.terminal(&["run", "parallel", "3"]);
    run.shows("to: 1").shows(CHOICE).types("y\n");
    run.shows("to: 2").shows(CHOICE).types("n not this one\n");
    run.shows("to: 3").shows(CHOICE).types("y\n");
    run.shows("2 tool calls ran, 1 were not allowed.");
    run.ended(0);
}

#[test]
fn a_question_is_answered_by_number_and_in_words() {
    let instance = RoostInstance::new();
    let mut run = instance.terminal(&["run", "ask"]);
    run.shows("2) Robin").shows("/decline: ").types("2\n").shows("Why?").shows("/decline: ").types("it is red\n");
    run.shows("You answered: bird = robin, reason = it is red.");
    run.ended(0);
}

#[test]
fn a_question_is_answered_with_something_that_it_does_not_offer() {
    let instance = RoostInstance::new();
    let mut run = instance.terminal(&["run", "ask"]);
    run.shows("2) Robin").shows("/decline: ").types("7\n").shows("no choice \"7\"");
    run.shows("/decline: ").types("neither, a wren\n").shows("Why?").shows("/decline: ").types("\n");
    run.shows("bird = neither, a wren");
    run.ended(0);
}

#[test]
fn a_paste_of_several_lines_is_one_answer_and_no_prompt() {
    let instance = RoostInstance::new();
    instance.run(&["run", "hello"]).ended(0);
    let mut run = instance.terminal(&["run", "--continue"]);
    run.shows("> ").types("ask\n").shows("/decline: ").types("2\n").shows("Why?").shows("/decline: ");
    run.types("it is\nred\n").shows("reason = it is\nred.").shows("\n> ").types(CTRL_D);
    let shown = run.ended(0);
    assert!(!shown.contains("Welcome"), "{shown}");
}

#[test]
fn a_question_is_answered_in_words_from_elsewhere() {
    let instance = RoostInstance::new();
    let mut run = instance.start_with_stderr(&["run", "--approvals", "wait", "ask"]);
    run.lines_to("? ");
    let listed = instance.run(&["approvals"]).ended(0).stdout;
    assert!(listed.contains("2) Robin"), "{listed}");
    let id = listed.split(' ').next().unwrap();
    let wrong = instance.run(&["approvals", "answer", id, "--answer", "7"]).ended(2).stderr;
    assert!(wrong.contains("no choice \"7\""), "{wrong}");
    instance.run(&["approvals", "answer", id, "--answer", "a wren", "--answer", "it sings"]).ended(0);
    let done = run.finish().ended(0);
    assert!(done.stdout.contains("bird = a wren, reason = it sings"), "{done:#?}");
}

#[test]
fn an_answer_that_comes_too_late_is_no_prompt() {
    let instance = RoostInstance::new();
    let mut run = instance.terminal(&["run"]);
    run.shows(CHOICE);
    let pending = instance.run(&["approvals", "--json"]).ended(0).stdout;
    let pending: serde_json::Value = serde_json::from_str(pending.trim()).unwrap();
    let id = pending["ask"]["approval"]["tool_call_id"].as_str().unwrap();
    instance.run(&["approvals", "answer", id, "deny"]).ended(0);
    run.shows("no longer asked: answered by").types("yes\n").shows("is no longer asked").shows(": yes\n");
    run.types("hello\n").shows("Hello from the demo agent.").types("/quit\n");
    let shown = run.ended(0);
    let session = shown.rsplit("roost log ").next().unwrap().trim();
    let log = instance.run(&["log", session]).ended(0).stdout;
    assert!(log.contains("> hello\n") && !log.contains("> yes"), "{log}");
}

#[test]
fn folded_output_is_opened_at_the_prompt() {
    let instance = RoostInstance::new();
    let mut run = instance.terminal(&["run", "--permission-mode", "yolo"]);
    run.shows("✓ completed").shows("> ").types("out 20\n");
    run.shows("… 15 more lines (o and Enter shows them)").shows("✓ completed").shows("> ");
    run.types("o\n").shows("│ line 20 of the demo output\n").shows("> ").types("/quit\n");
    let shown = run.ended(0);
    let session = shown.rsplit("roost log ").next().unwrap().trim();
    let log = instance.run(&["log", session]).ended(0).stdout;
    assert!(log.contains("… 15 more lines (--full shows them)"), "{log}");
    let full = instance.run(&["log", "--full", session]).ended(0).stdout;
    assert!(!full.contains("more lines"), "{full}");
}

#[test]
fn a_terminal_shows_that_the_agent_is_alive_and_is_left_clean() {
    let instance = RoostInstance::new();
    let program = instance.work().join("silent.sh");
    // It says nothing until it is cancelled.
    script(&program, &acp_agent(r#"read -r cancel; result='{"stopReason":"cancelled"}'"#));
    instance.configure(&format!("[runtimes.silent]\ncommand = {program:?}\n"));
    let mut run = instance.terminal_of_kind("xterm", &["run", "--runtime", "silent", "go"]);
    run.shows("waiting for the model · 1 s").types(CTRL_C).shows("stopped (interrupted)");
    let shown = run.ended(130);
    assert!(shown.rfind("\x1b[2K") > shown.rfind("\x1b[?7h"), "the last status line is cleared: {shown:?}");
    for silent in [instance.terminal(&["run", "hello"]).ended(0), instance.run(&["run", "hello"]).ended(0).stdout] {
        assert!(!silent.contains('\x1b'), "{silent:?}");
    }
}

#[test]
fn a_question_can_be_declined() {
    for decline in ["/decline\n", CTRL_D] {
        let instance = RoostInstance::new();
        let mut run = instance.terminal(&["run", "ask"]);
        run.shows("/decline: ").types(decline).shows("You declined to answer.");
        run.ended(0);
    }
}

#[test]
fn ctrl_c_at_the_question_stops_the_task() {
    let instance = RoostInstance::new();
    let mut run = instance.terminal(&["run", "edit"]);
    run.shows(CHOICE).types(CTRL_C).shows("no longer asked: the task was stopped").shows("stopped (interrupted)");
    run.ended(130);
    assert!(!instance.work().join("demo.txt").exists());
    instance.assert_nothing_left();
}

#[test]
fn ctrl_d_at_the_question_is_a_no() {
    let instance = RoostInstance::new();
    let mut run = instance.terminal(&["run", "edit"]);
    run.shows(CHOICE).types(CTRL_D).shows("You did not allow it");
    run.ended(0);
    assert!(!instance.work().join("demo.txt").exists());
}

#[test]
fn a_terminal_where_nobody_wants_to_be_asked_denies_at_once() {
    let instance = RoostInstance::new();
    let mut run = instance.terminal(&["run", "--approvals", "deny", "edit"]);
    run.shows("no_approver");
    run.ended(0);
}

#[test]
fn waiting_shows_that_it_waits_and_a_stop_ends_it() {
    let instance = RoostInstance::new();
    let mut run = instance.start_with_stderr(&["run", "--approvals", "wait", "edit"]);
    run.lines_to("waits for an answer (rule permission_mode:ask)");
    run.signal(Signal::INT);
    run.finish().ended(130);
    instance.assert_nothing_left();
}

#[test]
fn asking_without_a_terminal_is_wrong_usage() {
    let done = RoostInstance::new().run(&["run", "--approvals", "prompt", "edit"]).ended(2);
    assert!(done.stderr.contains("needs a terminal"), "{done:#?}");
}

#[test]
fn a_call_that_is_too_big_for_its_event_is_still_shown_whole() {
    let instance = RoostInstance::new();
    let program = instance.work().join("agent.sh");
    script(&program, &acp_agent(r#"cat asks; read -r answer; result='{"stopReason":"end_turn"}'"#));
    let content: String = (1..=2000).map(|line| format!("line {line}\n")).collect();
    let call = json!({ "toolCallId": "big", "title": "Write big.txt", "kind": "edit",
                       "rawInput": { "path": "big.txt", "content": content } });
    let options = json!([{ "optionId": "yes", "name": "Yes", "kind": "allow_once" },
                         { "optionId": "no", "name": "No", "kind": "reject_once" }]);
    let params = json!({ "sessionId": "native-1", "toolCall": call, "options": options });
    let request = json!({ "jsonrpc": "2.0", "id": 77, "method": "session/request_permission", "params": params });
    fs::write(instance.work().join("asks"), format!("{request}\n")).unwrap();
    instance.configure(&format!("[runtimes.big]\ncommand = {program:?}\n"));
    let mut run = instance.terminal(&["run", "--runtime", "big", "go"]);
    run.shows("@@ -0,0 +1,2000 @@").shows("more lines").shows("[v] all of it").shows(CHOICE);
    run.types("v\n").shows("+line 2000\n").shows(CHOICE).types("n thank you\n").shows("thank you");
    run.ended(0);
}

/// A script that is an ACP agent and does this on a prompt; it must set `result`.
pub(crate) fn acp_agent(on_prompt: &str) -> String {
    let script = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) result='{"protocolVersion":1,"agentCapabilities":{},"authMethods":[]}' ;;
    *'"session/new"'*) result='{"sessionId":"native-1"}' ;;
    *'"session/prompt"'*) ON_PROMPT ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done"#;
    script.replace("ON_PROMPT", on_prompt)
}
