//! The commands around: help, lists, completions, doctor.

use serde_json::Value;

use crate::kit::{RoostInstance, script, session_id};

const COMMANDS: [&str; 26] = [
    "run",
    "demo",
    "attach",
    "log",
    "sessions",
    "approvals",
    "stop",
    "serve",
    "up",
    "down",
    "status",
    "pair",
    "devices",
    "workspaces",
    "services",
    "audit",
    "files",
    "git",
    "search",
    "export",
    "runtimes",
    "login",
    "check",
    "doctor",
    "completions",
    "names",
];

#[test]
fn every_command_explains_itself_with_examples() {
    let instance = RoostInstance::new();
    for command in COMMANDS {
        let help = instance.run(&[command, "--help"]).ended(0).stdout;
        assert!(help.contains("Examples:") && help.contains(&format!("roost {command}")), "{help}");
    }
    let help = instance.run(&["--help"]).ended(0).stdout;
    assert!(COMMANDS.iter().all(|command| help.contains(command)), "{help}");
}

#[test]
fn wrong_usage_ends_with_2() {
    let instance = RoostInstance::new();
    for args in
        [&["frobnicate"][..], &["run", "--permission-mode", "root"], &["log"], &["run", "--continue", "--session", "x"]]
    {
        instance.run(args).ended(2);
    }
}

#[test]
fn a_wrong_value_is_told_in_plain_words() {
    let instance = RoostInstance::new();
    let table: [(&[&str], &str); 4] = [
        (&["log", "x", "--after", "many"], "it is not a whole number"),
        (&["files", "--limit", "99999999999"], "is not in 0..=4294967295"),
        (&["run", "--isolation", "total", "x"], "choose one of shared, namespaced, ephemeral"),
        (&["run", "--runtime-config", "x", "x"], "not a JSON object such as"),
    ];
    for (args, words) in table {
        let done = instance.run(args).ended(2);
        assert!(done.stderr.contains(words), "{done:#?}");
    }
}

#[test]
fn completions_are_made_for_every_shell() {
    let instance = RoostInstance::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = instance.run(&["completions", shell]).ended(0).stdout;
        assert!(script.contains("roost") && script.contains("ROOST_COMPLETE"), "{shell}");
    }
}

#[test]
fn a_shell_completes_commands_and_what_the_daemon_knows() {
    let instance = RoostInstance::new();
    let session = session_id(&instance.run(&["run", "--json", "hello"]).ended(0).events(1));
    let table: [(&[&str], &str); 5] = [
        (&["att"], "attach"),
        (&["log", ""], &session),
        (&["attach", "lat"], "latest"),
        (&["run", "--runtime", ""], "demo"),
        (&["run", "--permission-mode", "acc"], "accept-edits"),
    ];
    for (words, expected) in table {
        let args = [&["--", "roost"], words].concat();
        let offered = instance.command(&args).env("ROOST_COMPLETE", "fish").output().unwrap().stdout;
        let offered = String::from_utf8(offered).unwrap();
        let mut offers = offered.lines().map(|line| line.split('\t').next().unwrap());
        assert!(offers.any(|offer| offer == expected), "{words:?}: {offered}");
    }
}

#[test]
fn runtimes_say_what_they_can_do() {
    let lines = RoostInstance::new().run(&["runtimes", "--json"]).ended(0).stdout;
    let runtimes: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ids: Vec<_> = runtimes.iter().map(|runtime| runtime["id"].as_str().unwrap()).collect();
    assert!(ids.starts_with(&["demo", "claude", "codex"]), "{ids:?}");
    let demo = &runtimes[0];
    assert_eq!((&demo["installed"], &demo["loggedIn"]), (&true.into(), &true.into()));
    assert!(demo["capabilities"]["supportsStreaming"].as_bool().unwrap());
    assert_eq!(runtimes.iter().filter(|runtime| runtime["isDefault"] == true).count(), 1);
}

#[test]
fn a_healthy_place_is_found_healthy() {
    let instance = RoostInstance::new();
    let findings = instance.run(&["doctor", "--json"]).ended(0).stdout;
    let findings: Vec<Value> = findings.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let verdict = |what: &str| findings.iter().find(|finding| finding["what"] == what).unwrap()["verdict"].clone();
    for what in
        ["system", "state directory", "state lock", "socket", "daemon", "port", "database", "holder", "runtime demo"]
    {
        assert_eq!(verdict(what), "ok", "{what}");
    }
    instance.assert_nothing_left();
}

#[test]
fn a_missing_agent_is_a_warning_with_advice() {
    let instance = RoostInstance::new();
    instance.configure("[runtimes.x]\ncommand = 'no-such-agent'");
    let done = instance.run(&["doctor"]).ended(0);
    assert!(done.stdout.contains("warn  runtime x") && done.stdout.contains("roost.toml"), "{done:#?}");
}

#[test]
fn where_agents_are_looked_for_is_told_once_and_only_to_whoever_wants_details() {
    let instance = RoostInstance::new();
    instance.configure("[runtimes.x]\ncommand = 'no-such-agent'");
    let path = std::env::var("PATH").unwrap();
    for (args, times) in [(&["doctor"][..], 0), (&["runtimes"], 0), (&["doctor", "-v"], 1)] {
        let shown = instance.run(args).ended(0).stdout;
        assert_eq!((shown.matches(&path).count(), shown.contains("no-such-agent")), (times, true), "{args:?}: {shown}");
    }
}

#[test]
fn a_version_that_is_newer_than_the_tested_ones_is_a_warning() {
    let instance = RoostInstance::new();
    let claude = instance.work().join("claude");
    script(&claude, "echo '99.0.0 (Claude Code)'");
    instance.configure(&format!("[runtimes.claude]\ncommand = {claude:?}"));
    let doctor = instance.run(&["doctor"]).ended(0).stdout;
    let warning = "warn  runtime claude: installed, version 99.0.0\n      Claude Code 99.0.0 is newer than ";
    assert!(doctor.contains(warning), "{doctor}");
    let runtimes = instance.run(&["runtimes"]).ended(0).stdout;
    assert!(runtimes.contains("Claude Code 99.0.0 is newer than "), "{runtimes}");
    let lines = instance.run(&["runtimes", "--json"]).ended(0).stdout;
    let runtimes: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let noted: Vec<_> = runtimes.iter().filter(|runtime| runtime["note"].is_string()).map(|one| &one["id"]).collect();
    assert_eq!(noted, ["claude"]);
}

#[test]
fn a_state_directory_that_cannot_be_made_fails_with_advice() {
    let instance = RoostInstance::new();
    let done = instance.run(&["--state", "/proc/nowhere", "doctor"]).ended(1);
    assert!(done.stdout.contains("fail  state directory") && done.stdout.contains("--state"), "{done:#?}");
}

#[test]
fn an_empty_variable_for_the_state_directory_is_none() {
    let instance = RoostInstance::new();
    let mut command = instance.command(&["sessions"]);
    let done = command.env("ROOST_STATE", "").env("ROOST_CONFIG", "").output().unwrap();
    let (said, wrong) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success() && said.contains("No sessions yet"), "{said}{wrong}");
}

#[test]
fn a_list_that_nobody_reads_is_no_error() {
    let instance = RoostInstance::new();
    let done = instance.start(&["completions", "bash"]).finish_unread();
    assert!(done.code == Some(0) && done.stderr.is_empty(), "{done:#?}");
}

#[test]
fn the_forwarder_passes_on_what_codex_says_and_is_nobodys_command() {
    let instance = RoostInstance::new();
    let path = instance.work().join("notify.jsonl");
    let forward = |args: &[&str]| instance.command(args).env("ACPLB_NOTIFY_PATH", &path).output().unwrap();
    assert!(forward(&["notify", "{\"type\":\"agent-turn-complete\"}"]).status.success());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"type\":\"agent-turn-complete\"}\n");
    let refused = forward(&["notify"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("exactly one argument"), "{refused:?}");
    assert!(!instance.run(&["--help"]).ended(0).stdout.contains("notify"));
}
