//! `acp`: what an editor gets through `roost acp`, beside the same agent without Roost.
//!
//! Two agents flood it. One is built with the official SDK, as real agents are: how much of its rate is left is judged. The
//! other is the demo agent, which writes one line that it has made before, again and again: its own rate is what a pipe
//! can carry, which no agent reaches, so Roost is judged by the durable yardstick of `stream` there.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use memchr::memmem;
use testkit::agents;

use crate::agent::PipedAgent;
use crate::door::check::{self, drip, micros};
use crate::door::daemon::Home;
use crate::figure::{Table, Target, median, millis};
use crate::{Outcome, durable, memory};

/// The runtime's id in the daemon's settings.
const SDK_AGENT: &str = "sdk-agent";
const CHUNKS: u64 = 200_000;
const FLOOD: &str = "flood 200000 200";
/// 2,000 pieces in ten seconds.
const DRIP: &str = "drip 2000 200";
const ROUNDS: usize = 3;
const STARTS: usize = 20;
/// How long the idle editor does not read.
const PAUSE: Duration = Duration::from_secs(2);

/// Adds rates, losses, delays, memory and start times, each beside the bare agent's.
pub(crate) fn run(table: &mut Table) -> Outcome {
    let home = Home::with(&sdk_agent_settings()?, agents::bin().into())?;
    let daemon = home.start()?;
    let work = tempfile::tempdir()?;
    let editor = || through_roost(&home, "demo", work.path());
    let (mut bare_sdk, mut our_sdk) = (bare_sdk_agent(work.path())?, through_roost(&home, SDK_AGENT, work.path())?);
    let sdk = floods(&mut bare_sdk, &mut our_sdk)?;
    table.add("acp", "chunks: bare agent of the SDK", sdk.bare_rate, "chunks/s", Target::None);
    table.add("acp", "chunks: `roost acp`, the same agent", sdk.our_rate, "chunks/s", Target::None);
    table.add("acp", "`roost acp` / bare agent", sdk.our_rate / sdk.bare_rate, "x", Target::AtLeast(0.4));
    drop((bare_sdk, our_sdk));

    let (mut bare, mut ours) = (PipedAgent::start_in(work.path())?, editor()?);
    let demo = floods(&mut bare, &mut ours)?;
    let yardstick = durable::rows(CHUNKS)?;
    table.add("acp", "chunks: bare demo agent, a repeated line", demo.bare_rate, "chunks/s", Target::None);
    table.add("acp", "chunks: `roost acp`, demo agent", demo.our_rate, "chunks/s", Target::None);
    table.add("acp", "yardstick (durable rows)", yardstick, "rows/s", Target::None);
    table.add("acp", "`roost acp` / yardstick", demo.our_rate / yardstick, "x", Target::AtLeast(0.4));
    table.add("acp", "lost", (sdk.lost + demo.lost) as f64, "chunks", Target::AtMost(0.0));

    let (bare_delay, our_delay) = (delay(&mut bare)?, delay(&mut ours)?);
    table.add("acp", "delay of a chunk: bare agent, p99", bare_delay, "ms", Target::None);
    table.add("acp", "delay of a chunk: `roost acp`, p99", our_delay, "ms", Target::None);
    table.add("acp", "delay of a chunk: above bare", our_delay - bare_delay, "ms", Target::AtMost(5.0));

    let others = beside_a_pause(editor()?, &mut ours)?;
    // Half: two floods share two cores; an editor that waited for the other would be far below.
    table.add("acp", "rate beside an editor that pauses / alone", others / demo.our_rate, "x", Target::AtLeast(0.5));
    // After everything else, because it is the most that the process ever had.
    table.add("acp", "`roost acp`, peak memory", memory::megabytes(ours.id(), "VmHWM")?, "MB", Target::AtMost(20.0));

    let starts: Outcome<Vec<_>> = (0..STARTS).map(|_| Ok(millis(editor()?.greeted_after))).collect();
    table.add("acp", "`initialize` answered after the start, p50", median(starts?), "ms", Target::AtMost(50.0));
    drop((bare, ours));
    daemon.stop()
}

/// `roost acp` with the daemon of this home, and a session that asks nobody.
fn through_roost(home: &Home, runtime: &str, work: &Path) -> Outcome<PipedAgent> {
    let mut command = home.command()?;
    command.args(["acp", "--runtime", runtime, "--permission-mode", "yolo"]);
    PipedAgent::launch(command, work)
}

/// The program and the arguments of the agent that is built with the official TypeScript SDK.
fn sdk_agent() -> (PathBuf, [PathBuf; 2]) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/acp/agent.mjs");
    (agents::program("node"), [script, agents::acp_clients().join("node_modules")])
}

fn sdk_agent_settings() -> Outcome<String> {
    let (command, args) = sdk_agent();
    let (command, args) = (serde_json::to_string(&command)?, serde_json::to_string(&args)?);
    Ok(format!("[runtimes.{SDK_AGENT}]\ncommand = {command}\nargs = {args}\n"))
}

fn bare_sdk_agent(work: &Path) -> Outcome<PipedAgent> {
    let (command, args) = sdk_agent();
    let mut agent = Command::new(command);
    agent.args(args);
    PipedAgent::launch(agent, work)
}

/// The rates of one agent, bare and through Roost.
struct Floods {
    bare_rate: f64,
    our_rate: f64,
    lost: u64,
}

/// Floods both in turns, so that a busy minute is everybody's.
fn floods(bare: &mut PipedAgent, ours: &mut PipedAgent) -> Outcome<Floods> {
    // The first prompt starts the agent, which is not measured here.
    ours.run_turn("hello", |_| {})?;
    let (mut bare_rates, mut our_rates, mut lost) = (vec![], vec![], 0);
    for _ in 0..ROUNDS {
        bare_rates.push(flood(bare)?.rate);
        let seen = flood(ours)?;
        our_rates.push(seen.rate);
        lost += CHUNKS.saturating_sub(seen.chunks);
    }
    Ok(Floods { bare_rate: median(bare_rates), our_rate: median(our_rates), lost })
}

struct Flood {
    chunks: u64,
    /// Chunks per second.
    rate: f64,
}

fn flood(agent: &mut PipedAgent) -> Outcome<Flood> {
    let (start, mut chunks) = (Instant::now(), 0);
    agent.run_turn(FLOOD, |line| chunks += u64::from(is_chunk(line)))?;
    Ok(Flood { chunks, rate: chunks as f64 / start.elapsed().as_secs_f64() })
}

fn is_chunk(line: &[u8]) -> bool {
    memmem::find(line, b"agent_message_chunk").is_some()
}

/// The 99th percentile of the time from the agent's writing of a piece to our reading of it, in milliseconds.
fn delay(agent: &mut PipedAgent) -> Outcome<f64> {
    const PIECE: &[u8] = b"\"text\":\"drip ";
    let mut delays = Vec::new();
    agent.run_turn(DRIP, |line| {
        let piece = memmem::find(line, PIECE).and_then(|at| drip(&line[at + PIECE.len()..]));
        delays.extend(piece.map(|(_, sent)| micros(check::now(), sent)));
    })?;
    delays.sort_unstable();
    let p99 = delays.get(delays.len() * 99 / 100).ok_or("no piece came")?;
    Ok(f64::from(*p99) / 1e3)
}

/// The rate of one editor while another is flooded, too, and does not read for a while.
fn beside_a_pause(mut idle: PipedAgent, busy: &mut PipedAgent) -> Outcome<f64> {
    idle.run_turn("hello", |_| {})?;
    let is_pausing = Arc::new(AtomicBool::new(false));
    let pausing = thread::spawn({
        let is_pausing = is_pausing.clone();
        move || -> Outcome {
            let mut chunks = 0;
            idle.run_turn(FLOOD, |line| {
                chunks += u64::from(is_chunk(line));
                if !is_pausing.swap(true, Ordering::Relaxed) {
                    thread::sleep(PAUSE);
                }
            })?;
            match chunks {
                CHUNKS => Ok(()),
                chunks => Err(format!("the editor that paused got {chunks} of {CHUNKS} chunks").into()),
            }
        }
    });
    while !is_pausing.load(Ordering::Relaxed) {
        thread::yield_now();
    }
    let rate = flood(busy)?.rate;
    pausing.join().map_err(|_| "the editor that pauses panicked")??;
    Ok(rate)
}
