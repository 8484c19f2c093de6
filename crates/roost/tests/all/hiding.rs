//! No text of an agent, a file, a branch, a workspace or a device hides anything at the terminal, or steers it.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::kit::RoostInstance;
use crate::misleading_agent::{HIDDEN, hidden};

const CHOICE: &str = "[n]o: ";

/// Nothing that hides is left of a text.
#[track_caller]
fn assert_plain(what: &str, shown: &str) {
    // Our own way to write over a line that shows how far something is.
    let shown = shown.replace("\u{1b}[2K", "");
    let left: Vec<_> = HIDDEN.chars().filter(|c| !c.is_ascii_graphic() && shown.contains(*c)).collect();
    assert!(left.is_empty(), "{what} shows {left:?} as they are: {shown:?}");
}

/// What a name may hold: git and file systems know no slash, and git no control characters.
fn name(word: &str) -> String {
    hidden(word).chars().filter(|c| !c.is_control() && !"[];".contains(*c)).collect()
}

/// A repository on a branch, with a file, whose names and contents hide something.
fn repository(instance: &RoostInstance) {
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        assert!(instance.clear(&mut command).args(args).status().unwrap().success(), "{args:?}");
    };
    git(&["init", "--quiet", &format!("--initial-branch={}", name("branch"))]);
    let file = instance.work().join(hidden("file").replace('/', ""));
    fs::write(&file, hidden("needle\n")).unwrap();
    git(&["add", "."]);
    let identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
    git(&[&identity[..], &["commit", "--quiet", "--message", "first"]].concat());
    fs::write(&file, hidden("needle\nmore\n")).unwrap();
    fs::create_dir(instance.work().join(hidden("folder"))).unwrap();
    fs::write(instance.work().join(hidden("folder")).join("x"), "x").unwrap();
}

#[test]
fn nothing_that_hides_reaches_the_terminal_from_any_command() {
    let instance = RoostInstance::new().with_misleading_agent();
    repository(&instance);
    instance.run(&["up"]).ended(0);
    instance.pair(&hidden("phone"));
    let work = instance.work().display().to_string();
    instance.run(&["workspaces", "remove", "work"]).ended(0);
    instance.run(&["workspaces", "add", &work, "--name", &name("space")]).ended(0);

    let mut run = instance.terminal(&["run", "--runtime", "misleading", &hidden("hide")]);
    run.shows(CHOICE);
    let waiting = instance.terminal(&["approvals"]).ended(0);
    assert!(waiting.contains("$ rm -rf build␛[2J"), "{waiting}");
    assert_plain("approvals", &waiting);
    let id = waiting.split_whitespace().next().unwrap();
    assert_plain("approvals show", &instance.terminal(&["approvals", "show", id]).ended(0));
    assert_plain("approvals --json", &instance.terminal(&["approvals", "--json"]).ended(0));
    run.types("n\n").shows("why").types("\n");
    let shown = run.ended(0);
    for part in ["said␛[2J", "thought␛[2J", "step␛[2J", "Read README␛[2J", "<U+202E>", "<U+E0041>"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_plain("run", &shown);
    let session = shown.rsplit("roost log ").next().unwrap().trim().to_owned();
    assert_plain("run that fails", &instance.terminal(&["run", "--runtime", "misleading", "fail"]).ended(1));

    let file = hidden("file");
    let (strange, bundle) = (hidden("nothing"), instance.work().join(hidden("bundle")).display().to_string());
    let commands: &[(&[&str], i32)] = &[
        (&["log", &session], 0),
        (&["-vv", "log", &session], 0),
        (&["log", "--json", &session], 0),
        (&["sessions"], 0),
        (&["sessions", "--all", "--json"], 0),
        (&["devices"], 0),
        (&["devices", "--json"], 0),
        (&["rules"], 0),
        (&["workspaces"], 0),
        (&["workspaces", "--json"], 0),
        (&["workspaces", "discover", &work], 0),
        (&["services"], 0),
        (&["services", "add-stdio", "--no-start", "--module", "odd", "--name", &strange, "--", &strange], 0),
        (&["services"], 0),
        (&["services", "details", "odd"], 0),
        (&["audit"], 0),
        (&["services", "start", &strange], 2),
        (&["files"], 0),
        (&["files", "--json"], 0),
        (&["files", "--tree"], 0),
        (&["files", "cat", &file], 0),
        (&["files", "cat", "--json", &file], 0),
        (&["git", "status"], 0),
        (&["git", "diff"], 0),
        (&["git", "diff", "--json"], 0),
        (&["search", "file"], 0),
        (&["search", "--text", "needle"], 0),
        (&["search", "--json", "--text", "needle"], 0),
        (&["status"], 0),
        (&["runtimes"], 0),
        (&["export", &session, "--output", &bundle], 0),
        // What quotes what was typed.
        (&["log", &strange], 2),
        (&["attach", &strange], 2),
        (&["stop", &strange], 2),
        (&["files", &strange], 2),
        (&["files", "cat", &strange], 2),
        (&["workspaces", "remove", &strange], 2),
        (&["workspaces", "add", &strange], 2),
        (&["devices", "revoke", &strange], 2),
        (&["devices", "approve", &strange], 2),
        (&["rules", "remove", &strange], 2),
        (&["approvals", "answer", &strange, "allow"], 2),
        (&["run", "--runtime", &strange, "x"], 2),
        (&["run", "--permission-mode", &strange], 2),
        (&["login", &strange], 2),
        (&["export", &strange], 2),
        (&[&strange], 2),
    ];
    for (args, code) in commands {
        assert_plain(&format!("{args:?}"), &instance.terminal(args).ended(*code));
    }
    let mut attached = instance.terminal(&["attach", &session]);
    attached.shows("said␛[2J").shows("It waits for a prompt").shows("> ").types("/quit\n");
    assert_plain("attach", &attached.ended(0));
    for words in [["attach", ""], ["log", ""]] {
        let mut complete = instance.command(&["--", "roost", words[0], words[1]]);
        let offered = complete.env("ROOST_COMPLETE", "fish").output().unwrap().stdout;
        let offered = String::from_utf8(offered).unwrap();
        assert!(offered.contains(&session) && offered.contains("hide␛[2J"), "{offered}");
        assert_plain("completions", &offered);
    }
    // What programs read is as it is, and what people read is not.
    let piped = instance.run(&["files", "cat", &file]).ended(0).stdout;
    assert_eq!(piped, hidden("needle\nmore\n"));
    assert_plain("a log in a pipe", &instance.run(&["log", &session]).ended(0).stdout);
    instance.assert_nothing_left();
}

#[test]
fn json_at_a_terminal_means_the_same_as_in_a_pipe() {
    let instance = RoostInstance::new();
    fs::write(instance.work().join(hidden("file")), "x").unwrap();
    instance.run(&["up"]).ended(0);
    let names = |text: &str| {
        let listed: Value = serde_json::from_str(text).unwrap();
        listed["files"].as_array().unwrap().iter().map(|file| file["name"].clone()).collect::<Vec<_>>()
    };
    let shown = instance.terminal(&["files", "--json"]).ended(0);
    assert_plain("files --json", &shown);
    assert_eq!(names(&shown), [hidden("file")]);
    assert_eq!(names(&instance.run(&["files", "--json"]).ended(0).stdout), [hidden("file")]);
}
