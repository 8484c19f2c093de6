//! The prompt of a conversation at a terminal that can move its cursor: keys, history, pastes and completion.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::kit::{RoostInstance, of_type};
use crate::terminal::{CTRL_C, CTRL_D, Terminal};

const HELLO: &str = "Hello from the demo agent.";
/// Keys as a terminal sends them.
const ENTER: &str = "\r";
const UP: &str = "\x1b[A";
const HOME: &str = "\x1b[H";
const ALT_ENTER: &str = "\x1b\r";
const CTRL_R: &str = "\x12";

/// An instance with a session, so that a conversation goes on without the tour.
fn instance() -> RoostInstance {
    let instance = RoostInstance::new();
    instance.run(&["run", "hello"]).ended(0);
    instance
}

/// A conversation at its first prompt.
fn conversation(instance: &RoostInstance) -> Terminal {
    let mut run = instance.terminal_of_kind("xterm", &["run", "--continue"]);
    run.shows("/help shows the keys").shows("> ");
    run
}

/// The texts of all prompts of the latest session.
fn prompts(instance: &RoostInstance) -> Vec<String> {
    let events = instance.run(&["log", "--json"]).ended(0).events(1);
    let text = |event: &&Value| event["payload"]["messages"][0]["content"][0]["text"].as_str().unwrap().to_owned();
    of_type(&events, "task.started").iter().map(text).collect()
}

#[test]
fn a_prompt_is_edited_with_the_usual_keys() {
    let instance = instance();
    let mut run = conversation(&instance);
    run.types("ello nobody\x17there").types(HOME).types("h").types(ENTER).shows(HELLO).shows("> ").types(CTRL_D);
    run.ended(0);
    assert_eq!(prompts(&instance), ["hello", "hello there"]);
}

#[test]
fn keys_that_a_plain_terminal_does_not_know_never_reach_the_agent() {
    let instance = instance();
    let mut run = instance.terminal(&["run", "--continue"]);
    run.shows("> ").types("hel\x1b[A\x1bOC\x1b[200~lo\x1b[201~\n").shows(HELLO).shows("> ").types(CTRL_D);
    run.ended(0);
    assert_eq!(prompts(&instance), ["hello", "hello"]);
}

#[test]
fn a_paste_of_many_lines_is_one_prompt_without_escape_sequences() {
    let instance = instance();
    let mut run = conversation(&instance);
    let lines: Vec<_> = (1..=150).map(|number| format!("hello line {number} of a long paste")).collect();
    let pasted = lines.join("\r").replace("line 7 ", "line\x1b[2J 7 ");
    run.types(&format!("\x1b[200~{pasted}\x1b[201~")).types(ENTER).shows(HELLO).shows("> ").types(CTRL_D);
    run.ended(0);
    assert_eq!(prompts(&instance), ["hello", &lines.join("\n")]);
}

#[test]
fn a_prompt_of_several_lines_is_typed() {
    let instance = instance();
    let mut run = conversation(&instance);
    run.types("hello").types(ALT_ENTER).types("there").types("\n").types("again").types(ENTER).shows(HELLO);
    run.shows("> ").types(CTRL_D);
    run.ended(0);
    assert_eq!(prompts(&instance), ["hello", "hello\nthere\nagain"]);
}

#[test]
fn prompts_are_found_again_in_the_next_conversation() {
    let instance = instance();
    let mut run = conversation(&instance);
    run.types("hello one").types(ENTER).shows(HELLO).shows("> ");
    run.types("hello two").types(ENTER).shows(HELLO).shows("> ").types(CTRL_D);
    run.ended(0);
    let mut run = conversation(&instance);
    run.types(UP).types(ENTER).shows(HELLO).shows("> ");
    run.types(CTRL_R).types("one").types(ENTER).types(ENTER).shows(HELLO).shows("> ").types(CTRL_D);
    run.ended(0);
    assert_eq!(prompts(&instance), ["hello", "hello one", "hello two", "hello two", "hello one"]);
    let kept: Vec<_> = fs::read_dir(instance.state().join("history")).unwrap().map(Result::unwrap).collect();
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn what_may_be_an_answer_is_not_kept_in_the_history() {
    let instance = instance();
    let mut run = conversation(&instance);
    run.types("edit").types(ENTER).shows("[n]o: ");
    let pending: Value = serde_json::from_str(instance.run(&["approvals", "--json"]).ended(0).stdout.trim()).unwrap();
    let id = pending["ask"]["approval"]["tool_call_id"].as_str().unwrap();
    instance.run(&["approvals", "answer", id, "deny"]).ended(0);
    run.shows("no longer asked").shows("> ").types("a secret").types(ENTER).shows("not sent").shows("> ").types(CTRL_D);
    run.ended(0);
    assert_eq!(prompts(&instance), ["hello", "edit"]);
    let history = fs::read_dir(instance.state().join("history")).unwrap().next().unwrap().unwrap();
    assert_eq!(fs::read_to_string(history.path()).unwrap(), "\"edit\"\n");
}

#[test]
fn an_answer_in_words_is_edited_and_not_kept_in_the_history() {
    let instance = instance();
    let mut run = conversation(&instance);
    run.types("ask").types(ENTER).shows("/decline: ").types("2").types(ENTER).shows("Why?").shows("/decline: ");
    run.types("\x1b[200~it is\rblue\x1b[201~").types("\x17red").types(ENTER).shows("reason = it is\nred.");
    run.shows("> ").types(UP).types(ENTER).shows("/decline: ").types(CTRL_C).shows("stopped (interrupted)").shows("> ");
    run.types(CTRL_D);
    run.ended(0);
    assert_eq!(prompts(&instance), ["hello", "ask", "ask"]);
}

#[test]
fn an_answer_that_is_being_edited_when_the_question_goes_is_no_prompt() {
    let instance = instance();
    let mut run = conversation(&instance);
    run.types("ask").types(ENTER).shows("/decline: ").types("a secr").shows("a secr");
    let listed = instance.run(&["approvals"]).ended(0).stdout;
    let id = listed.split(' ').next().unwrap();
    instance.run(&["approvals", "answer", id, "deny"]).ended(0);
    run.shows("no longer asked")
        .shows("You declined")
        .shows("> ")
        .types("et")
        .types(ENTER)
        .shows("not sent")
        .shows("> ");
    run.types(CTRL_D);
    run.ended(0);
    assert_eq!(prompts(&instance), ["hello", "ask"]);
}

#[test]
fn files_are_completed_and_shown_to_the_agent() {
    let instance = instance();
    fs::write(instance.work().join("notes.txt"), "").unwrap();
    let mut run = conversation(&instance);
    run.types("hello @no\t").shows("@notes.txt").types(ENTER).shows(HELLO).shows("> ").types(CTRL_D);
    run.ended(0);
    let events = instance.run(&["log", "--json"]).ended(0).events(1);
    let started = of_type(&events, "task.started");
    assert_eq!(started[1]["payload"]["messages"][0]["content"][1]["path"], "notes.txt");
}

#[test]
fn commands_are_completed_and_explained() {
    let instance = instance();
    let mut run = conversation(&instance);
    run.types("/he\t").shows("/help").types(ENTER).shows("Ctrl-R").shows("> ");
    run.types("/mode yolo").types(ENTER).shows("permission mode yolo from the next prompt on").shows("> ");
    run.types("edit").types(ENTER).shows("I wrote `demo.txt`").shows("> ").types("/quit").types(ENTER);
    run.ended(0);
    assert_eq!(prompts(&instance), ["hello", "edit"]);
}

#[test]
fn ctrl_c_clears_the_line_and_leaves_an_empty_one() {
    let instance = instance();
    let mut run = conversation(&instance);
    // The editor draws its line anew for every key, so the next prompt is the one after the whole word.
    run.types("nonsense")
        .shows("nonsense")
        .types(CTRL_C)
        .shows("> ")
        .types("hello")
        .types(ENTER)
        .shows(HELLO)
        .shows("> ")
        .types(CTRL_C);
    run.ended(0);
    assert_eq!(prompts(&instance), ["hello", "hello"]);
}

#[test]
fn what_is_typed_while_a_task_runs_is_the_next_prompt_of_the_editor() {
    let instance = instance();
    let mut run = conversation(&instance);
    run.types("slow 0.5").types(ENTER).shows("1 ").types("hello\r");
    run.shows("completed").shows(HELLO).shows("> ").types(CTRL_D);
    run.ended(0);
}

#[test]
fn a_terminal_is_left_as_it_was() {
    let instance = instance();
    let mut run = conversation(&instance);
    run.types(CTRL_D);
    let shown = run.ended(0);
    assert!(shown.rfind("\x1b[?2004l") > shown.rfind("\x1b[?2004h"), "pastes are sent as they are again: {shown:?}");
}
