//! How many small calls the daemon answers, beside the nearest peer.

use std::path::Path;
use std::process::Command;

use super::Judge;
use super::daemon::Home;
use crate::Outcome;
use crate::figure::{Table, Target, median};
use crate::sandbox_agent::SandboxServer;

const ROUNDS: usize = 3;

/// Adds calls per second of `status/health` with `wrk`, beside the peer's health endpoint.
pub(super) fn run(table: &mut Table, judge: Judge<'_>) -> Outcome {
    let home = Home::new()?;
    let daemon = home.start()?;
    let token = home.pair(&daemon)?;
    let peer = SandboxServer::start()?;
    let folder = tempfile::tempdir()?;
    let script = folder.path().join("call.lua");
    std::fs::write(&script, call(&token))?;
    let ours_at = format!("http://{}/api/rpc", daemon.address);
    let peers_at = format!("http://{}/v1/health", peer.address);
    let (mut ours, mut peers) = (vec![], vec![]);
    // Taken in turns, so that a busy moment is everybody's.
    for _ in 0..ROUNDS {
        ours.push(wrk(&ours_at, Some(&script))?);
        peers.push(wrk(&peers_at, None)?);
    }
    daemon.stop()?;
    let (ours, peers) = (median(ours), median(peers));
    table.add("door", "status/health over HTTP with a token", ours, "calls/s", Target::None);
    table.add("door", "sandbox-agent 0.4.2, /v1/health", peers, "calls/s", Target::None);
    table.add("door", "status/health / sandbox-agent", ours / peers, "x", judge(Target::AtLeast(0.8)));
    Ok(())
}

/// The Lua script by which `wrk` makes the call.
fn call(token: &str) -> String {
    format!(
        r#"wrk.method = "POST"
wrk.headers["Authorization"] = "Bearer {token}"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{{"jsonrpc":"2.0","id":1,"method":"status/health"}}'
"#
    )
}

/// Runs `wrk` for three seconds with 32 connections and returns its requests per second.
fn wrk(url: &str, script: Option<&Path>) -> Outcome<f64> {
    let mut wrk = Command::new("wrk");
    wrk.args(["-t1", "-c32", "-d3s"]);
    if let Some(script) = script {
        wrk.arg("-s").arg(script);
    }
    let output =
        wrk.arg(url).output().map_err(|error| format!("wrk does not start: {error}; install the package wrk"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    if said.contains("Non-2xx") || said.contains("Socket errors") {
        return Err(format!("not every call of {url} was answered well: {said}").into());
    }
    let rate = said.lines().find_map(|line| line.strip_prefix("Requests/sec:")?.trim().parse().ok());
    Ok(rate.ok_or_else(|| format!("wrk said: {said}"))?)
}
