//! What a person allows for longer than once at a prompt is listed and removed by `roost rules`.

use serde_json::Value;
use testkit::agents::Agent;

use crate::kit::{RoostInstance, of_type};
use crate::real;

const CHOICE: &str = "[n]o: ";
/// A line as agents write it: a folder, a command that does more than read, its errors, and less of its output.
const LINE: &str = "cd sub && make all 2>&1 | tail -2";

/// An instance whose workspace has something to make in the folder `sub`.
fn instance(agent: Agent, id: &str, args: &[&str]) -> RoostInstance {
    let instance = real::instance(agent, id, args);
    let sub = instance.work().join("sub");
    std::fs::create_dir(&sub).unwrap();
    std::fs::write(sub.join("Makefile"), "all:\n\techo made >> made.txt\n").unwrap();
    instance
}

/// How often somebody is asked while this line is run without anybody to answer.
fn asked(instance: &RoostInstance, runtime: &str, line: &str) -> usize {
    let run = instance.run(&["run", "--runtime", runtime, "--json", &prompt(line)]);
    let events: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    of_type(&events, "tool.call.denied").len()
}

fn prompt(line: &str) -> String {
    format!("SCRIPT:shell RUN:{line}")
}

fn a_line_is_remembered_and_forgotten(agent: Agent, id: &str, args: &[&str]) {
    let instance = instance(agent, id, args);
    let made = || std::fs::read_to_string(instance.work().join("sub/made.txt")).unwrap_or_default().lines().count();
    let mut run = instance.terminal(&["run", "--runtime", id, &prompt(LINE)]);
    run.shows("s and w would also cover `make all`, in every folder of this workspace").shows(CHOICE).types("w\n");
    run.ended(0);
    assert_eq!(made(), 1, "the line did not run after a yes");

    assert_eq!((asked(&instance, id, LINE), made()), (0, 2));
    assert_eq!((asked(&instance, id, "make -C sub all"), made()), (1, 2));
    assert_eq!((asked(&instance, id, "cd sub && make all > x"), made()), (1, 2));

    let listed: Value = serde_json::from_str(instance.run(&["rules", "--json"]).ended(0).stdout.trim()).unwrap();
    assert_eq!((&listed["covers"], &listed["rule"]["by"]["from"]), (&"`make all`".into(), &"local".into()));
    let rule = listed["rule_id"].as_str().unwrap();
    let table = instance.run(&["rules"]).ended(0).stdout;
    assert!(table.contains(rule) && table.contains(instance.work().to_str().unwrap()), "{table}");
    instance.run(&["rules", "remove", rule]).ended(0);
    assert!(instance.run(&["rules"]).ended(0).stdout.contains("No answers are remembered"));
    assert_eq!((asked(&instance, id, LINE), made()), (1, 2));
    let unknown = instance.run(&["rules", "remove", rule]).ended(2).stderr;
    assert!(unknown.contains(rule) && unknown.contains("`roost rules`"), "{unknown}");
}

#[test]
fn a_line_of_claude_code_is_remembered_and_forgotten() {
    a_line_is_remembered_and_forgotten(Agent::Claude, "claude", &[]);
}

#[test]
fn a_line_of_codex_is_remembered_and_forgotten() {
    a_line_is_remembered_and_forgotten(Agent::Codex, "codex", &[]);
}

#[test]
fn a_line_of_gemini_is_remembered_and_forgotten() {
    a_line_is_remembered_and_forgotten(Agent::Gemini, "gemini", &["-m", "gemini-2.5-pro"]);
}

#[test]
fn a_line_of_opencode_is_remembered_and_forgotten() {
    a_line_is_remembered_and_forgotten(Agent::OpenCode, "opencode", &[]);
}
