//! Modules and the gateway's own tools in the real daemon, through `roost gateway serve --stdio`.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::kit::{RoostInstance, RunningCommand, wait_for};

/// Adds two numbers.
const MATH: &str =
    r#"(module (func (export "add") (param i64 i64) (result i64) (i64.add (local.get 0) (local.get 1))))"#;

/// Plays the Clarity compiler: copies a module to where it is told, or fails or hangs if the source says so.
const COMPILER: &str = r#"#!/bin/sh
here=$(dirname "$0")
case $1 in
--version) echo "clarityc 9.9.9" ;;
compile)
    if grep -q "module Broken" "$2"; then echo "error: broken on purpose" >&2; exit 1; fi
    if grep -q "module Hanging" "$2"; then sleep 600; fi
    cp "$here/math.wasm" "$4" ;;
esac
"#;

/// An instance whose rules allow these tools.
fn instance(tools: &[&str]) -> RoostInstance {
    let instance = RoostInstance::new();
    let rule = |tool: &&str| format!("[[policy.rules]]\neffect = \"allow\"\ntool = \"mcp__roost__{tool}\"\n");
    instance.configure(&tools.iter().map(rule).collect::<String>());
    std::fs::write(instance.work().join("math.wasm"), wat::parse_str(MATH).unwrap()).unwrap();
    instance
}

fn apply(instance: &RoostInstance, module: &str, wasm: &Path) -> Vec<String> {
    let manifest = json!({
        "apiVersion": "clarity.runtime/v1", "kind": "MCPService",
        "metadata": { "sourceFile": wasm, "module": module, "serviceType": "mcp" },
        "spec": {
            "origin": { "type": "local_wasm", "wasmPath": wasm, "entry": "mcp_main" },
            "enabled": true, "autostart": true, "restartPolicy": { "mode": "on-failure" }, "policyRef": "default",
        },
    });
    let file = instance.work().join(format!("{module}.json"));
    std::fs::write(&file, manifest.to_string()).unwrap();
    instance.run(&["services", "apply", file.to_str().unwrap()]).ended(0);
    ["services", "start", module].map(ToOwned::to_owned).into()
}

/// Calls tools one after another as an MCP client of the local user.
fn call(instance: &RoostInstance, calls: &[(&str, Value)]) -> Vec<Value> {
    let mut command = instance.command(&["gateway", "serve", "--stdio"]);
    let initialize = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
    });
    let mut requests = vec![json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": initialize })];
    for (number, (tool, arguments)) in calls.iter().enumerate() {
        let params = json!({ "name": tool, "arguments": arguments });
        requests.push(json!({ "jsonrpc": "2.0", "id": number + 1, "method": "tools/call", "params": params }));
    }
    let (input, mut writer) = std::io::pipe().unwrap();
    let mut client = RunningCommand::new(command.stdin(Stdio::from(input)));
    drop(command);
    let mut results = Vec::new();
    for request in requests {
        writer.write_all(format!("{request}\n").as_bytes()).unwrap();
        loop {
            let line = client.line().expect("an answer");
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == request["id"] {
                results.push(answer);
                break;
            }
        }
    }
    drop(writer);
    client.finish();
    results.split_off(1).into_iter().map(|mut answer| answer["result"].take()).collect()
}

#[test]
fn a_module_is_a_service_and_comes_back_from_the_cache_after_the_daemon_was_killed() {
    let instance = instance(&["math__fn__add"]);
    instance.run(&["up"]).ended(0);
    let start = apply(&instance, "math", &instance.work().join("math.wasm"));
    let start: Vec<_> = start.iter().map(String::as_str).collect();
    instance.run(&start).ended(0);
    let add = || [("math__fn__add", json!({ "args": [40, 2] }))];
    assert_eq!(call(&instance, &add())[0]["structuredContent"]["result"], 42);
    assert!(instance.state().join("wasm-cache").is_dir());
    instance.kill_daemon();
    instance.run(&["up"]).ended(0);
    // It starts with the daemon; who starts it again meanwhile waits for the same start.
    instance.run(&start).ended(0);
    assert_eq!(call(&instance, &add())[0]["structuredContent"]["result"], 42);
    instance.assert_nothing_left();
}

/// A module whose functions take the compiler a while.
fn slow_to_compile() -> Vec<u8> {
    let step = "(local.set 0 (i64.xor (i64.mul (local.get 0) (i64.const 31)) (i64.shr_u (local.get 0) (i64.const 7))))";
    let body = step.repeat(400);
    let functions =
        (0..400).map(|number| format!("(func (export \"f{number}\") (param i64) (result i64) {body} (local.get 0))"));
    wat::parse_str(format!("(module {})", functions.collect::<String>())).unwrap()
}

#[test]
fn a_daemon_that_ends_while_it_compiles_leaves_nothing_and_the_next_one_starts_the_service() {
    let instance = instance(&[]);
    let wasm = instance.work().join("slow.wasm");
    std::fs::write(&wasm, slow_to_compile()).unwrap();
    instance.run(&["up"]).ended(0);
    let start = apply(&instance, "slow", &wasm);
    let start: Vec<_> = start.iter().map(String::as_str).collect();
    let starting = instance.start(&start);
    let compiles = || {
        let log = instance.run(&["services", "logs", "slow"]).ended(0).stdout;
        log.contains("compiling").then_some(())
    };
    wait_for("the compiler to begin", compiles);
    instance.kill_daemon();
    drop(starting.finish());
    instance.run(&["up"]).ended(0);
    // It compiles again by itself, and the daemon does not wait for that to end.
    wait_for("the compiler to begin again", compiles);
    instance.assert_nothing_left();
    instance.run(&["up"]).ended(0);
    instance.run(&start).ended(0);
    instance.assert_nothing_left();
}

#[test]
fn an_app_is_made_compiled_and_registered_as_a_whole_or_not_at_all() {
    let own = ["clarity__bootstrap_app", "runtime__remove_service", "dice__fn__add"];
    let instance = instance(&own);
    let compiler = instance.work().join("clarityc");
    std::fs::write(&compiler, COMPILER).unwrap();
    std::fs::set_permissions(&compiler, std::fs::Permissions::from_mode(0o755)).unwrap();
    let up = instance.command(&["up"]).env("CLARITYC_BIN", &compiler).output().unwrap();
    assert!(up.status.success(), "{}", String::from_utf8_lossy(&up.stderr));

    let app =
        |project: &str, module: &str| json!({ "project_name": project, "module_name": module, "timeout_seconds": 2 });
    let made = call(
        &instance,
        &[
            ("clarity__ensure_compiler", json!({})),
            ("clarity__bootstrap_app", app("broken", "Broken")),
            ("clarity__bootstrap_app", app("hanging", "Hanging")),
            ("runtime__status_summary", json!({})),
            ("clarity__bootstrap_app", app("dice", "Dice")),
            ("clarity__bootstrap_app", app("dice", "Dice")),
            ("dice__fn__add", json!({ "a": 2, "b": 3 })),
        ],
    );
    assert_eq!(made[0]["structuredContent"]["version"], "clarityc 9.9.9", "{}", made[0]);
    for (result, says) in [(&made[1], "broken on purpose"), (&made[2], "did not finish within 2s")] {
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(says) && text.ends_with("everything is as it was"), "{text}");
    }
    assert_eq!(made[3]["structuredContent"]["total"], 0, "nothing of them was registered");
    assert!(!instance.work().join("broken").exists() && !instance.work().join("hanging").exists());
    let first = &made[4]["structuredContent"];
    assert_eq!((&first["started"], &first["idempotent"]), (&json!(true), &json!(false)), "{}", made[4]);
    let artifact = instance.work().join("dice/.clarity/build/Dice.wasm");
    assert!(artifact.is_file());
    let second = &made[5]["structuredContent"];
    assert_eq!((&second["started"], &second["idempotent"]), (&json!(true), &json!(true)), "{}", made[5]);
    assert_eq!(made[6]["structuredContent"]["result"], 5, "names come from the source: {}", made[6]);

    let service = first["service"]["serviceId"].clone();
    let removed =
        call(&instance, &[("runtime__remove_service", json!({ "service_id": service, "cleanup_artifacts": true }))]);
    assert_eq!(removed[0]["structuredContent"]["artifactRemoved"], true, "{}", removed[0]);
    assert!(!artifact.exists());
    instance.assert_nothing_left();
}
