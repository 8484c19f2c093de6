//! Modules in the real daemon.

use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::kit::{RoostInstance, RunningCommand, wait_for};

/// Applies the manifest of a module; returns the command that starts its service.
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
    let instance = RoostInstance::new();
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

/// Asks the gateway for one thing through its stdio door, as a client of the local user.
fn ask(instance: &RoostInstance, method: &str, params: &Value) -> Value {
    let mut command = instance.command(&["gateway", "serve", "--stdio"]);
    let mut client = RunningCommand::new(command.stdin(Stdio::piped()));
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
    });
    for (id, method, params) in [(1, "initialize", &hello), (2, method, params)] {
        client.write_line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
    }
    loop {
        let answer: Value = serde_json::from_str(&client.line().unwrap()).unwrap();
        if answer["id"] == 2 {
            client.finish().ended(0);
            return answer["result"].clone();
        }
    }
}

fn call(instance: &RoostInstance, tool: &str, arguments: &Value) -> Value {
    ask(instance, "tools/call", &json!({ "name": tool, "arguments": arguments }))
}

#[test]
fn a_tool_registers_a_module_where_the_daemon_was_started_for_it_and_is_not_there_otherwise() {
    const REGISTER: &str = "runtime__register_local";
    let instance = RoostInstance::new();
    instance.configure(
        "[[policy.rules]]\neffect = 'allow'\nname = 'register'\ntool = 'mcp__roost__runtime__register_local'\n\
         [[policy.rules]]\neffect = 'allow'\nname = 'sums'\ntool = 'mcp__roost__sums__fn__add'\n",
    );
    let add = "(module (func (export \"add\") (param i64 i64) (result i64) (i64.add (local.get 0) (local.get 1))))";
    std::fs::write(instance.work().join("sums.wasm"), wat::parse_str(add).unwrap()).unwrap();
    for is_enabled in [false, true] {
        let mut up = instance.command(&["up"]);
        if is_enabled {
            up.env("CLARITY_ENABLE_MCP_PROVISIONING", "1");
        }
        assert!(up.status().unwrap().success());
        let listed = ask(&instance, "tools/list", &json!({}));
        let is_listed = listed["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == REGISTER);
        assert_eq!(is_listed, is_enabled);
        let registered = call(&instance, REGISTER, &json!({ "wasm_path": "sums.wasm" }));
        assert_eq!(registered["structuredContent"]["started"] == true, is_enabled, "{registered}");
        let sum = call(&instance, "sums__fn__add", &json!({ "args": [2, 3] }));
        assert_eq!(
            sum["structuredContent"]["result"] == "5" || sum["structuredContent"]["result"] == 5,
            is_enabled,
            "{sum}"
        );
        instance.run(&["down"]).ended(0);
    }
    // What was called is recorded, also what was called last before the daemon ended.
    instance.run(&["up"]).ended(0);
    let audit = instance.run(&["audit", "--json"]).ended(0).stdout;
    assert!(audit.contains("local called sums__fn__add: succeeded"), "{audit}");
    instance.assert_nothing_left();
}
