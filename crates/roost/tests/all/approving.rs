//! Whoever is asked sees what is really asked, wherever it is listed, and `?` explains it.

use crate::kit::RoostInstance;
use crate::misleading_agent::{COMMAND, TITLE};
use crate::terminal::Terminal;

const CHOICE: &str = "[n]o: ";
const ASKED: [&str; 3] = ["$ rm -rf build\n", "in /elsewhere (outside of the workspace)\n", "calls it \"Read README\""];

/// An instance where an agent waits that calls `rm -rf build` "Read README", and a read besides.
fn waiting(prompt: &str) -> (RoostInstance, Terminal) {
    let instance = RoostInstance::new().with_misleading_agent();
    let mut run = instance.terminal(&["run", "--runtime", "misleading", prompt]);
    run.shows(CHOICE);
    (instance, run)
}

fn id(instance: &RoostInstance) -> String {
    let json = instance.run(&["approvals", "--json"]).ended(0).stdout;
    let pending: serde_json::Value = serde_json::from_str(json.trim()).unwrap();
    pending["ask"]["approval"]["tool_call_id"].as_str().unwrap().to_owned()
}

#[test]
fn a_call_that_lies_about_itself_is_listed_as_what_it_runs() {
    let (instance, mut run) = waiting("lie");
    let listed = instance.run(&["approvals"]).ended(0).stdout;
    let all = instance.run(&["approvals", "show", &id(&instance)]).ended(0).stdout;
    for part in ASKED {
        assert!(listed.contains(part), "{part}: {listed}");
        assert!(all.contains(part), "{part}: {all}");
    }
    assert!(listed.contains(&format!("in {} · ", instance.work().display())), "{listed}");
    run.types("n\n").shows("why").types("\n");
    let shown = run.ended(0);
    for part in ASKED {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let session = shown.rsplit("roost log ").next().unwrap().trim();
    let log = instance.run(&["log", session]).ended(0).stdout;
    assert!(log.contains(&format!("→ Bash({COMMAND}) · {TITLE}\n")), "{log}");
    assert!(log.contains("  $ rm -rf build\n                  in /elsewhere\n"), "{log}");
}

#[test]
fn what_is_too_long_for_a_list_says_how_much_is_missing_and_where_it_is() {
    let (instance, mut run) = waiting("long");
    let id = id(&instance);
    let listed = instance.run(&["approvals"]).ended(0).stdout;
    assert!(listed.contains("… 22 more lines\n") && !listed.contains("echo 60"), "{listed}");
    assert!(listed.contains(&format!("`roost approvals show {id}` shows all of it")), "{listed}");
    let all = instance.run(&["approvals", "show", &id]).ended(0).stdout;
    assert!(all.contains("> echo 60\n") && !all.contains("more lines"), "{all}");
    run.types("v\n").shows("> echo 60\n").shows(CHOICE).types("n\n").shows("why").types("\n");
    run.ended(0);
}

#[test]
fn a_question_mark_explains_the_keys_and_the_rule_and_answers_nothing() {
    let instance = RoostInstance::new();
    let mut run = instance.terminal(&["run", "edit"]);
    run.shows("[?] explain").shows(CHOICE).types("?\n");
    run.shows("it runs, this once")
        .shows("until this session ends")
        .shows("in every session of this\n       workspace");
    run.shows("Asked because the session is in mode ask").shows("[rule\n  permission_mode:ask]");
    run.shows(CHOICE).types("n\n").shows("why").types("\n");
    run.ended(0);
    assert!(!instance.work().join("demo.txt").exists());
}

#[test]
fn what_waits_elsewhere_is_answered_at_another_terminal() {
    let instance = RoostInstance::new();
    let mut run = instance.start_with_stderr(&["run", "--approvals", "wait", "edit"]);
    run.lines_to("waits for an answer");
    let mut other = instance.terminal(&["approvals", "answer"]);
    other.shows("+Written by the Roost demo agent.\n").shows(CHOICE).types("?\n").shows("Asked because").shows(CHOICE);
    other.types("y\n");
    other.ended(0);
    assert!(run.finish().ended(0).stdout.contains("I wrote `demo.txt`"));
    assert!(instance.terminal(&["approvals", "answer"]).ended(0).contains("Nothing waits"));
    let unasked = instance.run(&["approvals", "answer"]).ended(2).stderr;
    assert!(unasked.contains("roost approvals answer ID allow"), "{unasked}");
}
