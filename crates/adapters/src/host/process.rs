//! A runtime's process, as far as a pump has to do with it.

use std::ffi::OsString;
use std::time::Duration;

use roost_engine::adapter::{AdapterError, OpenSession};
use roost_process::records::Record;
use roost_process::{Control, Environment, Error, Holder, Ladder, Launch, Lines, RunId, Running, StderrTail, Stdin};
use tokio::sync::mpsc;

use super::AgentCommand;

/// Lines of stderr that may wait to be shown; the rest is only in the tail.
const STDERR_LINES: usize = 64;

/// What a process prints, and the way to end it.
pub(crate) struct Process {
    pub(crate) stdout: Lines,
    pub(crate) stderr: mpsc::Receiver<String>,
    /// The end of all that it printed to stderr.
    pub(crate) tail: StderrTail,
    pub(crate) control: Control,
}

/// A process to be started for a session.
pub(crate) struct Start<'a> {
    pub(crate) run: RunId,
    /// Of which only the program is used.
    pub(crate) command: &'a AgentCommand,
    pub(crate) args: Vec<OsString>,
    pub(crate) env: Environment,
    pub(crate) open: &'a OpenSession,
}

impl Start<'_> {
    /// Starts it under a holder; it ends with us.
    pub(crate) async fn spawn(self, holder: &Holder) -> Result<(Process, Stdin), AdapterError> {
        self.spawn_lasting(holder, Duration::ZERO).await
    }

    /// Starts it under a holder; if we die, it goes on for this long.
    pub(crate) async fn spawn_lasting(
        self,
        holder: &Holder,
        alone: Duration,
    ) -> Result<(Process, Stdin), AdapterError> {
        let Self { run, command, args, env, open } = self;
        let (stderr_lines, stderr) = mpsc::channel(STDERR_LINES);
        let launch = Launch {
            run,
            label: open.session_id.to_string(),
            program: command.program.clone(),
            args,
            cwd: open.env.cwd.clone().into(),
            env,
            stderr_lines: Some(stderr_lines),
        };
        let spawned = holder.spawn_lasting(launch, alone).await;
        let running = spawned.map_err(|error| AdapterError::Spawn(error.to_string()))?;
        let Running { stdin, stdout, stderr: tail, control } = running;
        Ok((Process { stdout, stderr, tail, control }, stdin))
    }
}

impl Process {
    /// Takes over a process that outlived an earlier daemon, and tells when that was lost.
    pub(crate) async fn adopt(holder: &Holder, record: &Record) -> Result<(Self, std::time::SystemTime), Error> {
        let (stderr_lines, stderr) = mpsc::channel(STDERR_LINES);
        let adopted = holder.adopt(record, Some(stderr_lines)).await?;
        let (stdout, tail, control) = (adopted.stdout, adopted.stderr, adopted.control);
        Ok((Self { stdout, stderr, tail, control }, adopted.alone_since))
    }
}

/// A holder that does not wait for a process to leave by itself, for runtimes that do not watch their stdin.
pub(crate) fn without_grace(holder: &Holder) -> Holder {
    Holder { ladder: Ladder { grace: Duration::ZERO, ..holder.ladder }, ..holder.clone() }
}
