//! Services from the command line, with a real program behind them.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::Value;

use crate::kit::RoostInstance;

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
    assert_eq!(added.trim(), "notes runs, with 1 tools.");
    let log = instance.run(&["services", "logs", "notes"]).ended(0).stdout;
    assert!(log.contains("notes are open"), "{log}");
    let pid = std::fs::read_to_string(instance.work().join("pid")).unwrap();
    let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    // A restart waits for the service, whatever state the kill has left it in.
    instance.run(&["services", "restart", "notes"]).ended(0);
    assert_eq!(status(&instance)["runtime"]["lifecycle"], "RUNNING");
    let audit = instance.run(&["audit"]).ended(0).stdout;
    for kind in ["service.manifest_applied", "service.tools_approved", "service.started"] {
        assert!(audit.contains(kind), "{kind}: {audit}");
    }
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
fn a_program_that_is_not_there_is_a_failure_that_says_so() {
    let instance = RoostInstance::new();
    instance.run(&["up"]).ended(0);
    let failed = instance.run(&["services", "add-stdio", "--module", "none", "--", "/nowhere/none"]).ended(1).stdout;
    assert!(failed.starts_with("none failed"), "{failed}");
    instance.run(&["down"]).ended(0);
}
