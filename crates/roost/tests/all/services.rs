//! Services from the command line, with a real program behind them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::Value;
use testkit::oauth_server;
use testkit::scripted_agent::WEATHER;

use crate::kit::{RoostInstance, script, wait_for};
use crate::own_servers;

/// A server of the era with handshakes that has one tool and writes its process id to a file beside it.
const SERVER: &str = r#"#!/bin/sh
echo $$ > "$(dirname "$0")/pid"
echo "notes are open" >&2
while read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    case $line in
    *'"initialize"'*) answer='"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"notes","version":"1"}}' ;;
    *'"tools/list"'*) answer='"result":{"tools":[{"name":"add","description":"Adds a note.","inputSchema":{"type":"object"}}]}' ;;
    *'"ping"'*) answer='"result":{}' ;;
    *) answer='"error":{"code":-32601,"message":"unknown"}' ;;
    esac
    [ -n "$id" ] && printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$answer"
done
"#;

fn server(instance: &RoostInstance) -> PathBuf {
    let file = instance.work().join("notes.sh");
    std::fs::write(&file, SERVER).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    file
}

fn status(instance: &RoostInstance) -> Value {
    let shown = instance.run(&["services", "status", "--json", "notes"]).ended(0).stdout;
    serde_json::from_str(&shown).unwrap()
}

#[test]
fn a_program_becomes_a_service_that_survives_its_own_death_and_the_daemons() {
    let instance = RoostInstance::new();
    let program = server(&instance).display().to_string();
    instance.run(&["up"]).ended(0);
    let added = instance.run(&["services", "add-stdio", "--", &program]).ended(0).stdout;
    assert_eq!(added.trim(), "notes runs, with 1 tool.");
    let log = instance.run(&["services", "logs", "notes"]).ended(0).stdout;
    assert!(log.contains("notes are open"), "{log}");
    let pid = std::fs::read_to_string(instance.work().join("pid")).unwrap();
    let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    // Nobody does anything about it.
    let kinds = wait_for("the service to be started again", || {
        let audit = instance.run(&["audit", "--json"]).ended(0).stdout;
        let kind = |line| serde_json::from_str::<Value>(line).unwrap()["kind"].as_str().unwrap().to_owned();
        let kinds: Vec<_> = audit.lines().map(kind).collect();
        (kinds.iter().filter(|kind| *kind == "service.started").count() == 2).then_some(kinds)
    });
    let times = |wanted: &str| kinds.iter().filter(|kind| *kind == wanted).count();
    for (kind, expected) in
        [("service.manifest_applied", 1), ("service.tools_approved", 1), ("service.crashed", 1), ("service.started", 2)]
    {
        assert_eq!(times(kind), expected, "{kind}: {kinds:?}");
    }
    assert_eq!(status(&instance)["runtime"]["lifecycle"], "RUNNING");
    let again = std::fs::read_to_string(instance.work().join("pid")).unwrap();
    assert_ne!(again.trim(), pid.as_raw_nonzero().to_string());
    instance.run(&["down"]).ended(0);
    instance.run(&["up"]).ended(0);
    // It starts with the daemon; who starts it again meanwhile waits for the same start.
    instance.run(&["services", "start", "notes"]).ended(0);
    assert_eq!(status(&instance)["interfaceSnapshot"]["tools"][0]["name"], "add");
    instance.run(&["services", "remove", "notes"]).ended(0);
    instance.run(&["services", "status", "notes"]).ended(2);
    instance.run(&["down"]).ended(0);
}

#[test]
fn after_a_daemon_that_was_killed_no_program_is_left_and_nothing_runs_until_it_is_verified() {
    let instance = RoostInstance::new();
    let program = server(&instance);
    instance.run(&["up"]).ended(0);
    instance.run(&["services", "add-stdio", "--", &program.display().to_string()]).ended(0);
    let is_program = |command: &String| command.contains("notes.sh");
    assert!(instance.processes().iter().any(is_program));
    // From now on it starts, and never says a word.
    script(&program, "cat > /dev/null");
    instance.kill_daemon();
    wait_for("the program to end", || (!instance.processes().iter().any(is_program)).then_some(()));
    instance.run(&["up"]).ended(0);
    wait_for("the program to be started again", || instance.processes().iter().any(is_program).then_some(()));
    assert_eq!(status(&instance)["runtime"]["lifecycle"], "STARTING");
    server(&instance);
    instance.run(&["services", "restart", "notes"]).ended(0);
    assert_eq!(status(&instance)["runtime"]["lifecycle"], "RUNNING");
    instance.assert_nothing_left();
}

/// What a browser gets that is sent to an address: the whole answer.
fn browse(address: &str) -> String {
    let (host, path) = address.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_service_that_wants_a_login_runs_after_it_and_is_forgotten_with_it() {
    let instance = RoostInstance::new();
    let endpoint = oauth_server::start();
    instance.run(&["up"]).ended(0);
    let add = ["services", "add-remote", "--module", "docs", "--endpoint", &endpoint];
    instance.run(&add).ended(1);
    assert_eq!(health(&instance), "UNAUTHORIZED");
    log_in(&instance);
    assert_eq!(health(&instance), "HEALTHY");

    // The login is kept where the log is, and goes with the service.
    instance.run(&["down"]).ended(0);
    instance.run(&["services", "start", "docs"]).ended(0);
    instance.run(&["services", "remove", "docs"]).ended(0);
    instance.run(&add).ended(1);
    assert_eq!(health(&instance), "UNAUTHORIZED");
    instance.assert_nothing_left();
}

#[test]
fn a_login_that_has_expired_is_renewed_and_one_that_was_revoked_is_asked_for() {
    let instance = RoostInstance::new();
    instance.configure("[[policy.rules]]\neffect = 'allow'\nname = 'weather'\ntool = 'mcp__roost__docs__weather'\n");
    let endpoint = oauth_server::start();
    instance.run(&["up"]).ended(0);
    instance.run(&["services", "add-remote", "--module", "docs", "--endpoint", &endpoint]).ended(1);
    log_in(&instance);
    let call = || instance.run(&["services", "call", "docs", "weather", "{}"]);
    assert_eq!(call().ended(0).stdout.trim(), WEATHER);
    let beside = |path: &str| browse(&endpoint.replace("/mcp", path));
    assert!(beside("/expire").starts_with("HTTP/1.1 200"));
    assert_eq!(call().ended(0).stdout.trim(), WEATHER, "the token is renewed unseen");
    assert!(beside("/revoke").starts_with("HTTP/1.1 200"));
    let refused = call().ended(1);
    assert!(refused.stderr.contains("roost services login"), "{refused:#?}");
    instance.run(&["services", "restart", "docs"]).ended(1);
    assert_eq!(health(&instance), "UNAUTHORIZED");
    instance.assert_nothing_left();
}

fn health(instance: &RoostInstance) -> String {
    let shown = instance.run(&["services", "status", "--json", "docs"]).ended(0).stdout;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    shown["runtime"]["health"].as_str().unwrap().to_owned()
}

#[test]
fn the_log_of_a_service_is_there_after_the_daemon_was_restarted_and_goes_with_the_service() {
    let instance = RoostInstance::new();
    let program = server(&instance).display().to_string();
    instance.run(&["up"]).ended(0);
    instance.run(&["services", "add-stdio", "--", &program]).ended(0);
    let log = || instance.run(&["services", "logs", "notes"]).ended(0).stdout;
    let before = log();
    assert!(before.contains("notes are open"), "{before}");
    instance.run(&["down"]).ended(0);
    instance.run(&["up"]).ended(0);
    let after = log();
    assert!(after.starts_with(&before), "{before}\n{after}");
    let files = || std::fs::read_dir(instance.state().join("service-logs")).unwrap().count();
    assert_eq!(files(), 1);
    instance.run(&["services", "remove", "notes"]).ended(0);
    assert_eq!(files(), 0);
    instance.assert_nothing_left();
}

#[test]
fn a_login_goes_by_the_client_that_its_person_registered_or_describes_and_asks_for_the_rights_that_are_wanted() {
    let instance = RoostInstance::new();
    let endpoint = oauth_server::start();
    instance.run(&["up"]).ended(0);
    instance.run(&["services", "add-remote", "--module", "docs", "--endpoint", &endpoint]).ended(1);
    let scopes = ["--scope", "read", "--scope", "write"];
    log_in_with(&instance, &[&["--client-id", "mine", "--client-secret-stdin"], &scopes[..]].concat(), "s3cret");
    let said = browse(&endpoint.replace("/mcp", "/said"));
    assert!(said.contains("client mine asks for read write"), "{said}");
    assert!(said.contains("client_secret=s3cret"), "{said}");
    let document = "https://client.example/roost.json";
    log_in_with(&instance, &["--client-metadata-url", document], "");
    let said = browse(&endpoint.replace("/mcp", "/said"));
    assert!(said.contains(&format!("client {document} asks")), "{said}");
    instance.assert_nothing_left();
}

/// Logs in to the service `docs` as a person does, until it runs.
fn log_in(instance: &RoostInstance) {
    log_in_with(instance, &[], "");
}

fn log_in_with(instance: &RoostInstance, options: &[&str], secret: &str) {
    let args = [&["services", "login", "docs"], options].concat();
    let input = instance.work().join("secret");
    std::fs::write(&input, secret).unwrap();
    let mut login = instance.start_with_input(&args, std::fs::File::open(&input).unwrap());
    login.lines_to("Open this address");
    let agreed = browse(login.line().unwrap().trim());
    let back = agreed.lines().find_map(|line| line.strip_prefix("location: ")).unwrap_or_else(|| panic!("{agreed}"));
    let elsewhere = back.replace("/callback", "/favicon.ico");
    assert!(browse(&elsewhere).starts_with("HTTP/1.1 404"), "only the login's own address counts");
    assert!(browse(back).contains("Roost has the answer"));
    assert_eq!(login.finish().ended(0).stdout.trim(), "docs runs, with 1 tool.");
}

#[test]
fn a_person_calls_a_tool_after_the_same_rules_as_an_agent() {
    let instance = RoostInstance::new();
    instance.configure(
        "[[policy.rules]]\neffect = 'deny'\nname = 'no snow'\ntool = 'mcp__roost__snow__*'\n\
        [[policy.rules]]\neffect = 'allow'\nname = 'weather'\ntool = 'mcp__roost__docs__weather'\n",
    );
    for module in ["docs", "snow"] {
        let command = own_servers::command();
        let add = ["services", "add-stdio", "--module", module, "--"].into_iter();
        instance.run(&add.chain(command.iter().map(String::as_str)).collect::<Vec<_>>()).ended(0);
    }
    let called = instance.run(&["services", "call", "docs", "weather", "{}"]).ended(0).stdout;
    assert_eq!(called.trim(), WEATHER);
    instance.run(&["services", "call", "docs", "weather", "[1]"]).ended(2);
    let unknown = instance.run(&["services", "call", "docs", "none"]).ended(1).stderr;
    assert!(unknown.contains("none"), "{unknown}");
    let denied = instance.run(&["services", "call", "snow", "weather"]).ended(1);
    assert!(format!("{}{}", denied.stdout, denied.stderr).contains("no snow"), "{denied:#?}");
    instance.assert_nothing_left();
}

#[test]
fn a_program_that_is_not_there_is_a_failure_that_says_so() {
    let instance = RoostInstance::new();
    instance.run(&["up"]).ended(0);
    let failed = instance.run(&["services", "add-stdio", "--module", "none", "--", "/nowhere/none"]).ended(1).stdout;
    assert!(failed.starts_with("none failed"), "{failed}");
    instance.run(&["down"]).ended(0);
}
