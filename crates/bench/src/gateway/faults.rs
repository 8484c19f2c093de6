//! What a healthy service loses beside one that refuses connections and one that never answers.

use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::load::{Load, Request};
use super::{Gateway, READY, SETTINGS, backend};
use crate::Outcome;
use crate::door::daemon::Home;
use crate::figure::{Table, Target, median, millis};
use crate::http::McpSession;

const ROUNDS: usize = 10;

/// Adds the times of `initialize` and `tools/list` beside failing services, and the delay of a healthy one's calls.
pub(super) fn run(table: &mut Table) -> Outcome {
    let home = Home::with(SETTINGS, testkit::agents::bin().into())?;
    let gateway = Gateway::start(&home)?;
    gateway.apply("stdio", &backend::stdio_origin())?;
    let session = gateway.session()?;
    let healthy = Load::new(Request::mcp(&session, "stdio__echo"))?;
    let alone = healthy.run(1)?.p50_millis;

    let silent = TcpListener::bind("127.0.0.1:0")?;
    let silent_at = silent.local_addr()?;
    // Connections are taken and never read; the thread ends with the process.
    thread::spawn(move || silent.incoming().collect::<Vec<_>>());
    let refusing_at = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let origin = |address| {
        json!({ "type": "remote_mcp", "endpoint": format!("http://{address}/mcp"),
        "transport": "streamable_http" })
    };
    gateway.declare("refusing", &origin(refusing_at))?;
    // Its start is answered when it has failed, which is long after what is measured here.
    let starting = thread::scope(|scope| {
        scope.spawn(|| gateway.declare("silent", &origin(silent_at)).map(drop).map_err(|error| error.to_string()));
        let began = Instant::now();
        while gateway.lifecycle("silent")? != "STARTING" {
            if began.elapsed() > READY {
                return Err("the silent service does not start".into());
            }
            thread::sleep(Duration::from_millis(5));
        }
        measure(table, &gateway, &session, &healthy, alone)
    });
    starting?;
    gateway.stop()
}

/// Measures while one service refuses connections and another one is silent.
fn measure(table: &mut Table, gateway: &Gateway, session: &McpSession, healthy: &Load, alone: f64) -> Outcome {
    let initialize = timed("/result/serverInfo", || Ok(McpSession::open(gateway.address(), &gateway.token)?.1))?;
    let list = timed("/result/tools/0", || {
        let listed = session.request("tools/list", &json!({}))?;
        match listed.to_string().contains("silent") && listed.to_string().contains("refusing") {
            true => Ok(listed),
            false => Err(format!("tools/list does not say what is missing: {listed}").into()),
        }
    })?;
    let status = gateway.get("/api/status")?;
    if status.pointer("/gateway/degraded") != Some(&json!(["refusing", "silent"])) {
        return Err(format!("the status does not say which services are missing: {status}").into());
    }
    table.add("gateway", "initialize beside failing services", initialize, "ms", Target::AtMost(100.0));
    table.add("gateway", "tools/list beside failing services", list, "ms", Target::AtMost(100.0));
    let beside = healthy.run(1)?.p50_millis;
    table.add("gateway", "delay of a call beside them / alone", beside / alone, "x", Target::AtMost(1.2));
    Ok(())
}

/// The median time of a request whose answer must have this member.
fn timed(member: &str, request: impl Fn() -> Outcome<Value>) -> Outcome<f64> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let answer = request()?;
        times.push(millis(began.elapsed()));
        if answer.pointer(member).is_none() {
            return Err(format!("the answer has no {member}: {answer}").into());
        }
    }
    Ok(median(times))
}
