//! What a healthy service loses beside one that refuses connections and one that never answers.

use std::net::TcpListener;
use std::thread;
use std::time::Instant;

use serde_json::{Value, json};

use super::load::Load;
use super::{Gateway, SETTINGS, backend};
use crate::Outcome;
use crate::door::daemon::Home;
use crate::figure::{Table, Target, median, millis};

const ROUNDS: usize = 10;

/// Adds the times of `initialize` and `tools/list` beside failing services, and the delay of a healthy one's calls.
pub(super) fn run(table: &mut Table) -> Outcome {
    let home = Home::with(SETTINGS, testkit::agents::bin().into())?;
    let gateway = Gateway::start(&home)?;
    gateway.apply("stdio", &backend::stdio_origin())?;
    let healthy = Load::new(gateway.call("stdio__echo"))?;
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
    gateway.declare("silent", &origin(silent_at))?;
    gateway.declare("refusing", &origin(refusing_at))?;

    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "bench", "version": "0" } });
    let initialize = timed(&gateway, "initialize", &hello, "/result/serverInfo")?;
    let list = timed(&gateway, "tools/list", &json!({}), "/result/tools/0")?;
    table.add("gateway", "initialize beside failing services", initialize, "ms", Target::AtMost(100.0));
    table.add("gateway", "tools/list beside failing services", list, "ms", Target::AtMost(100.0));
    let beside = healthy.run(1)?.p50_millis;
    table.add("gateway", "delay of a call beside them / alone", beside / alone, "x", Target::AtMost(1.2));
    gateway.stop()
}

/// The median time of a request whose answer must have this member.
fn timed(gateway: &Gateway, method: &str, params: &Value, member: &str) -> Outcome<f64> {
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let answer = gateway.post("/mcp", &request)?;
        times.push(millis(began.elapsed()));
        if answer.pointer(member).is_none() {
            return Err(format!("{method} was answered with: {answer}").into());
        }
    }
    Ok(median(times))
}
