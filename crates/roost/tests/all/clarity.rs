//! Roost under the names of clarity-runtime: `clarityctl` and `clarityd`, made by links.

mod apps;
mod bridging;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use crate::kit::{Done, RoostInstance, RunningCommand};

const TOKEN: &str = "the-token-of-this-test";
/// What a client says at its handshake.
const HELLO: &str = r#"{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}"#;

/// Roost with a link of this name.
fn program(instance: &RoostInstance, name: &str, args: &[&str]) -> Command {
    let link = instance.home().join(name);
    fs::create_dir_all(instance.home()).unwrap();
    if !link.exists() {
        symlink(env!("CARGO_BIN_EXE_roost"), &link).unwrap();
    }
    let mut command = Command::new(link);
    instance.clear(&mut command).args(args);
    command
}

fn clarityctl(instance: &RoostInstance, args: &[&str]) -> Done {
    RunningCommand::new(&mut program(instance, "clarityctl", args)).finish()
}

fn json(done: &Done) -> Value {
    serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {done:#?}"))
}

fn source(instance: &RoostInstance, path: &str, text: &str) -> PathBuf {
    let file = instance.work().join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, text).unwrap();
    file
}

fn compiler(instance: &RoostInstance) -> String {
    fs::create_dir_all(instance.home()).unwrap();
    testkit::clarity_compiler::write(&instance.home()).display().to_string()
}

/// A daemon under the name of clarity-runtime's, and its URL.
fn clarityd(instance: &RoostInstance) -> (RunningCommand, String) {
    let args = ["--port", "0", "--host", "localhost", "--auth-token", TOKEN];
    let mut daemon = RunningCommand::new(&mut program(instance, "clarityd", &args));
    let line = daemon.lines_to("http://").pop().unwrap();
    let url = line.split_whitespace().find(|word| word.starts_with("http://")).unwrap();
    let url = url.trim_end_matches(';').to_owned();
    (daemon, url)
}

#[test]
fn the_names_are_made_beside_the_program_and_replace_nobody_elses() {
    let instance = RoostInstance::new();
    let bin = instance.work().join("bin");
    fs::create_dir(&bin).unwrap();
    fs::write(bin.join("clarityd"), "another program").unwrap();
    let bin = bin.to_str().unwrap();
    let refused = instance.run(&["names", bin]).ended(1);
    assert!(refused.stderr.contains("it is another program"), "{refused:#?}");
    assert_eq!(fs::read_to_string(format!("{bin}/clarityd")).unwrap(), "another program");
    fs::remove_file(format!("{bin}/clarityd")).unwrap();
    // A second time is no failure.
    for _ in 0..2 {
        instance.run(&["names", bin]).ended(0);
    }
    for (name, says) in [("clarityctl", "clarityctl"), ("clarityd", "clarityd")] {
        let mut command = Command::new(format!("{bin}/{name}"));
        let help = RunningCommand::new(instance.clear(&mut command).arg("--help")).finish().ended(0).stdout;
        assert!(help.contains(&format!("Usage: {says}")), "{help}");
    }
}

#[test]
fn every_name_is_a_program_of_its_own_that_cargo_install_puts_in_place() {
    let instance = RoostInstance::new();
    for (program, says) in [
        (env!("CARGO_BIN_EXE_clarityctl"), "Usage: clarityctl"),
        (env!("CARGO_BIN_EXE_clarityd"), "Usage: clarityd"),
        (env!("CARGO_BIN_EXE_codex-cli-acp"), "Usage: roost acp"),
    ] {
        let mut command = Command::new(program);
        let help = RunningCommand::new(instance.clear(&mut command).arg("--help")).finish().ended(0).stdout;
        assert!(help.contains(says), "{help}");
        assert!(fs::metadata(program).unwrap().len() < 16 << 20, "{program} carries all of roost");
    }
    let mut forwarder = Command::new(env!("CARGO_BIN_EXE_acplb-notify-forwarder"));
    RunningCommand::new(instance.clear(&mut forwarder).arg(r#"{"type":"agent-turn-complete"}"#)).finish();
    // Alone it says what it lacks.
    let alone = instance.work().join("clarityctl");
    fs::copy(env!("CARGO_BIN_EXE_clarityctl"), &alone).unwrap();
    let mut command = Command::new(&alone);
    let refused = RunningCommand::new(instance.clear(&mut command).arg("list")).finish().ended(1);
    assert!(refused.stderr.starts_with("clarityctl: `roost`, which must be in the same folder"), "{refused:#?}");
}

#[test]
fn a_compiler_that_hangs_is_ended_when_its_time_is_over() {
    let instance = RoostInstance::new();
    let compiler = compiler(&instance);
    source(&instance, "dice.clarity", "HANGS");
    let add = ["add", "dice", "--compiler-bin", &compiler, "--compile-timeout", "1"];
    let refused = clarityctl(&instance, &add).ended(1);
    assert!(refused.stderr.contains("did not finish within 1 second and was ended"), "{refused:#?}");
    let all =
        json(&clarityctl(&instance, &["add-all", "--compiler-bin", &compiler, "--compile-timeout", "1"]).ended(1));
    assert!(all["failures"][0]["error"].as_str().unwrap().contains("was ended"), "{all}");
    instance.assert_nothing_left();
}

#[test]
fn the_token_that_a_bridge_is_started_with_is_in_no_place_where_agents_could_read_it() {
    let (instance, elsewhere) = (RoostInstance::new(), RoostInstance::new());
    let (daemon, url) = clarityd(&instance);
    let on_the_line = ["gateway", "serve", "--stdio", "--daemon-url", &url, "--auth-token", TOKEN];
    for (args, variable) in [(&on_the_line[..], ""), (&on_the_line[..5], TOKEN)] {
        let mut command = program(&elsewhere, "clarityctl", args);
        command.env("CLARITYD_AUTH_TOKEN", variable);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        writeln!(stdin, r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{HELLO}}}"#).unwrap();
        let mut answer = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut answer).unwrap();
        assert!(answer.contains("\"result\""), "{answer}");
        for file in ["cmdline", "environ"] {
            let shown = fs::read(format!("/proc/{}/{file}", child.id())).unwrap();
            assert!(!String::from_utf8_lossy(&shown).contains(TOKEN), "{file}");
        }
        drop(stdin);
        assert!(child.wait().unwrap().success());
    }
    daemon.signal(Signal::TERM);
    daemon.finish().ended(0);
}

#[test]
fn the_token_that_a_daemon_is_started_with_is_in_no_place_where_agents_could_read_it() {
    let instance = RoostInstance::new();
    let (daemon, _) = clarityd(&instance);
    let pid = instance.daemon().as_raw_nonzero();
    for file in ["cmdline", "environ"] {
        let shown = fs::read(format!("/proc/{pid}/{file}")).unwrap();
        assert!(!String::from_utf8_lossy(&shown).contains(TOKEN), "{file}");
    }
    instance.run(&["down"]).ended(0);
    daemon.finish().ended(0);
    instance.assert_nothing_left();
}

#[test]
fn a_source_is_compiled_and_registered_where_the_original_puts_it() {
    let instance = RoostInstance::new();
    let (compiler, file) = (compiler(&instance), source(&instance, "dice.clarity", "module Dice"));
    instance.configure("[[policy.rules]]\neffect = 'allow'\ntool = 'mcp__roost__dice__fn__add'\n");
    let add = ["add", "dice", "--compiler-bin", &compiler, "--name", "The dice"];
    let answer = json(&clarityctl(&instance, &add).ended(0));
    assert_eq!(answer["ok"], true);
    assert_eq!((answer["module"].as_str(), answer["sourceFile"].as_str()), (Some("dice"), file.to_str()));
    let wasm = instance.work().join(".clarity/build/dice.wasm");
    assert_eq!(answer["wasmPath"].as_str(), wasm.to_str());
    let id = answer["serviceId"].as_str().unwrap();
    let listed = json(&clarityctl(&instance, &["list"]).ended(0));
    assert_eq!(
        (listed["items"][0]["serviceId"].as_str(), listed["items"][0]["originType"].as_str()),
        (Some(id), Some("local_wasm"))
    );
    let details = json(&clarityctl(&instance, &["details", id, "--log-limit", "5"]).ended(0));
    assert_eq!(details["service"]["manifest"]["metadata"]["displayName"], "The dice");
    assert_eq!(details["interface"]["tools"][2]["name"], "fn__add", "{details:#}");
    let called = instance.run(&["services", "call", "dice", "fn__add", r#"{"args": [2, 3]}"#]).ended(0);
    assert_eq!(called.stdout.trim(), "5");
    let removed = json(&clarityctl(&instance, &["remove", "dice", "--cleanup-artifacts"]).ended(0));
    assert_eq!((&removed["removed"], &removed["artifactRemoved"]), (&true.into(), &true.into()));
    assert!(!wasm.exists() && file.exists());
    instance.assert_nothing_left();
}

#[test]
fn all_sources_of_a_folder_are_added_and_one_that_does_not_compile_is_told_of() {
    let instance = RoostInstance::new();
    let compiler = compiler(&instance);
    source(&instance, "all/a.clarity", "module A");
    source(&instance, "all/below/b.clarity", "module B");
    let bad = source(&instance, "all/below/c.clarity", "REFUSED");
    let answer = json(&clarityctl(&instance, &["add-all", "all", "--recursive", "--compiler-bin", &compiler]).ended(1));
    assert_eq!((&answer["scanned"], &answer["added"], &answer["ok"]), (&3.into(), &2.into(), &false.into()));
    let failures = answer["failures"].as_array().unwrap();
    let of_bad = failures.iter().find(|failure| failure["sourceFile"].as_str() == bad.to_str()).unwrap();
    assert!(of_bad["error"].as_str().unwrap().contains("REFUSED"), "{answer}");
    let none = json(&clarityctl(&instance, &["add-all", ".clarity/build", "--compiler-bin", &compiler]).ended(0));
    assert_eq!((&none["scanned"], &none["note"]), (&0.into(), &"no .clarity files found".into()));
}

#[test]
fn the_old_commands_still_register_and_say_that_they_are_old() {
    let instance = RoostInstance::new();
    let (compiler, file) = (compiler(&instance), source(&instance, "a.clarity", "module A"));
    let file = file.display().to_string();
    let started =
        clarityctl(&instance, &["start-source", "--source", &file, "--module", "A", "--compiler-bin", &compiler]);
    assert!(started.stderr.contains("`start-source` is old"), "{started:#?}");
    assert_eq!(json(&started)["module"], "A");
    let wasm = instance.work().join(".clarity/build/A.wasm").display().to_string();
    let local = ["add-local", "--source", &file, "--module", "B", "--wasm", &wasm];
    let added = clarityctl(&instance, &local).ended(0);
    assert!(added.stderr.contains("`add-local` is old"), "{added:#?}");
    let service = &json(&added)["service"];
    assert_eq!(service["manifest"]["spec"]["origin"]["wasmPath"].as_str(), Some(&*wasm));
    assert_eq!(service["runtime"]["lifecycle"], "REGISTERED", "it is not started");
}

#[test]
fn a_secret_comes_from_stdin_and_on_the_command_line_with_a_warning() {
    let instance = RoostInstance::new();
    let mut command = program(&instance, "clarityctl", &["auth", "set-secret", "file:team/token"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"from-stdin\n").unwrap();
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success(), "{done:?}");
    assert!(!String::from_utf8_lossy(&done.stderr).contains("command line"), "{done:?}");
    let kept = |name: &str| fs::read_to_string(instance.state().join("secrets").join(name)).unwrap();
    assert_eq!(kept("team/token"), "from-stdin");
    let warned = clarityctl(&instance, &["auth", "set-secret", "file:other", "from-argv"]).ended(0);
    assert!(warned.stderr.contains("command line"), "{warned:#?}");
    assert_eq!(kept("other"), "from-argv");
    let listed = clarityctl(&instance, &["auth", "list-secrets"]).ended(0);
    assert_eq!((&json(&listed)["count"], listed.stdout.contains("from-")), (&2.into(), false));
    clarityctl(&instance, &["auth", "validate", "file:team/token"]).ended(0);
    clarityctl(&instance, &["auth", "delete-secret", "file:team/token"]).ended(0);
    clarityctl(&instance, &["auth", "validate", "file:team/token"]).ended(1);
}

#[test]
fn the_doctor_names_what_fails_and_ends_with_1() {
    let instance = RoostInstance::new();
    let compiler = compiler(&instance);
    let well = json(&clarityctl(&instance, &["doctor", "--compiler-bin", &compiler]).ended(0));
    assert_eq!((&well["ok"], &well["status"]["gateway"]["mcpPath"]), (&true.into(), &"/mcp".into()));
    let ill = json(&clarityctl(&instance, &["doctor", "--compiler-bin", "/nowhere/clarityc"]).ended(1));
    let found: Vec<_> =
        ill["checks"].as_array().unwrap().iter().map(|check| (&check["name"], &check["status"])).collect();
    let expected = [("daemon", "pass"), ("compiler", "fail"), ("workspace", "pass")];
    assert_eq!(
        found,
        expected
            .map(|(name, status)| (name.into(), status.into()))
            .iter()
            .map(|(n, s)| (n, s))
            .collect::<Vec<(&Value, &Value)>>()
    );
    let away = ["doctor", "--compiler-bin", &compiler, "--daemon-url", "http://127.0.0.1:1", "--auth-token", "x"];
    let away = json(&clarityctl(&instance, &away).ended(1));
    assert_eq!(away["checks"][0]["status"], "fail");
}

#[test]
fn clarityd_is_operated_from_elsewhere_with_its_token_and_with_no_other() {
    let (instance, elsewhere) = (RoostInstance::new(), RoostInstance::new());
    let (daemon, url) = clarityd(&instance);
    let operate = |token: &str, args: &[&str]| {
        let mut command = program(&elsewhere, "clarityctl", args);
        command.env("CLARITYD_URL", &url).env("CLARITYD_AUTH_TOKEN", token);
        RunningCommand::new(&mut command).finish()
    };
    let remote = ["add-remote", "--endpoint", "http://127.0.0.1:1/mcp", "--module", "docs", "--timeout-ms", "1000"];
    let added = json(&operate(TOKEN, &remote).ended(0));
    assert_eq!(added["service"]["runtime"]["lifecycle"], "REGISTERED");
    let status = json(&operate(TOKEN, &["status"]).ended(0));
    assert_eq!((&status["summary"]["total"], &status["services"][0]["module"]), (&1.into(), &"docs".into()));
    for token in ["", "wrong", &TOKEN.to_uppercase()] {
        let refused = operate(token, &["list"]).ended(1);
        assert!(refused.stderr.contains("wants another token"), "{refused:#?}");
        assert!(!refused.stderr.contains(TOKEN));
    }
    // On the daemon's own machine no token is needed, not even with its URL.
    let own = clarityctl(&instance, &["list", "--daemon-url", &url]).ended(0);
    assert_eq!(json(&own)["items"][0]["module"], "docs");
    assert!(!elsewhere.state().exists(), "no second daemon was started");
    daemon.signal(Signal::TERM);
    daemon.finish().ended(0);
}

#[test]
fn the_gateway_is_served_over_stdio_from_a_daemon_at_a_url() {
    let (instance, elsewhere) = (RoostInstance::new(), RoostInstance::new());
    let (daemon, url) = clarityd(&instance);
    let args = ["gateway", "serve", "--stdio", "--daemon-url", &url, "--auth-token", TOKEN];
    let mut command = program(&elsewhere, "clarityctl", &args);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{HELLO}}}"#).unwrap();
    writeln!(stdin, r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#).unwrap();
    writeln!(stdin, "this is no JSON").unwrap();
    writeln!(stdin, r#"{{"jsonrpc":"2.0","id":2,"method":"tools/list"}}"#).unwrap();
    drop(stdin);
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let answers: Vec<Value> =
        String::from_utf8(done.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&answers[0]["id"], &answers[0]["result"]["protocolVersion"]), (&1.into(), &"2025-06-18".into()));
    assert_eq!((&answers[1]["id"], &answers[1]["error"]["code"]), (&Value::Null, &(-32700).into()));
    assert!(answers[2]["result"]["tools"].is_array(), "{answers:?}");
    assert_eq!(answers.len(), 3);
    daemon.signal(Signal::TERM);
    daemon.finish().ended(0);
}
