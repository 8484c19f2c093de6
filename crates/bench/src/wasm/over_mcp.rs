//! A module's tool over `/mcp`, called by the official inspector, alone and while orchestrators report events.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::agents;

use super::MODULE;
use crate::door::daemon::{Daemon, Home};
use crate::figure::{Table, Target, median};
use crate::{Outcome, http};

/// The calls of the module run unasked; all others would wait for a person.
const SETTINGS: &str = "[[policy.rules]]\neffect = \"allow\"\ntool = \"mcp__roost__math__fn__add\"\n";
/// What clarity-runtime does with the same load on a machine of two cores.
const ORIGINAL: f64 = 8.45;
const ROUNDS: usize = 3;
/// Events of one report.
const BATCH: usize = 2000;
/// Events per second that must not slow the calls: as many as are asked for, not as many as there can be.
const ASKED: f64 = 10_000.0;
/// What must be left of the rate of calls beside that; the load, the daemon and the reporter share two cores.
const LEFT: f64 = 0.75;

/// Adds the rate of `fn__add`, the rate of reported events, and what one costs the other.
pub(super) fn run(table: &mut Table) -> Outcome {
    let home = Home::with(SETTINGS, agents::bin().into())?;
    let daemon = home.start()?;
    let token = home.pair(&daemon)?;
    let wasm = home.path().join("math.wasm");
    std::fs::write(&wasm, MODULE)?;
    apply(&daemon, &token, &json!({ "type": "local_wasm", "wasmPath": wasm, "entry": "mcp_main" }))?;
    let rate = || load(&home, &daemon, &token);
    let alone = median((0..ROUNDS).map(|_| rate()).collect::<Outcome<Vec<_>>>()?);
    table.add("wasm", "fn__add over /mcp by the inspector, 4 connections", alone, "req/s", Target::None);
    table.add("wasm", "the same / the original's 8.45 req/s", alone / ORIGINAL, "x", Target::AtLeast(60.0));

    let between = Duration::from_secs_f64(BATCH as f64 / ASKED);
    let (beside, _) = beside_reports(&daemon, &token, between, &rate)?;
    let (crowded, events) = beside_reports(&daemon, &token, Duration::ZERO, &rate)?;
    table.add("wasm", "agent events reported beside calls", events, "events/s", Target::AtLeast(ASKED));
    table.add("wasm", "fn__add beside 10,000 events/s / alone", beside / alone, "x", Target::AtLeast(LEFT));
    table.add("wasm", "fn__add beside all that can be reported / alone", crowded / alone, "x", Target::None);
    daemon.stop()
}

/// The rate of calls while events are reported, a report in each such time, and how many events each second took.
fn beside_reports(
    daemon: &Daemon,
    token: &str,
    every: Duration,
    rate: &dyn Fn() -> Outcome<f64>,
) -> Outcome<(f64, f64)> {
    let is_over = AtomicBool::new(false);
    let (rates, events) = thread::scope(|scope| {
        let reporting = scope.spawn(|| report(daemon, token, every, &is_over).map_err(|error| error.to_string()));
        let rates = (0..ROUNDS).map(|_| rate()).collect::<Outcome<Vec<_>>>();
        is_over.store(true, Ordering::Relaxed);
        let events = reporting.join().map_err(|_| "the reports ended early".to_owned()).and_then(|events| events);
        (rates, events)
    });
    Ok((median(rates?), events?))
}

fn apply(daemon: &Daemon, token: &str, origin: &Value) -> Outcome {
    let manifest = json!({
        "apiVersion": "clarity.runtime/v1", "kind": "MCPService",
        "metadata": { "sourceFile": "math", "module": "math", "serviceType": "mcp" },
        "spec": { "origin": origin, "enabled": true, "autostart": true, "policyRef": "default",
            "restartPolicy": { "mode": "never" } },
    });
    let applied = http::post(daemon.address, "/api/services/apply", Some(token), &json!({ "manifest": manifest }))?;
    let id = applied.pointer("/service/serviceId").and_then(Value::as_str);
    let id = id.ok_or_else(|| format!("the module was not declared: {applied}"))?;
    let started = http::post(daemon.address, &format!("/api/services/{id}/start"), Some(token), &json!({}))?;
    match started.pointer("/service/runtime/lifecycle").and_then(Value::as_str) {
        Some("RUNNING") => Ok(()),
        _ => Err(format!("the module does not run: {started}").into()),
    }
}

/// Calls per second of 200 calls over 4 connections.
fn load(home: &Home, daemon: &Daemon, token: &str) -> Outcome<f64> {
    let package = agents::mcp_tools().join("node_modules/@modelcontextprotocol/inspector");
    let manifest: Value = serde_json::from_slice(&std::fs::read(package.join("package.json"))?)?;
    let program = package.join(manifest["bin"]["mcp-inspector"].as_str().ok_or("the inspector has no program")?);
    let mut inspector = Command::new(agents::program("node"));
    inspector.arg(program).args(["--cli", &format!("http://{}/mcp", daemon.address), "--transport", "http"]);
    inspector.args(["--header", &format!("Authorization: Bearer {token}"), "--format", "json"]);
    inspector.args(["--method", "tools/call", "--tool-name", "math__fn__add"]);
    inspector.args(["--tool-args-json", r#"{"args":[2,3]}"#]);
    inspector.args(["--load", "--load-requests", "200", "--load-concurrency", "4"]);
    inspector.env_clear().env("HOME", home.path()).env("PATH", agents::bin()).stdin(Stdio::null());
    let output = inspector.output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let report: Value = serde_json::from_str(&said)
        .map_err(|_| format!("the inspector said: {said}{}", String::from_utf8_lossy(&output.stderr)))?;
    let figure = |name: &str| find(&report, name).and_then(Value::as_f64);
    match (figure("ok"), figure("throughput")) {
        (Some(200.0), Some(rate)) => Ok(rate),
        _ => Err(format!("not every call was answered well: {report}").into()),
    }
}

/// The first member of this name, however deep.
fn find<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    match value {
        Value::Object(members) => members.get(name).or_else(|| members.values().find_map(|inner| find(inner, name))),
        Value::Array(items) => items.iter().find_map(|inner| find(inner, name)),
        _ => None,
    }
}

/// Reports events until it is over; returns how many each second took.
fn report(daemon: &Daemon, token: &str, every: Duration, is_over: &AtomicBool) -> Outcome<f64> {
    let (began, mut reported) = (Instant::now(), 0);
    let mut due = began;
    while !is_over.load(Ordering::Relaxed) {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        due += every;
        let events: Vec<_> = (0..BATCH)
            .map(|number| json!({ "kind": "agent.step_started", "run_id": format!("run-{}", number % 8), "step_id": number.to_string() }))
            .collect();
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "run/report", "params": { "events": events } });
        let answer = http::post(daemon.address, "/api/rpc", Some(token), &call)?;
        if answer["result"]["ok"] != true {
            return Err(format!("a report was refused: {answer}").into());
        }
        reported += BATCH;
    }
    Ok(reported as f64 / began.elapsed().as_secs_f64())
}
