//! How many events of agent runs and how many calls are recorded in a second, and what reports cost the calls meanwhile.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::load::{Load, Request};
use super::{Gateway, MANY, SETTINGS, backend};
use crate::door::daemon::Home;
use crate::figure::{Table, Target};
use crate::{Outcome, http};

/// Orchestrators that report at once.
const REPORTERS: u64 = 4;
/// Events of one report.
const BATCH: u64 = 500;
/// Events per second that must not slow the calls of tools: as many as are asked for, not as many as there can be.
const ASKED: f64 = 10_000.0;
/// How much longer a call may take beside that.
const SLOWER: f64 = 1.5;

pub(super) fn run(table: &mut Table) -> Outcome {
    let home = Home::with(SETTINGS, testkit::agents::bin().into())?;
    let gateway = Gateway::start(&home)?;
    gateway.apply("stdio", &backend::stdio_origin())?;
    let calls = Load::new(Request::mcp(&gateway.session()?, "stdio__echo"))?;
    let alone = calls.run(1)?.p50_millis;
    let as_asked = Duration::from_secs_f64((REPORTERS * BATCH) as f64 / ASKED);
    let (_, beside) = beside_reports(&gateway, &calls, as_asked)?;
    let (rate, crowded) = beside_reports(&gateway, &calls, Duration::ZERO)?;
    table.add("gateway", "events of runs recorded, 4 reporters", rate, "events/s", Target::AtLeast(ASKED));
    table.add("gateway", "stdio echo, p50 without reports", alone, "ms", Target::None);
    table.add("gateway", "stdio echo, p50 beside 10,000 events/s", beside, "ms", Target::None);
    table.add("gateway", "the same / without reports", beside / alone, "x", Target::AtMost(SLOWER));
    table.add("gateway", "stdio echo, p50 beside all that can be reported", crowded, "ms", Target::None);

    let many = Load::new(Request::mcp(&gateway.session()?, "stdio__echo"))?;
    let (before, began) = (newest_event(&gateway)?, Instant::now());
    many.run(MANY)?;
    let recorded = (newest_event(&gateway)? - before) as f64 / began.elapsed().as_secs_f64();
    table.add("gateway", "calls recorded in the audit, 16 connections", recorded, "events/s", Target::AtLeast(ASKED));
    gateway.stop()
}

/// Events recorded per second, and the p50 of calls meanwhile; each reporter reports once in this time, or all the time.
fn beside_reports(gateway: &Gateway, calls: &Load, every: Duration) -> Outcome<(f64, f64)> {
    let (is_over, recorded) = (AtomicBool::new(false), AtomicU64::new(0));
    let began = Instant::now();
    let beside = thread::scope(|scope| -> Outcome<f64> {
        let reporters: Vec<_> = (0..REPORTERS)
            .map(|reporter| {
                let (is_over, recorded, token) = (&is_over, &recorded, gateway.token.as_str());
                let address = gateway.address();
                scope.spawn(move || report(reporter, address, token, every, is_over, recorded))
            })
            .collect();
        let beside = calls.run(1).map(|load| load.p50_millis);
        is_over.store(true, Ordering::Relaxed);
        for reporter in reporters {
            reporter.join().map_err(|_| "a reporter panicked")??;
        }
        beside
    })?;
    Ok((recorded.load(Ordering::Relaxed) as f64 / began.elapsed().as_secs_f64(), beside))
}

/// The number of the newest event that the audit knows.
fn newest_event(gateway: &Gateway) -> Outcome<u64> {
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "audit/list", "params": { "limit": 1 } });
    let answer = http::post(gateway.address(), "/api/rpc", Some(&gateway.token), &call)?;
    answer["result"]["last"].as_u64().ok_or_else(|| format!("the audit was answered with: {answer}").into())
}

fn report(
    reporter: u64,
    address: SocketAddr,
    token: &str,
    every: Duration,
    is_over: &AtomicBool,
    recorded: &AtomicU64,
) -> Outcome {
    let mut due = Instant::now();
    for batch in 0.. {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        due += every;
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        let event = |at: u64| {
            let run = format!("bench-{reporter}-{}", batch % 16);
            json!({ "kind": "agent.step_started", "run_id": run, "step_id": format!("s{}", at % 100), "agent": "bench" })
        };
        let events: Vec<Value> = (0..BATCH).map(event).collect();
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "run/report", "params": { "events": events } });
        let answer = http::post(address, "/api/rpc", Some(token), &call)?;
        if answer["result"]["accepted"] != BATCH {
            return Err(format!("a report was answered with: {answer}").into());
        }
        recorded.fetch_add(BATCH, Ordering::Relaxed);
    }
    Ok(())
}
