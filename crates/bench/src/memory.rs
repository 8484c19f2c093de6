//! `memory`: what Roost itself takes, idle and per open session; agents and holders are not counted.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::figure::{Table, Target};
use crate::stage::Stage;
use crate::{Outcome, follow};

/// The hidden argument that makes this binary a host of so many idle sessions.
pub(crate) const HOST: &str = "host-sessions";
const SESSIONS: u64 = 100;

/// Adds the resident memory of an idle Roost and of one with [`SESSIONS`] idle sessions, each in a process of its own.
pub(crate) fn run(table: &mut Table) -> Outcome {
    let idle = resident(0)?;
    let busy = resident(SESSIONS)?;
    let each = (busy - idle) / SESSIONS as f64;
    table.add("memory", "idle", idle, "MB", Target::AtMost(25.0));
    table.add("memory", format!("with {SESSIONS} idle sessions"), busy, "MB", Target::None);
    table.add("memory", "per idle session", each, "MB", Target::AtMost(2.0));
    Ok(())
}

/// The resident megabytes of a Roost with this many open, idle sessions.
fn resident(sessions: u64) -> Outcome<f64> {
    let mut host = Command::new(std::env::current_exe()?)
        .args([HOST, &sessions.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut ready = String::new();
    BufReader::new(host.stdout.take().ok_or("no stdout")?).read_line(&mut ready)?;
    let resident = megabytes(host.id(), "VmRSS");
    // Closing its stdin ends the host.
    drop(host.stdin.take());
    host.wait()?;
    if ready.trim() != "ready" {
        return Err("the host of idle sessions failed".into());
    }
    resident
}

/// A memory field of `/proc/PID/status` such as `VmRSS`, in megabytes.
pub(crate) fn megabytes(process: u32, field: &str) -> Outcome<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    let line = line.ok_or_else(|| format!("no {field} of process {process}"))?;
    let kilobytes: f64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kilobytes / 1024.0)
}

/// Hosts idle sessions until stdin closes.
pub(crate) fn host(sessions: &str) -> Outcome<bool> {
    let sessions: usize = sessions.parse()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let stage = Stage::start(sessions.max(1)).await?;
        for _ in 0..sessions {
            let session = stage.session().await?;
            let follower = follow::until_end(stage.log.clone(), &session, 0, None);
            stage.prompt(&session, "hello").await?;
            tokio::task::spawn_blocking(move || follow::join(follower)).await??;
        }
        println!("ready");
        std::io::stdout().flush()?;
        tokio::task::spawn_blocking(|| std::io::stdin().read_line(&mut String::new())).await??;
        stage.engine.shutdown("bench").await;
        Ok(true)
    })
}
