//! Modules in the real daemon.

use std::path::Path;

use serde_json::json;

use crate::kit::{RoostInstance, wait_for};

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
