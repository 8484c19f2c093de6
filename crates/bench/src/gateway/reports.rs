//! How many events of agent runs are recorded in a second, and what that costs the tool calls meanwhile.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use serde_json::{Value, json};

use super::load::{Load, Request};
use super::{Gateway, SETTINGS, backend};
use crate::door::daemon::Home;
use crate::figure::{Table, Target};
use crate::{Outcome, http};

/// Orchestrators that report at once.
const REPORTERS: u64 = 4;
/// Events of one report.
const BATCH: u64 = 500;

pub(super) fn run(table: &mut Table) -> Outcome {
    let home = Home::with(SETTINGS, testkit::agents::bin().into())?;
    let gateway = Gateway::start(&home)?;
    gateway.apply("stdio", &backend::stdio_origin())?;
    let calls = Load::new(Request::mcp(&gateway.session()?, "stdio__echo"))?;
    let alone = calls.run(1)?.p50_millis;
    let (is_over, recorded) = (AtomicBool::new(false), AtomicU64::new(0));
    let began = Instant::now();
    let beside = thread::scope(|scope| -> Outcome<f64> {
        let reporters: Vec<_> = (0..REPORTERS)
            .map(|reporter| {
                let (is_over, recorded, token) = (&is_over, &recorded, gateway.token.as_str());
                let address = gateway.address();
                scope.spawn(move || report(reporter, address, token, is_over, recorded))
            })
            .collect();
        let beside = calls.run(1).map(|load| load.p50_millis);
        is_over.store(true, Ordering::Relaxed);
        for reporter in reporters {
            reporter.join().map_err(|_| "a reporter panicked")??;
        }
        beside
    })?;
    let rate = recorded.load(Ordering::Relaxed) as f64 / began.elapsed().as_secs_f64();
    table.add("gateway", "events of runs recorded, 4 reporters", rate, "events/s", Target::AtLeast(10_000.0));
    table.add("gateway", "stdio echo, p50 without reports", alone, "ms", Target::None);
    table.add("gateway", "stdio echo, p50 beside the reports", beside, "ms", Target::None);
    gateway.stop()
}

fn report(reporter: u64, address: SocketAddr, token: &str, is_over: &AtomicBool, recorded: &AtomicU64) -> Outcome {
    for batch in 0.. {
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
