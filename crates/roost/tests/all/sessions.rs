//! Sessions over several commands: continued, found, followed.

use serde_json::Value;

use crate::kit::{RoostInstance, answer, events, of_type, session_id};

fn hello(instance: &RoostInstance) -> Vec<Value> {
    instance.run(&["run", "--json", "hello"]).ended(0).events(1)
}

#[test]
fn a_continued_session_remembers_what_was_said() {
    let instance = RoostInstance::new();
    let first = hello(&instance);
    let second = instance.run(&["run", "--json", "--continue", "resume"]).ended(0).stdout;
    let seq = serde_json::from_str::<Value>(second.lines().next().unwrap()).unwrap()["seq"].as_u64().unwrap();
    let second = events(second.lines(), seq);
    assert_eq!(session_id(&second), session_id(&first));
    assert_eq!(second[0]["type"], "task.started", "only what this run added is printed");
    assert_eq!(answer(&second), "Prompts in this session: 2 (1 here, 1 restored from a transcript).");
}

#[test]
fn nothing_is_continued_from_another_directory() {
    let instance = RoostInstance::new();
    hello(&instance);
    let done = instance.run(&["run", "--cwd", "/", "--continue", "resume"]).ended(2);
    assert!(done.stderr.contains("no session in /"), "{done:#?}");
}

#[test]
fn a_session_is_found_by_its_id_by_its_beginning_and_by_the_agents_own_id() {
    let instance = RoostInstance::new();
    let all = hello(&instance);
    let id = session_id(&all);
    let native = all.iter().find_map(|event| event["payload"]["runtime_session_id"].as_str()).unwrap();
    for name in [&*id, &id[..10], native] {
        let log = instance.run(&["log", "--json", name]).ended(0).events(1);
        assert_eq!(session_id(&log), id, "{name}");
        instance.run(&["run", "--session", name, "hello"]).ended(0);
    }
}

#[test]
fn the_beginning_of_several_sessions_names_them_all() {
    let instance = RoostInstance::new();
    let ids = [session_id(&hello(&instance)), session_id(&hello(&instance))];
    let done = instance.run(&["log", &ids[0][..4]]).ended(2);
    assert!(ids.iter().all(|id| done.stderr.contains(id)), "{done:#?}");
}

#[test]
fn an_unknown_session_is_an_error_that_tells_where_to_look() {
    let instance = RoostInstance::new();
    hello(&instance);
    let done = instance.run(&["log", "nope"]).ended(2);
    assert!(done.stderr.contains("no session \"nope\"") && done.stderr.contains("roost sessions"), "{done:#?}");
}

#[test]
fn a_log_shows_the_conversation_and_leaves_out_what_was_seen() {
    let instance = RoostInstance::new();
    let all = hello(&instance);
    let log = instance.run(&["log", &session_id(&all)]).ended(0);
    let lines: Vec<_> = log.stdout.lines().collect();
    let [_day, .., prompt, answer, end] = lines.as_slice() else { panic!("{log:#?}") };
    let table = [
        (prompt, "> hello", "task.started"),
        (answer, "Hello from the demo agent.", "model.output.delta"),
        (end, "✓ completed (end_turn)", "task.completed"),
    ];
    for (line, text, event) in table {
        let (stamp, rest) = line.split_at(16);
        assert!(rest.starts_with(text), "{log:#?}");
        let [time, seq] = stamp.split_whitespace().collect::<Vec<_>>()[..] else { panic!("{log:#?}") };
        assert!(time.len() == 8 && time.matches(':').count() == 2, "{log:#?}");
        let seq: usize = seq.strip_prefix('#').unwrap().parse().unwrap();
        assert_eq!(all[seq - 1]["type"], event, "{log:#?}");
    }
    let rest = instance.run(&["log", "--json", "--after", "5", &session_id(&all)]).ended(0).events(6);
    assert_eq!(rest[0], all[5]);
}

#[test]
fn a_followed_log_shows_what_another_process_adds() {
    let instance = RoostInstance::new();
    let id = session_id(&hello(&instance));
    let mut follow = instance.start(&["log", "--json", "--follow", &id]);
    follow.lines_to("session.closed");
    let added = instance.run(&["run", "--json", "--session", &id, "hello"]).ended(0).stdout;
    let followed = follow.lines_to("\"task.completed\"");
    assert_eq!(followed, added.lines().collect::<Vec<_>>());
    follow.signal(rustix::process::Signal::INT);
    follow.finish();
}

#[test]
fn sessions_are_listed_the_latest_first() {
    let instance = RoostInstance::new();
    let first = session_id(&hello(&instance));
    instance.run(&["run", "fail"]).ended(1);
    let list = instance.run(&["sessions"]).ended(0).stdout;
    let rows: Vec<_> = list.lines().collect();
    assert!(rows[0].starts_with("SESSION"), "{list}");
    assert!(rows[1].contains("failed") && rows[1].ends_with("fail"), "{list}");
    assert!(rows[2].contains("completed") && first.starts_with(rows[2].split(' ').next().unwrap()), "{list}");
}

#[test]
fn only_twenty_sessions_are_listed_unless_all_are_asked_for() {
    let instance = RoostInstance::new();
    for _ in 0..21 {
        hello(&instance);
    }
    let count = |args: &[&str]| instance.run(args).ended(0).stdout.lines().count();
    assert_eq!((count(&["sessions", "--json"]), count(&["sessions", "--json", "--all"])), (20, 21));
    assert!(instance.run(&["sessions"]).stdout.contains("1 more"));
}

#[test]
fn a_directory_without_sessions_is_left_as_it_is() {
    let instance = RoostInstance::new();
    assert!(instance.run(&["sessions"]).ended(0).stdout.contains("No sessions yet"));
    instance.run(&["log", "x"]).ended(1);
    assert!(!instance.state().exists());
}

#[test]
fn one_session_serves_several_tasks_in_one_stream() {
    let instance = RoostInstance::new();
    let id = session_id(&hello(&instance));
    instance.run(&["run", "--session", &id, "fail"]).ended(1);
    let log = instance.run(&["log", "--json", &id]).ended(0).events(1);
    assert_eq!((of_type(&log, "task.completed").len(), of_type(&log, "task.failed").len()), (1, 1));
}
