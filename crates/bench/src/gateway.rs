//! `gateway`: what a tool call costs through the MCP gateway, beside the same backend without it and beside a peer.
//!
//! Every side has the same backends and the same client (`wrk`), in one run. Policy, approved tool definitions and the
//! record of each call are on.

mod backend;
mod faults;
mod load;
mod many;
mod peer;
mod reports;

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::backend::HttpEcho;
use self::load::{Load, Request};
use crate::door::daemon::{Daemon, Home};
use crate::figure::{Table, Target, median};
use crate::http::McpSession;
use crate::{Outcome, http};

/// The calls of the echo services run unasked; all others would wait for a person.
const SETTINGS: &str = "\
[[policy.rules]]
name = \"bench\"
effect = \"allow\"
tool = \"mcp__roost__stdio__echo\"

[[policy.rules]]
name = \"bench http\"
effect = \"allow\"
tool = \"mcp__roost__http__echo\"
";
const ROUNDS: usize = 3;
/// Connections at which the highest rate is measured.
const MANY: usize = 16;
const READY: Duration = Duration::from_secs(30);

/// Adds rates, delays and CPU times of calls, then lists of many tools and services that fail.
pub(crate) fn run(table: &mut Table) -> Outcome {
    let home = Home::with(SETTINGS, testkit::agents::bin().into())?;
    let gateway = Gateway::start(&home)?;
    let echo = HttpEcho::start(0)?;
    gateway.apply("stdio", &backend::stdio_origin())?;
    gateway.apply("http", &echo.origin(""))?;
    table.add("gateway", "memory with two services, idle", gateway.daemon.resident()?, "MB", Target::None);

    let direct = Load::new(Request::direct(echo.address))?;
    let session = gateway.session()?;
    let stdio = Load::new(Request::mcp(&session, "stdio__echo"))?;
    let remote = Load::new(Request::mcp(&session, "http__echo"))?;
    let peer = peer::McpHub::start()?;
    let hub = Load::new(peer.call())?;
    let mut rates = [vec![], vec![], vec![], vec![]];
    let (mut delays, mut cpu) = (vec![], vec![]);
    for _ in 0..ROUNDS {
        // Taken in turns, so that a busy moment is everybody's.
        let before = gateway.cpu()?;
        let through = stdio.run(MANY)?;
        cpu.push((gateway.cpu()? - before).as_secs_f64() * 1e6 / through.calls);
        for (rates, rate) in
            rates.iter_mut().zip([through.rate, remote.run(MANY)?.rate, direct.run(MANY)?.rate, hub.run(MANY)?.rate])
        {
            rates.push(rate);
        }
        delays.push(stdio.run(1)?.p50_millis);
    }
    let [stdio, remote, direct, hub] = rates.map(median);
    table.add("gateway", "stdio echo, 16 connections", stdio, "calls/s", Target::AtLeast(16_000.0));
    table.add("gateway", "mcp-hub 4.2.1, the same", hub, "calls/s", Target::None);
    table.add("gateway", "stdio echo / mcp-hub", stdio / hub, "x", Target::AtLeast(3.0));
    table.add("gateway", "stdio echo, 1 connection, p50", median(delays), "ms", Target::AtMost(0.22));
    table.add("gateway", "our CPU per call of stdio echo", median(cpu), "µs", Target::AtMost(80.0));
    table.add("gateway", "HTTP echo, 16 connections", remote, "calls/s", Target::AtLeast(12_000.0));
    table.add("gateway", "HTTP echo without the gateway", direct, "calls/s", Target::None);
    table.add("gateway", "HTTP echo / without the gateway", remote / direct, "x", Target::AtLeast(0.3));
    table.add("gateway", "memory after the calls", gateway.daemon.resident()?, "MB", Target::None);
    drop(peer);
    gateway.stop()?;
    many::run(table)?;
    reports::run(table)?;
    faults::run(table)
}

/// A daemon with a token, whose gateway is measured.
struct Gateway {
    daemon: Daemon,
    token: String,
}

impl Gateway {
    fn start(home: &Home) -> Outcome<Self> {
        let daemon = home.start()?;
        let token = home.pair(&daemon)?;
        Ok(Self { daemon, token })
    }

    fn address(&self) -> SocketAddr {
        self.daemon.address
    }

    /// Declares a service, starts it and waits until it runs.
    fn apply(&self, module: &str, origin: &Value) -> Outcome {
        let id = self.declare(module, origin)?;
        let began = Instant::now();
        loop {
            let service = self.get(&format!("/api/services/{id}"))?;
            match service.pointer("/service/runtime/lifecycle").and_then(Value::as_str) {
                Some("RUNNING") => return Ok(()),
                _ if began.elapsed() > READY => return Err(format!("{module} does not run: {service}").into()),
                _ => thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    /// Declares a service and starts it, which is answered when it runs or has failed; returns its id.
    fn declare(&self, module: &str, origin: &Value) -> Outcome<String> {
        let manifest = json!({
            "apiVersion": "clarity.runtime/v1", "kind": "MCPService",
            "metadata": { "sourceFile": module, "module": module, "serviceType": "mcp" },
            "spec": { "origin": origin, "enabled": true, "autostart": true, "policyRef": "default",
                "restartPolicy": { "mode": "on-failure" } },
        });
        let applied = self.post("/api/services/apply", &json!({ "manifest": manifest }))?;
        let id = applied.pointer("/service/serviceId").and_then(Value::as_str);
        let id = id.ok_or_else(|| format!("{module} was not declared: {applied}"))?;
        self.post(&format!("/api/services/{id}/start"), &json!({}))?;
        Ok(id.to_owned())
    }

    /// The state of the service with this namespace.
    fn lifecycle(&self, module: &str) -> Outcome<String> {
        let all = self.get("/api/services")?;
        let items = all["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        let found = items.iter().find(|one| one["module"] == module).and_then(|one| one["lifecycle"].as_str());
        Ok(found.unwrap_or_default().to_owned())
    }

    fn post(&self, path: &str, body: &Value) -> Outcome<Value> {
        http::post(self.address(), path, Some(&self.token), body)
    }

    fn get(&self, path: &str) -> Outcome<Value> {
        http::get(self.address(), path, &self.token)
    }

    /// A session of MCP, as clients have it.
    fn session(&self) -> Outcome<McpSession> {
        Ok(McpSession::open(self.address(), &self.token)?.0)
    }

    /// The CPU time of the daemon so far.
    fn cpu(&self) -> Outcome<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.daemon.id()))?;
        // The name before the last bracket may hold spaces.
        let fields: Vec<_> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok()).ok_or("no CPU time");
        let all = ticks(11)? + ticks(12)?;
        Ok(Duration::from_secs_f64(all as f64 / rustix::param::clock_ticks_per_second() as f64))
    }

    fn stop(self) -> Outcome {
        self.daemon.stop()
    }
}
