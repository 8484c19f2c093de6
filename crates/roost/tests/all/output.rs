//! What commands print: to a pipe the answer alone, to a terminal everything in a form that fits it.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::asking::acp_agent;
use crate::kit::{Done, RoostInstance, script, session_id};

const ANSWER: &str = "\
## Result

It works with **bold** words and `code`, and this sentence is long enough to need a second line.

- one
- two

```rust
fn main() {}
```
";

/// An agent named `writer` that streams [`ANSWER`] in pieces of three characters, with a notice of Roost's in between.
fn writer() -> RoostInstance {
    let instance = RoostInstance::new();
    let program = instance.work().join("writer.sh");
    script(&program, &acp_agent(r#"cat pieces; result='{"stopReason":"end_turn"}'"#));
    let characters: Vec<char> = ANSWER.chars().collect();
    let piece = |text: &[char]| {
        let content = json!({ "type": "text", "text": text.iter().collect::<String>() });
        let update = json!({ "sessionUpdate": "agent_message_chunk", "content": content });
        json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": "native-1", "update": update } })
    };
    let mut lines: Vec<_> = characters.chunks(3).map(|text| piece(text).to_string()).collect();
    // In the middle of the code.
    lines.insert(lines.len() - 3, "this is no JSON".into());
    fs::write(instance.work().join("pieces"), lines.join("\n") + "\n").unwrap();
    instance.configure(&format!("[runtimes.writer]\ncommand = {program:?}\n"));
    instance
}

#[test]
fn a_pipe_gets_the_answer_alone_as_it_was_written() {
    let done = writer().run(&["run", "--runtime", "writer", "go"]).ended(0);
    assert_eq!(done.stdout, ANSWER);
    assert!(done.stderr.contains("✓ completed") && done.stderr.contains("roost log "), "{done:#?}");
}

#[test]
fn thoughts_are_told_apart_from_the_answer_without_colours() {
    let instance = RoostInstance::new();
    let done = instance.run(&["run", "think"]).ended(0);
    assert_eq!(done.stdout, "I thought about it: thinking works.\n");
    assert!(done.stderr.contains("\n┊ The user wants to see me think. "), "{done:#?}");
    let shown = instance.terminal(&["run", "think"]).ended(0);
    assert!(shown.contains("┊ The user wants") && shown.contains("\nI thought about it"), "{shown}");
}

#[test]
fn quiet_leaves_out_everything_but_the_answer_and_why_a_task_failed() {
    let instance = RoostInstance::new();
    let told = |done: Done| (done.stdout, done.stderr);
    let done = instance.run(&["run", "--quiet", "think"]).ended(0);
    assert_eq!(told(done), ("I thought about it: thinking works.\n".into(), String::new()));
    let done = instance.run(&["run", "--quiet", "tools"]).ended(0);
    assert_eq!(done.stderr, "");
    let done = instance.run(&["run", "--quiet", "fail"]).ended(1);
    assert!(done.stderr.starts_with("✗ failed (RUNTIME_ERROR)"), "{done:#?}");
}

#[test]
fn a_terminal_shows_markdown_in_lines_that_fit() {
    let shown = writer().terminal_with_colours(40, &["run", "--runtime", "writer", "go"]).ended(0);
    let answer = shown.replace("\r", "");
    let expected = "\x1b[1mResult\x1b[0m\n\nIt works with \x1b[1mbold\x1b[0m words and \x1b[36mcode\x1b[0m, and\n\
                    this sentence is long enough to need a\nsecond line.\n\n\
                    \x1b[2m• \x1b[0mone\n\x1b[2m• \x1b[0mtwo\n\n  \x1b[35mfn\x1b[0m main() {}\n";
    // Each status line was cleared before the text that took its place.
    let answer: String =
        answer.split('\n').map(|line| line.rsplit("\x1b[2K").next().unwrap().to_owned() + "\n").collect();
    assert!(answer.contains(expected), "{answer:?}");
}

#[test]
fn the_log_of_an_answer_that_is_not_finished_shows_all_of_it() {
    let instance = RoostInstance::new();
    let mut run = instance.start(&["run", "--json", "slow", "60"]);
    let events: Vec<Value> =
        run.lines_to("model.output.delta").iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let written = events.last().unwrap()["payload"]["delta"].as_str().unwrap().trim().to_owned();
    let session = session_id(&events);
    let shown = instance.terminal_with_colours(80, &["log", &session]).ended(0);
    assert!(shown.contains(&written), "{written:?}: {shown}");
    run.signal(Signal::INT);
    run.finish().ended(130);
}

#[test]
fn a_table_fits_the_terminal_and_is_whole_in_a_pipe() {
    let instance = RoostInstance::new();
    let folder = instance.work().join("a-folder-with-a-long-name/and-another-one-in-it/and-a-third-one/web");
    fs::create_dir_all(&folder).unwrap();
    let folder = folder.to_str().unwrap();
    instance.run(&["run", "--cwd", folder, "hello"]).ended(0);
    instance.run(&["workspaces", "add", folder]).ended(0);
    for command in ["sessions", "workspaces", "runtimes"] {
        let shown = instance.terminal_with_colours(80, &[command]).ended(0);
        for line in shown.lines() {
            let text = line.replace("\x1b[2m", "").replace("\x1b[0m", "");
            assert!(text.chars().count() <= 80, "{command}: {text:?}");
        }
        assert!(command == "runtimes" || shown.contains("/web"), "the end of a path stays: {shown}");
    }
    assert!(instance.run(&["sessions"]).ended(0).stdout.contains(folder));
}

#[test]
fn commands_about_files_say_what_a_workspace_is_for() {
    let instance = RoostInstance::new();
    instance.run(&["up"]).ended(0);
    let elsewhere = instance.home().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    for command in [&["files"][..], &["git", "status"], &["search", "x"]] {
        let done = instance.command(command).current_dir(&elsewhere).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{said}");
        let advice = format!("roost workspaces add {}", elsewhere.display());
        assert!(said.contains("is not in a workspace") && said.contains(&advice), "{said}");
    }
}

#[test]
fn a_log_names_who_answered() {
    let instance = RoostInstance::new();
    let mut run = instance.start(&["run", "--json", "--approvals", "wait", "edit"]);
    let asked: Value = serde_json::from_str(run.lines_to("approval.requested").last().unwrap()).unwrap();
    let call = asked["payload"]["tool_call_id"].as_str().unwrap();
    instance.run(&["approvals", "answer", call, "allow"]).ended(0);
    run.finish().ended(0);
    let session = asked["trace"]["session_id"].as_str().unwrap();
    let log = instance.run(&["log", session]).ended(0).stdout;
    assert!(log.contains("answered by you on this computer"), "{log}");
}
