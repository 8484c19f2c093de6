//! Starts and adopts the process of a runtime, with the streams that the pump reads.

use std::ffi::OsString;
use std::time::Duration;

use roost_engine::adapter::{AdapterError, OpenSession};
use roost_process::records::Record;
use roost_process::{Control, Environment, Error, Holder, Ladder, Launch, Lines, RunId, Running, StderrTail, Stdin};
use tokio::sync::mpsc;

use super::AgentCommand;

/// How many lines of stderr may be queued for the pump; further lines are only in the tail.
const STDERR_LINES: usize = 64;

/// A running process: its output streams, and the control that stops it.
pub(crate) struct Process {
    pub(crate) stdout: Lines,
    pub(crate) stderr: mpsc::Receiver<String>,
    /// The last lines of stderr, for the exit report.
    pub(crate) tail: StderrTail,
    pub(crate) control: Control,
}

/// How to start a process for a session.
pub(crate) struct Start<'a> {
    pub(crate) run: RunId,
    /// Only its `program` is used: `args` and `env` below are complete.
    pub(crate) command: &'a AgentCommand,
    pub(crate) args: Vec<OsString>,
    pub(crate) env: Environment,
    pub(crate) open: &'a OpenSession,
}

impl Start<'_> {
    /// Starts the process under a holder; it is ended when this daemon dies.
    pub(crate) async fn spawn(self, holder: &Holder) -> Result<(Process, Stdin), AdapterError> {
        self.spawn_lasting(holder, Duration::ZERO).await
    }

    /// Starts the process under a holder; if this daemon dies, the process runs on alone for up to `alone`.
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
    /// Takes over a process that outlived an earlier daemon; also returns when it lost that daemon.
    pub(crate) async fn adopt(holder: &Holder, record: &Record) -> Result<(Self, std::time::SystemTime), Error> {
        let (stderr_lines, stderr) = mpsc::channel(STDERR_LINES);
        let adopted = holder.adopt(record, Some(stderr_lines)).await?;
        let (stdout, tail, control) = (adopted.stdout, adopted.stderr, adopted.control);
        Ok((Self { stdout, stderr, tail, control }, adopted.alone_since))
    }
}

/// A copy of the holder that stops a process without a grace period, for runtimes that do not exit when stdin closes.
pub(crate) fn without_grace(holder: &Holder) -> Holder {
    Holder { ladder: Ladder { grace: Duration::ZERO, ..holder.ladder }, ..holder.clone() }
}
