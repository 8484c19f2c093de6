//! What is known to be wrong with clarity-runtime, whose manifests and routes Roost takes: tried on the program.
//!
//! | # | defect | tried |
//! |---|---|---|
//! | 1 | pages of others stop services | here, and `crates/server/tests/all/mcp/admission.rs` |
//! | 2, 4 | tools run programs and write files that a caller names | `crates/server/tests/all/control.rs` |
//! | 3 | removing a service deletes the file that its manifest names | here |
//! | 5 | modules read the daemon's variables | `crates/wasm/tests/all/authority.rs` |
//! | 6 | arguments of calls in logs | here |
//! | 7 | settings that cannot be read are destroyed | here |
//! | 8 | redirects and private addresses; answers kept before their limit | `crates/gateway/tests/all/faults.rs` |
//! | 9 | lost updates of what is declared | `crates/gateway/tests/all/services/declaring.rs` |
//! | 10, 11 | quarantine by bad input; states that are claimed | `crates/gateway/tests/all/services/living.rs` |
//! | 12 | errors that are none of the protocol | `crates/server/tests/all/{mcp/admission,every_method/service}.rs` |
//! | 13 | secrets on the command line | here |
//! | 14 | limits that are not held | here |
//! | 15 | a bridge that does one call at a time | `crates/server/tests/all/mcp/lines.rs` |

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::kit::RoostInstance;
use crate::own_servers;

const CANARY: &str = "canary-8d2f";

/// The status of a request without a token, with these headers.
fn status(instance: &RoostInstance, request: &str, headers: &str) -> String {
    let file: Value = serde_json::from_slice(&fs::read(instance.state().join("daemon.json")).unwrap()).unwrap();
    let address = file["address"].as_str().unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let request =
        format!("{request} HTTP/1.1\r\nHost: {address}\r\n{headers}Content-Length: 2\r\nConnection: close\r\n\r\n{{}}");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap_or_default().to_owned()
}

fn add_weather(instance: &RoostInstance) {
    let command = own_servers::command();
    let add = ["services", "add-stdio", "--module", "docs", "--"].into_iter();
    instance.run(&add.chain(command.iter().map(String::as_str)).collect::<Vec<_>>()).ended(0);
}

#[test]
fn a_page_of_somebody_else_stops_no_service() {
    let instance = RoostInstance::new();
    instance.configure("[security]\nrequire_auth = false\n");
    instance.run(&["up"]).ended(0);
    add_weather(&instance);
    let list = instance.run(&["services", "--json"]).ended(0).stdout;
    let id = serde_json::from_str::<Value>(&list).unwrap()["serviceId"].as_str().unwrap().to_owned();
    let stop = format!("POST /api/services/{id}/stop");
    let json = "Content-Type: application/json\r\n";
    assert_eq!(status(&instance, &stop, &format!("Origin: http://evil.example\r\n{json}")), "403");
    assert_eq!(status(&instance, &stop, "Content-Type: text/plain\r\n"), "415");
    let shown = instance.run(&["services", "status", "--json", "docs"]).ended(0).stdout;
    assert_eq!(serde_json::from_str::<Value>(&shown).unwrap()["runtime"]["lifecycle"], "RUNNING");
}

#[test]
fn removing_a_service_leaves_the_file_that_its_manifest_names() {
    let instance = RoostInstance::new();
    let precious = instance.work().join("precious.txt");
    fs::write(&precious, "mine").unwrap();
    let manifest = json!({
        "apiVersion": "clarity.runtime/v1", "kind": "MCPService",
        "metadata": { "sourceFile": "x.clarity", "module": "precious", "serviceType": "mcp" },
        "spec": {
            "origin": { "type": "local_wasm", "wasmPath": precious, "entry": "mcp_main" },
            "enabled": true, "autostart": false, "restartPolicy": { "mode": "never" }, "policyRef": "default",
        },
    });
    let file = instance.work().join("manifest.json");
    fs::write(&file, manifest.to_string()).unwrap();
    instance.run(&["services", "apply", file.to_str().unwrap()]).ended(0);
    instance.run(&["services", "remove", "precious"]).ended(0);
    assert_eq!(fs::read_to_string(precious).unwrap(), "mine");
}

#[test]
fn what_a_call_was_given_is_in_no_log() {
    let instance = RoostInstance::new();
    instance.configure("[[policy.rules]]\neffect = 'allow'\nname = 'weather'\ntool = 'mcp__roost__docs__weather'\n");
    add_weather(&instance);
    let arguments = json!({ "city": CANARY }).to_string();
    instance.run(&["services", "call", "docs", "weather", &arguments]).ended(0);
    let failing = json!({ "city": CANARY, "fails": true }).to_string();
    let failed = instance.run(&["services", "call", "docs", "weather", &failing]).ended(1);
    assert!(failed.stderr.contains(CANARY), "whoever calls reads why: {failed:#?}");
    for args in [&["services", "logs", "docs"][..], &["services", "details", "docs"], &["audit", "--json"]] {
        let said = instance.run(args).ended(0).stdout;
        assert!(!said.contains(CANARY), "{args:?}: {said}");
    }
    let audit = instance.run(&["audit", "--json"]).ended(0).stdout;
    assert!(audit.contains("the service answered with error -32000"), "{audit}");
    instance.run(&["down"]).ended(0);
    let kept = fs::read_dir(instance.state()).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    for path in kept {
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        assert!(!text.contains(CANARY), "{}", path.display());
    }
}

#[test]
fn settings_of_another_program_that_cannot_be_read_are_left_as_they_are() {
    let instance = RoostInstance::new();
    let settings = instance.home().join(".claude.json");
    fs::create_dir_all(instance.home()).unwrap();
    fs::write(&settings, "{ \"mcpServers\": { broken").unwrap();
    let done = instance.run(&["bootstrap", "--clients", "claude"]);
    assert_eq!(fs::read_to_string(&settings).unwrap(), "{ \"mcpServers\": { broken", "{done:#?}");
    assert!(format!("{}{}", done.stdout, done.stderr).contains(".claude.json"), "{done:#?}");
}

#[test]
fn a_secret_is_not_taken_from_the_command_line() {
    let instance = RoostInstance::new();
    let refused = instance.run(&["secrets", "set", "file:team/token", CANARY]).ended(2);
    assert!(!refused.stdout.contains(CANARY), "{refused:#?}");
    let kept = instance.run(&["secrets", "list"]).ended(0).stdout;
    assert!(!kept.contains("team/token"), "{kept}");
}

#[test]
fn a_limit_is_held_to_what_an_answer_may_have() {
    let instance = RoostInstance::new();
    add_weather(&instance);
    let all = instance.run(&["audit", "--json"]).ended(0).stdout.lines().count();
    for (limit, expected) in [("0", 1), ("4294967295", all)] {
        let listed = instance.run(&["audit", "--json", "-n", limit]).ended(0).stdout;
        assert_eq!(listed.lines().count(), expected, "-n {limit}");
    }
}
