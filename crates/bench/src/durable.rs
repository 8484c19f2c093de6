//! The yardstick: the shortest honest durable pipeline, `crates/bench/durable`.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::{Outcome, stage};

/// Events per second of the bare pipe.
pub(crate) fn pipe(events: u64) -> Outcome<f64> {
    rate(&stage::from_env("ROOST_BENCH_DURABLE")?, events, &["count"])
}

/// Events per second into SQLite, one row each.
pub(crate) fn rows(events: u64) -> Outcome<f64> {
    let folder = tempfile::tempdir()?;
    let db = folder.path().join("rows.db");
    rate(&stage::from_env("ROOST_BENCH_DURABLE")?, events, &["rows", &db.to_string_lossy()])
}

fn rate(durable: &Path, events: u64, consumer: &[&str]) -> Outcome<f64> {
    let mut flood = Command::new(durable).args(["flood", &events.to_string()]).stdout(Stdio::piped()).spawn()?;
    let pipe = flood.stdout.take().ok_or("no pipe")?;
    let output = Command::new(durable).args(consumer).stdin(pipe).stderr(Stdio::piped()).output()?;
    flood.wait()?;
    // It says, for example, "rows 500000 events 146302/s".
    let output_text = String::from_utf8_lossy(&output.stderr);
    let rate = output_text.split_whitespace().last().and_then(|word| word.strip_suffix("/s")?.parse().ok());
    Ok(rate.ok_or_else(|| format!("durable said: {output_text}"))?)
}
