//! `wasm`: what a call of a module costs, in process and over `/mcp`, and what one module can cost the others.

mod over_mcp;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use roost_model::service::wasm::WasmLimits;
use roost_wasm::effects::NoEffects;
use roost_wasm::{HostConfig, LoadStage, ServiceDeclaration, ServiceLog, WasmHost, WasmService};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::sync::watch;

use crate::Outcome;
use crate::figure::{Table, Target, median, millis};
use crate::memory::megabytes;

/// Names the folder of the components that `cargo xtask fixtures --full` builds.
const COMPONENTS_VARIABLE: &str = "ROOST_BENCH_WASM_COMPONENTS";
const CALLS: usize = 20_000;
const MANY_CALLS: usize = 1_000_000;
const LOOP_LIMIT: Duration = Duration::from_secs(1);

/// `add(i64, i64) -> i64` and `forever()`, as a compiler would write them.
const MODULE: &[u8] = &[
    0, b'a', b's', b'm', 1, 0, 0, 0, // magic and version
    1, 10, 2, 0x60, 2, 0x7e, 0x7e, 1, 0x7e, 0x60, 0, 0, // two types
    3, 3, 2, 0, 1, // two functions
    7, 17, 2, 3, b'a', b'd', b'd', 0, 0, 7, b'f', b'o', b'r', b'e', b'v', b'e', b'r', 0, 1, // their names
    10, 17, 2, 7, 0, 0x20, 0, 0x20, 1, 0x7c, 0x0b, 7, 0, 0x03, 0x40, 0x0c, 0, 0x0b, 0x0b, // and bodies
];

/// Adds the time of a call, of a start from the cache, of a loop that is ended, and the memory of a million calls.
pub(crate) fn run(table: &mut Table) -> Outcome {
    tokio::runtime::Runtime::new()?.block_on(measure(table))?;
    over_mcp::run(table)
}

async fn measure(table: &mut Table) -> Outcome {
    let folder = TempDir::new()?;
    let host = WasmHost::new(HostConfig::new(folder.path().join("cache")))?;
    let wasm_path = folder.path().join("math.wasm");
    std::fs::write(&wasm_path, MODULE)?;
    let timeout_ms = Some(LOOP_LIMIT.as_millis() as u64);
    let limits = WasmLimits { fuel: Some(u64::MAX), timeout_ms, ..WasmLimits::default() };
    let service = load(&host, wasm_path, limits).await?;

    let alone = p50(&service).await?;
    table.add("wasm", "add: a fresh instance and a call, p50", alone, "us", Target::AtMost(20.0));

    let start = Instant::now();
    let busy = tokio::spawn({
        let service = service.clone();
        async move { service.call("fn__forever", &Map::new(), service.limits()).await }
    });
    let beside = p50(&service).await?;
    table.add("wasm", "the same beside an endless loop, p50", beside, "us", Target::AtMost(20.0));
    let ended = busy.await??;
    let took = start.elapsed().min(ended.duration);
    let deviation = (took.as_secs_f64() / LOOP_LIMIT.as_secs_f64() - 1.0).abs() * 100.0;
    table.add("wasm", "an endless loop ends at its limit of 1 s, deviation", deviation, "%", Target::AtMost(20.0));

    let before = megabytes(std::process::id(), "VmRSS")?;
    for _ in 0..MANY_CALLS {
        add(&service).await?;
    }
    let grown = megabytes(std::process::id(), "VmRSS")? - before;
    table.add("wasm", format!("memory after {MANY_CALLS} more calls, grown by"), grown, "MB", Target::AtMost(8.0));
    components(table).await
}

/// Adds the start of a component of 12 MB, compiled and from the cache.
async fn components(table: &mut Table) -> Outcome {
    let missing = "no components to start; run: cargo xtask bench wasm";
    let built = std::env::var_os(COMPONENTS_VARIABLE).map(PathBuf::from).ok_or(missing)?;
    let folder = TempDir::new()?;
    let config = HostConfig::new(folder.path().join("cache"));
    let mut starts = vec![];
    for _ in 0..6 {
        let host = WasmHost::new(config.clone())?;
        let start = Instant::now();
        load(&host, built.join("javascript.wasm"), WasmLimits::default()).await?;
        starts.push(millis(start.elapsed()));
    }
    let first = starts.remove(0);
    table.add("wasm", "a component of JavaScript: first start, compiled", first, "ms", Target::None);
    let target = Target::AtMost(100.0);
    table.add("wasm", "a component of JavaScript: start from the cache, p50", median(starts), "ms", target);
    Ok(())
}

async fn load(host: &WasmHost, wasm_path: PathBuf, limits: WasmLimits) -> Outcome<WasmService> {
    let declaration = ServiceDeclaration { wasm_path, limits, ..ServiceDeclaration::default() };
    let (progress, _) = watch::channel(LoadStage::default());
    let log = Arc::new(ServiceLog::default());
    Ok(host.load(&declaration, Arc::new(NoEffects), log, &progress).await?)
}

async fn add(service: &WasmService) -> Outcome {
    let arguments = Map::from_iter([("args".to_owned(), json!([2, 3]))]);
    let report = service.call("fn__add", &arguments, service.limits()).await?;
    let sum = report.outcome.map_err(|failure| failure.to_string())?.structured.remove("result");
    if sum == Some(Value::from(5)) { Ok(()) } else { Err(format!("2 + 3 = {sum:?}").into()) }
}

/// The middle time of a call, in microseconds.
async fn p50(service: &WasmService) -> Outcome<f64> {
    let mut times = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        let start = Instant::now();
        add(service).await?;
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    Ok(median(times))
}
