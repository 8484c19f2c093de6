//! `roost down`: the end of the daemon and of everything that it started.

use std::time::Duration;

use roost_process::{Process, records};
use roost_rpc::FaultCode;
use rustix::process::{Pid, Signal, kill_process};
use tokio::time::{Instant, sleep, timeout};

use crate::blocking::blocking;
use crate::cli::Context;
use crate::cmd::serve::DAEMON_NAME;
use crate::connect;
use crate::error::Error;
use crate::exit::Exit;
use crate::screen;
use crate::state_lock::lock;

/// How long the daemon may take to end after it was asked to, and again after each signal.
const PATIENCE: Duration = Duration::from_secs(7);
/// How long agents may outlive the daemon.
const AGENTS: Duration = Duration::from_secs(10);
/// How often it is looked whether the daemon has ended.
const POLL: Duration = Duration::from_millis(10);

const EXAMPLES: &str = "\
Examples:
  roost down    stop the daemon and its agents; the log stays

Returns when all of their processes have ended.";

/// Stop the daemon and its agents
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {}

pub(crate) async fn run(context: &Context) -> Result<Exit, Error> {
    if roost_process::is_inside_a_run() {
        return Err(Error::InsideAgent);
    }
    let ended = match ask(context).await? {
        Some((daemon, asked)) => {
            end(daemon, asked).await?;
            format!("Stopped the daemon (process {}) and its agents.", daemon.pid)
        }
        None => "No daemon is running.".into(),
    };
    let run = context.state.run();
    timeout(AGENTS, records::wait_for_holders(&run)).await.map_err(|_| Error::Agents(run.clone()))?;
    screen::print(&ended)?;
    Ok(Exit::Completed)
}

/// Whether the daemon was asked to stop over its socket.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StopRequested {
    /// The daemon got the request to stop.
    Yes,
    /// The daemon does not answer; signals end it.
    No,
}

/// Asks the daemon to stop if it listens; `None` if there is no daemon.
async fn ask(context: &Context) -> Result<Option<(Process, StopRequested)>, Error> {
    let known = holder(context).await?;
    let (client, status) = match connect::find_with_status(&context.state).await {
        Ok(Some(found)) => found,
        // It answers, and does not let us: that is no reason to use force.
        Err(Error::Client(roost_client::Error::Fault(fault))) if fault.kind() == Some(FaultCode::Forbidden) => {
            return Err(roost_client::Error::Fault(fault).into());
        }
        // One that does not answer is ended in another way.
        Ok(None) | Err(_) => return Ok(known.map(|daemon| (daemon, StopRequested::No))),
    };
    // Whether or not it understood, its end is waited for.
    let _ = timeout(PATIENCE, connect::stop_daemon(&client)).await;
    Ok(known.or_else(|| Process::from_pid(status.pid)).map(|daemon| (daemon, StopRequested::Yes)))
}

/// The daemon that holds the state directory, whether it listens, only begins to or no longer does.
async fn holder(context: &Context) -> Result<Option<Process>, Error> {
    let dir = context.state.dir().to_owned();
    // Looking must not make the directory.
    if !blocking(move || Ok(dir.exists())).await? {
        return Ok(None);
    }
    match lock(&context.state, "roost down").await {
        Err(Error::Held { held: roost_log::Error::Held { holder: Some(holder), .. } })
            if holder.command == DAEMON_NAME =>
        {
            Ok(Process::from_pid(holder.pid))
        }
        Err(Error::Held { .. }) | Ok(_) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Waits until the daemon has ended; sends SIGTERM and then SIGKILL if it takes longer than [`PATIENCE`] each time.
async fn end(daemon: Process, asked: StopRequested) -> Result<(), Error> {
    let pid = i32::try_from(daemon.pid).ok().and_then(Pid::from_raw);
    let words = (asked == StopRequested::Yes).then_some(None);
    for signal in words.into_iter().chain([Some(Signal::TERM), Some(Signal::KILL)]) {
        if let (Some(pid), Some(signal)) = (pid, signal) {
            // It may have ended just now.
            let _ = kill_process(pid, signal);
        }
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if !daemon.is_alive() {
                return Ok(());
            }
            sleep(POLL).await;
        }
    }
    Err(Error::Undying(daemon.pid))
}
