//! `roost down`: the end of the daemon and of everything that it started.

use std::io::{self, Write};
use std::time::Duration;

use roost_process::{Process, records};
use roost_proto::rpc::{NoParams, method};
use rustix::process::{Pid, Signal, kill_process};
use tokio::time::{Instant, sleep, timeout};

use crate::cli::Context;
use crate::compose::blocking;
use crate::daemon_file::DaemonFile;
use crate::door;
use crate::error::Error;
use crate::exit::Exit;

/// How long the daemon may take to end after it was asked to, told to, and killed.
const PATIENCE: [Duration; 3] = [Duration::from_secs(7), Duration::from_secs(7), Duration::from_secs(3)];
/// How long agents may outlive the daemon.
const AGENTS: Duration = Duration::from_secs(10);
/// How often it is looked whether the daemon has ended.
const POLL: Duration = Duration::from_millis(10);

const EXAMPLES: &str = "\
Examples:
  roost down    end the daemon and its agents; the record stays

Returns when nothing of it is left.";

/// End the daemon and everything that it started
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {}

pub(crate) async fn run(context: &Context) -> Result<Exit, Error> {
    let ended = match ask(context).await? {
        Some(daemon) => {
            end(daemon).await?;
            format!("The daemon (process {}) has ended, and its agents with it.", daemon.pid)
        }
        None => "No daemon runs here.".into(),
    };
    let run = context.state.run();
    timeout(AGENTS, records::settled(&run)).await.map_err(|_| Error::Agents(run.clone()))?;
    writeln!(io::stdout(), "{ended}").map_err(Error::Output)?;
    Ok(Exit::Completed)
}

/// Asks the daemon to end, in words if it listens; `None` if there is none.
async fn ask(context: &Context) -> Result<Option<Process>, Error> {
    let file = context.state.daemon_file();
    let known = blocking(move || Ok(DaemonFile::read(&file))).await?.map(|file| file.process);
    // One that does not answer is ended in another way.
    let Ok(Some(client)) = door::find(&context.state).await else { return Ok(known) };
    let pid = client.call::<method::DaemonStatusGet>(NoParams {}).await.map(|status| status.pid);
    let daemon = known.or_else(|| Process::of(pid.ok()?));
    // Whether or not it understood, its end is waited for.
    let _ = timeout(PATIENCE[0], client.call::<method::DaemonStop>(NoParams {})).await;
    Ok(daemon)
}

async fn end(daemon: Process) -> Result<(), Error> {
    let pid = i32::try_from(daemon.pid).ok().and_then(Pid::from_raw);
    for (patience, signal) in PATIENCE.into_iter().zip([Some(Signal::TERM), Some(Signal::KILL), None]) {
        let deadline = Instant::now() + patience;
        while Instant::now() < deadline {
            if !daemon.is_alive() {
                return Ok(());
            }
            sleep(POLL).await;
        }
        if let (Some(pid), Some(signal)) = (pid, signal) {
            // It may have ended just now.
            let _ = kill_process(pid, signal);
        }
    }
    Err(Error::Undying(daemon.pid))
}
