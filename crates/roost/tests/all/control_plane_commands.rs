//! Every command of the control plane, under both of its names, against modules that real compilers made. A command of the
//! help that has no row here fails the test.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::{Value, json};
use testkit::clarity_compiler;

use crate::kit::{RoostInstance, RunningCommand, post, script, wait_for};
use crate::wasm_modules::MODULES;

/// The compiler, from the working folder.
const COMPILER: &str = "../home/clarityc";
/// Two tools may be called unasked.
const RULES: &str = "[[policy.rules]]\neffect = 'allow'\ntool = 'mcp__roost__numbers__fn__fib'\n\
                     [[policy.rules]]\neffect = 'allow'\ntool = 'mcp__roost__runtime__unquarantine_service'\n";
/// A server that has one tool.
const SERVER: &str = r#"while read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    case $line in
    *'"initialize"'*) answer='"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"notes","version":"1"}}' ;;
    *'"tools/list"'*) answer='"result":{"tools":[{"name":"jot","inputSchema":{"type":"object"}}]}' ;;
    *) answer='"result":{}' ;;
    esac
    [ -n "$id" ] && printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$answer"
done"#;

/// How a command goes.
#[derive(Clone, Copy)]
enum Goes {
    /// It ends with this code.
    Ends(i32),
    /// It goes on until it is interrupted.
    On,
}
use Goes::{Ends, On};

/// A command with its arguments, how it goes, and what it prints, spaces left out.
type Row = (&'static [&'static str], Goes, &'static str);

const CLARITYCTL: &[Row] = &[
    (&["doctor", "--compiler-bin", COMPILER], Ends(0), r#""ok":true"#),
    (&["add", "words.wasm"], Ends(0), r#""module":"words""#),
    (&["add", "numbers.wasm"], Ends(0), r#""ok":true"#),
    (&["add-all", "sources", "--compiler-bin", COMPILER], Ends(0), r#""added":1"#),
    (
        &["add-local", "--source", "a.clarity", "--module", "copy", "--wasm", "words.wasm"],
        Ends(0),
        r#""lifecycle":"REGISTERED""#,
    ),
    (
        &["start-source", "--source", "sources/dice.clarity", "--module", "more", "--compiler-bin", COMPILER],
        Ends(0),
        r#""module":"more""#,
    ),
    (&["add-remote", "--endpoint", "http://127.0.0.1:1/mcp", "--module", "far"], Ends(0), r#""REGISTERED""#),
    (&["list"], Ends(0), r#""module":"words""#),
    (&["status"], Ends(0), r#""mcpPath":"/mcp""#),
    (&["stop", "words"], Ends(0), r#""lifecycle":"STOPPED""#),
    (&["start", "words"], Ends(0), r#""lifecycle":"RUNNING""#),
    (&["restart", "words"], Ends(0), r#""lifecycle":"RUNNING""#),
    (&["introspect", "words"], Ends(0), r#""name":"fn__vowels""#),
    (&["details", "words", "--log-limit", "5"], Ends(0), r#""kind":"service.started""#),
    (&["logs", "words", "--limit", "100"], Ends(0), "compil"),
    (&["unquarantine", "broken"], Ends(0), r#""lifecycle":"STOPPED""#),
    (&["remove", "copy"], Ends(0), r#""removed":true"#),
    (&["auth", "providers"], Ends(0), r#""header_env""#),
    (&["auth", "set-secret", "file:a", "s3cret"], Ends(0), r#""written":true"#),
    (&["auth", "validate", "file:a"], Ends(0), r#""valid":true"#),
    (&["auth", "list-secrets"], Ends(0), r#""file:a""#),
    (&["auth", "delete-secret", "file:a"], Ends(0), r#""deleted":true"#),
    (&["bootstrap", "--clients", "gemini"], Ends(0), r#""updated":true"#),
    (&["bootstrap-remove", "--clients", "gemini"], Ends(0), r#""removed":true"#),
    (&["gateway", "serve", "--stdio"], Ends(0), ""),
];

const ROOST: &[Row] = &[
    (&["services", "add", "words.wasm"], Ends(0), "wordsruns,with4tools."),
    (&["services", "add", "numbers.wasm"], Ends(0), "numbersruns"),
    (&["services", "add-all", "sources", "--compiler-bin", COMPILER], Ends(0), "diceruns"),
    (
        &["services", "add-remote", "--endpoint", "http://127.0.0.1:1/mcp", "--module", "far", "--no-start"],
        Ends(0),
        "far",
    ),
    (&["services", "add-stdio", "--module", "notes", "--", "../work/notes.sh"], Ends(0), "notesruns,with1tool."),
    (&["services", "apply", "broken.json"], Ends(1), "broken"),
    (&["services", "list"], Ends(0), "words"),
    (&["services", "status", "words"], Ends(0), "wordsruns"),
    (&["services", "stop", "words"], Ends(0), "isstopped"),
    (&["services", "start", "words"], Ends(0), "wordsruns"),
    (&["services", "restart", "words"], Ends(0), "wordsruns"),
    (&["services", "introspect", "words"], Ends(0), "fn__vowels"),
    (&["services", "details", "words"], Ends(0), "fn__vowels"),
    (&["services", "logs", "words"], Ends(0), "compil"),
    (&["services", "logs", "-f", "words"], On, "compil"),
    (&["services", "call", "numbers", "fn__fib", r#"{"args": ["10"]}"#], Ends(0), "55"),
    (&["services", "unquarantine", "broken"], Ends(0), "brokenisstopped"),
    (&["services", "approve", "changing"], Ends(0), "fn__add"),
    // How it goes on is in services.rs.
    (&["services", "login", "words"], Ends(1), "onlyaremoteservice"),
    (&["services", "remove", "dice"], Ends(0), "isremoved"),
    (&["audit"], Ends(0), "service.started"),
    (&["audit", "-f"], On, "mcp.tool_called"),
    (&["runs"], Ends(0), "nightly"),
    (&["runs", "nightly"], Ends(0), "run_started"),
    (&["runs", "nightly", "-f"], On, "run_started"),
    (&["secrets", "providers"], Ends(0), "header_env"),
    (&["secrets", "set", "file:a"], Ends(0), "isset"),
    (&["secrets", "validate", "file:a"], Ends(0), "file:a"),
    (&["secrets", "list"], Ends(0), "file:a"),
    (&["secrets", "delete", "file:a"], Ends(0), "isdeleted"),
    (&["bootstrap", "--clients", "gemini", "--dry-run"], Ends(0), "+"),
    (&["bootstrap", "--clients", "gemini", "--update-agents-md"], Ends(0), "AGENTS.md"),
    (&["bootstrap", "--clients", "gemini", "--transport", "http"], Ends(0), "gemini"),
    (&["bootstrap", "--status"], Ends(0), "gemini"),
    (&["bootstrap", "--remove"], Ends(0), "gemini"),
    (&["gateway", "serve", "--stdio"], Ends(0), ""),
    (&["doctor"], Ends(0), "statedirectory"),
];

/// Modules, sources, a server and a compiler in the working folder; `broken` is quarantined, and `changing` has a tool that
/// was changed.
fn open() -> RoostInstance {
    let instance = RoostInstance::new();
    fs::create_dir_all(instance.home()).unwrap();
    instance.configure(RULES);
    clarity_compiler::write(&instance.home());
    let work = instance.work();
    for name in ["words.wasm", "words.tools.json", "numbers.wasm"] {
        fs::copy(built(name), work.join(name)).unwrap();
    }
    fs::create_dir(work.join("sources")).unwrap();
    fs::write(work.join("sources/dice.clarity"), "module Dice\n").unwrap();
    script(&work.join("notes.sh"), SERVER);
    instance.run(&["up"]).ended(0);

    let broken = json!({
        "apiVersion": "clarity.runtime/v1", "kind": "MCPService",
        "metadata": { "sourceFile": work.join("broken.clarity"), "module": "broken", "serviceType": "mcp" },
        "spec": {
            "origin": { "type": "local_wasm", "wasmPath": work.join("broken.wasm"), "entry": "mcp_main" },
            "enabled": true, "autostart": true, "policyRef": "default",
            "restartPolicy": { "mode": "on-failure", "maxRestarts": 1, "windowSeconds": 3600 },
        },
    });
    fs::write(work.join("broken.json"), broken.to_string()).unwrap();
    instance.run(&["services", "apply", "broken.json"]).ended(0);
    instance.run(&["services", "start", "broken"]).ended(1);
    wait_for("it to be quarantined", || (lifecycle(&instance, "broken") == "QUARANTINED").then_some(()));

    let (host, token) = instance.pair("orchestrator");
    let report = json!({ "kind": "agent.run_started", "run_id": "nightly", "agent": "night" });
    post(&host, "/api/agents/events", &token, &report);

    let adding = |parameters: &str| {
        let module = format!("(module (func (export \"add\") (param {parameters}) (result i64) i64.const 1))");
        fs::write(work.join("changing.wasm"), wat::parse_str(module).unwrap()).unwrap();
    };
    adding("i64 i64");
    instance.run(&["services", "add", "changing.wasm"]).ended(0);
    adding("i64");
    instance.run(&["services", "introspect", "changing"]).ended(0);
    instance
}

fn built(name: &str) -> PathBuf {
    let caches = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = caches.unwrap_or_else(|| std::env::home_dir().unwrap().join(".cache"));
    let file = MODULES.folder(&caches.join("roost")).join(name);
    assert!(file.is_file(), "{} is missing: run `cargo xtask fixtures`", file.display());
    file
}

fn lifecycle(instance: &RoostInstance, service: &str) -> String {
    let shown = instance.run(&["services", "status", "--json", service]).ended(0).stdout;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    shown["runtime"]["lifecycle"].as_str().unwrap().to_owned()
}

/// Roost under this name.
fn program(instance: &RoostInstance, name: &str, args: &[&str]) -> Command {
    let link = instance.home().join(name);
    if !link.exists() {
        symlink(env!("CARGO_BIN_EXE_roost"), &link).unwrap();
    }
    let mut command = Command::new(link);
    instance.clear(&mut command).args(args);
    command
}

/// The commands of a program below these words, as its help names them.
fn commands(instance: &RoostInstance, name: &str, words: &[String]) -> BTreeSet<String> {
    let args: Vec<_> = words.iter().map(String::as_str).chain(["--help"]).collect();
    let help = RunningCommand::new(&mut program(instance, name, &args)).finish().ended(0).stdout;
    let Some((_, listed)) = help.split_once("Commands:\n") else { return [words.join(" ")].into() };
    let names = listed.lines().take_while(|line| !line.trim().is_empty());
    let names = names.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.flat_map(|next| commands(instance, name, &[words, &[next.to_owned()]].concat())).collect()
}

/// The commands without a row.
fn without_a_row(instance: &RoostInstance, name: &str, below: &[&str], rows: &[Row]) -> Vec<String> {
    let below = below.iter().map(|word| vec![(*word).to_owned()]);
    let all = below.flat_map(|words| commands(instance, name, &words));
    all.filter(|command| {
        !rows.iter().any(|(args, ..)| format!("{} ", args.join(" ")).starts_with(&format!("{command} ")))
    })
    .collect()
}

fn run_rows(instance: &RoostInstance, name: &str, rows: &[Row]) {
    for (args, goes, shows) in rows {
        let plain = |text: &str| text.split_whitespace().collect::<String>();
        match goes {
            Ends(code) => {
                let mut command = program(instance, name, args);
                let mut running = RunningCommand::new(command.stdin(Stdio::piped()));
                if args.starts_with(&["secrets", "set"]) {
                    running.write_line("s3cret");
                }
                let done = running.finish();
                assert_eq!(done.code, Some(*code), "{name} {args:?}: {done:#?}");
                let said = plain(&format!("{}{}", done.stdout, done.stderr));
                assert!(said.contains(shows), "{name} {args:?}: {done:#?}");
            }
            On => {
                let mut following = RunningCommand::new(&mut program(instance, name, args));
                following.lines_to(shows);
                following.signal(Signal::INT);
                following.finish();
            }
        }
    }
}

#[test]
fn every_command_of_clarityctl_works_with_real_modules() {
    let instance = open();
    let all: Vec<String> = commands(&instance, "clarityctl", &[]).into_iter().collect();
    let top: BTreeSet<_> = all.iter().map(|command| command.split(' ').next().unwrap()).collect();
    let missing = without_a_row(&instance, "clarityctl", &top.into_iter().collect::<Vec<_>>(), CLARITYCTL);
    assert_eq!(missing, [] as [String; 0], "commands without a row");
    run_rows(&instance, "clarityctl", CLARITYCTL);
    let called = instance.run(&["services", "call", "numbers", "fn__fib", r#"{"args": ["10"]}"#]).ended(0);
    assert_eq!(called.stdout.trim(), "55");
    instance.assert_nothing_left();
}

#[test]
fn every_command_of_roost_about_services_works_with_real_modules() {
    let instance = open();
    let below = ["services", "audit", "runs", "secrets", "bootstrap", "gateway", "doctor"];
    assert_eq!(without_a_row(&instance, "roost", &below, ROOST), [] as [String; 0], "commands without a row");
    run_rows(&instance, "roost", ROOST);
    // What was let out of quarantine is started again once it can be.
    fs::copy(built("numbers.wasm"), instance.work().join("broken.wasm")).unwrap();
    instance.run(&["services", "start", "broken"]).ended(0);
    assert_eq!(lifecycle(&instance, "broken"), "RUNNING");
    assert!(fs::read_to_string(instance.work().join("AGENTS.md")).is_ok(), "agents were told");
    instance.assert_nothing_left();
}

#[test]
fn a_quarantined_service_is_let_out_by_a_tool_of_the_gateway() {
    let instance = open();
    let shown = instance.run(&["services", "status", "--json", "broken"]).ended(0).stdout;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let id = &shown["serviceId"];
    let mut gateway = RunningCommand::new(instance.command(&["gateway", "serve", "--stdio"]).stdin(Stdio::piped()));
    let hello =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    gateway.write_line(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }).to_string());
    gateway.line().unwrap();
    gateway.write_line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let call = json!({ "name": "runtime__unquarantine_service", "arguments": { "service_id": id } });
    gateway.write_line(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }).to_string());
    let answer = gateway.lines_to("\"id\":2").pop().unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert!(answer["result"]["isError"].is_null(), "{answer}");
    assert_eq!(lifecycle(&instance, "broken"), "STOPPED");
}
