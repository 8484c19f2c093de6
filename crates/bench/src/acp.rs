//! What an editor sees through `roost acp`, beside the bare demo agent over the same kind of pipes.

use std::time::Instant;

use crate::Outcome;
use crate::agent::BareAgent;
use crate::door::check::{drip, now};
use crate::figure::{Table, Target, median, millis};
use crate::memory::megabytes;
use crate::run_json::Daemon;

/// Chunks of the flood.
const CHUNKS: u64 = 200_000;
/// How often a start is measured.
const STARTS: usize = 9;
/// Pieces whose delay is measured, 100 in a second.
const DRIPS: &str = "drip 1000 100";

pub(crate) fn run(table: &mut Table) -> Outcome {
    let daemon = Daemon::start()?;
    let mut starts = Vec::new();
    for _ in 0..STARTS {
        let start = Instant::now();
        let agent = BareAgent::start_command(daemon.acp(), daemon.folder())?;
        starts.push(millis(agent.greeted() - start));
    }
    table.add("acp", "initialize after start, a daemon runs (median)", median(starts), "ms", Target::AtMost(50.0));

    let (mut bare, mut roost) = (BareAgent::start()?, BareAgent::start_command(daemon.acp(), daemon.folder())?);
    let (bare_delay, roost_delay) = (delay(&mut bare)?, delay(&mut roost)?);
    table.add("acp", "chunk delay of the bare agent, p99", bare_delay, "ms", Target::None);
    table.add("acp", "chunk delay through roost acp, p99", roost_delay, "ms", Target::None);
    table.add("acp", "added by roost acp, p99", roost_delay - bare_delay, "ms", Target::AtMost(5.0));

    let (bare_rate, _) = flood(&mut bare)?;
    let (roost_rate, chunks) = flood(&mut roost)?;
    table.add("acp", format!("{CHUNKS} chunks of the bare agent"), bare_rate, "chunks/s", Target::None);
    table.add("acp", "the same through roost acp", roost_rate, "chunks/s", Target::AtLeast(bare_rate * 0.4));
    table.add("acp", "chunks lost by roost acp", CHUNKS.abs_diff(chunks) as f64, "chunks", Target::AtMost(0.0));
    let memory = megabytes(roost.pid(), "VmHWM")?;
    table.add("acp", "most memory of a roost acp process", memory, "MB", Target::AtMost(20.0));
    Ok(())
}

/// The 99th percentile of the delays from the agent's output to here, in milliseconds.
fn delay(agent: &mut BareAgent) -> Outcome<f64> {
    const PIECE: &str = "\"text\":\"drip ";
    let mut delays = Vec::new();
    agent.run_turn(DRIPS, |line| {
        let read = now();
        let piece = line.find(PIECE).and_then(|at| drip(&line.as_bytes()[at + PIECE.len()..]));
        delays.extend(piece.map(|(_, sent)| read.saturating_sub(sent) as f64 / 1e6));
    })?;
    delays.sort_by(f64::total_cmp);
    delays.get(delays.len() * 99 / 100).copied().ok_or_else(|| "no piece came".into())
}

/// Chunks per second of a flood, and how many came.
fn flood(agent: &mut BareAgent) -> Outcome<(f64, u64)> {
    let (start, mut chunks) = (Instant::now(), 0);
    agent.run_turn(&format!("flood {CHUNKS} 40"), |line| chunks += u64::from(line.contains("agent_message_chunk")))?;
    Ok((chunks as f64 / start.elapsed().as_secs_f64(), chunks))
}
