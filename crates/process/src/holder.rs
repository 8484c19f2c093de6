//! The daemon's side of a holder: starts the holder process, with pipes to the runtime that it holds.
#![allow(unsafe_code)]

use std::{
    ffi::OsString,
    io,
    os::{
        fd::{AsRawFd, BorrowedFd},
        unix::net::UnixStream as StdUnixStream,
    },
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use rustix::{
    io::{FdFlags, fcntl_setfd},
    process::Resource,
};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf, pipe},
    },
    process::{Child, Command},
    sync::mpsc,
    time::timeout,
};

use crate::{
    Environment, Error, Ladder, Lines, Process, RunId, Running, StderrTail, Stdin, Wall,
    control::Report,
    descent::Descent,
    hold::CommandLine,
    holder_registry::HolderRegistration,
    open_files, records, resolve,
    running::{HeldRun, STOP, supervise},
    tree::Target,
};

/// The size asked for the stdout pipe: room for hundreds of lines per system call. Not more, because
/// a user's pipes together are limited to 64 MiB, and beyond that every new pipe shrinks to two pages.
#[cfg(target_os = "linux")]
const PIPE_SIZE: usize = 256 * 1024;

/// How long the stderr of a failed holder is read for the error message.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The settings with which holders are started.
#[derive(Clone, Debug)]
pub struct Holder {
    /// A program that calls [`crate::hold::main`], usually `roost` itself.
    pub program: PathBuf,
    /// The arguments that make it do so, such as `hold`.
    pub args: Vec<OsString>,
    /// The directory with one record per running holder.
    pub records: PathBuf,
    /// The timeouts of ending a runtime.
    pub ladder: Ladder,
    /// What is hidden from all runtimes; `None` hides nothing.
    pub wall: Option<Wall>,
}

/// The parameters of a runtime that is to be started.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Identifies this run; must be new for every launch.
    pub run: RunId,
    /// Stored in the record for whoever reads it after a crash, such as the session id.
    pub label: String,
    /// A path, or a name that is looked up in the `PATH` of `env`.
    pub program: OsString,
    /// The arguments after the program's name.
    pub args: Vec<OsString>,
    /// The working directory, which must exist.
    pub cwd: PathBuf,
    /// The complete environment; only `ROOST_RUN` is added.
    pub env: Environment,
    /// Receives the lines of stderr. Lines are dropped while the channel is full; the tail keeps them all.
    pub stderr_lines: Option<mpsc::Sender<String>>,
}

/// A holder process that was started and has not sent its first report.
struct StartedHolder {
    child: Child,
    /// Registered before the holder can have started anything.
    registration: Option<HolderRegistration>,
    reports: OwnedReadHalf,
    stop: StopOnDrop,
    stdin: pipe::Sender,
    stdout: pipe::Receiver,
    stderr: pipe::Receiver,
}

/// The socket to a holder that has no supervisor yet. Dropping it sends a stop, because closing the socket alone does
/// not stop a run that may outlive its daemon.
struct StopOnDrop(Option<OwnedWriteHalf>);

impl StopOnDrop {
    fn claim(mut self) -> Option<OwnedWriteHalf> {
        self.0.take()
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        if let Some(stop) = &self.0 {
            // A socket that is full or closed says the same.
            let _ = rustix::io::write(stop.as_ref(), STOP);
        }
    }
}

impl Holder {
    /// The folder for the files of a run. It is removed together with the run's record.
    pub fn folder(&self, run: &RunId) -> PathBuf {
        records::folder(&self.records, run)
    }

    /// Starts the runtime under a holder and waits until it runs.
    ///
    /// Dropping the future ends whatever it has started.
    pub async fn spawn(&self, launch: Launch) -> Result<Running, Error> {
        self.spawn_lasting(launch, Duration::ZERO).await
    }

    /// Like [`Self::spawn`], but the runtime may outlive this process: if we die without ending it, it runs on for
    /// `orphan_timeout`, and the next daemon can take it over with [`Self::adopt`]. Its stdin ends with us. Linux only;
    /// elsewhere the runtime ends with us.
    pub async fn spawn_lasting(&self, launch: Launch, orphan_timeout: Duration) -> Result<Running, Error> {
        let (holder, run, stderr_lines) = (self.clone(), launch.run.clone(), launch.stderr_lines.clone());
        let prepared = tokio::task::spawn_blocking(move || {
            let line = holder.command_line(&launch, orphan_timeout)?;
            let started = holder
                .start(&line, &launch.env)
                .map_err(|source| Error::Holder { program: holder.program.clone(), source })?;
            Ok((line.program, started))
        });
        let (program, started) = prepared.await.map_err(|_| Error::ShuttingDown)??;
        let StartedHolder { mut child, registration, reports, stop, stdin, stdout, stderr } = started;

        let mut reports = BufReader::new(reports).lines();
        let first = reports.next_line().await.ok().flatten();
        let report = first.and_then(|line| serde_json::from_str(&line).ok());
        let (runtime, cgroup) = match report {
            Some(Report::Started { runtime, cgroup, record_error }) => {
                if let Some(error) = record_error {
                    tracing::warn!(%run, %error, "A runtime has no record: if roost and its holder are both killed, it is not found again.");
                }
                (runtime, cgroup)
            }
            Some(Report::Failed { message }) => return Err(Error::Exec { program, message }),
            _ => {
                drop((stop, reports));
                // It may have got as far as starting the runtime.
                let target = Target { run, roots: Vec::new(), cgroup: None, records: None };
                Descent::new(target, self.ladder.leftover).run().await?;
                let status = child.wait().await.map_or_else(|error| error.to_string(), |status| status.to_string());
                let said = StderrTail::default();
                // Bounded, as somebody else may have inherited the pipe from a broken holder.
                let _ = timeout(LAST_WORDS, said.clone().drain(stderr, None)).await;
                let status = format!("{status}: {}", said.text().trim());
                return Err(Error::HolderDied { program: self.program.clone(), status });
            }
        };
        let Some(stop) = stop.claim() else { return Err(Error::ShuttingDown) };
        let held = HeldRun {
            run,
            runtime,
            cgroup,
            records: self.records.clone(),
            child: Some(child),
            _registration: registration,
            reports,
            stop,
        };
        let (control, stderr) = supervise(held, stderr, stderr_lines);
        Ok(Running { stdin: Stdin(stdin), stdout: Lines::new(stdout), stderr, control })
    }

    fn command_line(&self, launch: &Launch, orphan_timeout: Duration) -> Result<CommandLine, Error> {
        let cwd = resolve::cwd(&launch.cwd)?;
        // The folders of a namespace are beside each other.
        let namespace = launch.env.get("HOME").and_then(|home| Path::new(home).parent()).map(Path::to_owned);
        let own = [Some(self.folder(&launch.run)), Some(cwd.clone()), namespace].into_iter().flatten();
        Ok(CommandLine {
            program: resolve::program(&launch.program, &cwd, launch.env.get("PATH"))?,
            cwd,
            run: launch.run.clone(),
            label: launch.label.clone(),
            records: self.records.clone(),
            ladder: self.ladder,
            wall: self.wall.as_ref().map(|wall| wall.showing(own)),
            orphan_timeout: if cfg!(target_os = "linux") { orphan_timeout } else { Duration::ZERO },
            args: launch.args.clone(),
        })
    }

    /// Starts the holder process. Forks, so it must not run on an async thread.
    fn start(&self, line: &CommandLine, env: &Environment) -> io::Result<StartedHolder> {
        let (stdin, runtime_stdin) = pipe::pipe()?;
        let (runtime_stdout, stdout) = pipe::pipe()?;
        let (runtime_stderr, stderr) = pipe::pipe()?;
        #[cfg(target_os = "linux")]
        let _ = rustix::pipe::fcntl_setpipe_size(&stdout, PIPE_SIZE);
        let (control, holder_control) = StdUnixStream::pair()?;
        control.set_nonblocking(true)?;

        let inherited = holder_control.as_raw_fd();
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .args(line.write(inherited))
            .env_clear()
            .envs(env.iter())
            .stdin(Stdio::from(runtime_stdin.into_blocking_fd()?))
            .stdout(Stdio::from(runtime_stdout.into_blocking_fd()?))
            .stderr(Stdio::from(runtime_stderr.into_blocking_fd()?));
        let open_files = open_files::inherited();
        // SAFETY: all of these are plain system calls, allowed between fork and exec, and the
        // descriptor is open in the child because `holder_control` lives until after the spawn.
        unsafe {
            command.pre_exec(move || {
                // From its first moment on, a Ctrl-C in our terminal is none of its business.
                rustix::process::setsid()?;
                if let Some(limit) = open_files {
                    rustix::process::setrlimit(Resource::Nofile, limit)?;
                }
                fcntl_setfd(BorrowedFd::borrow_raw(inherited), FdFlags::empty())?;
                Ok(())
            });
        }
        let child = command.spawn()?;
        let registration =
            child.id().and_then(Process::from_pid).map(|holder| HolderRegistration::register(holder, &line.label));
        drop(holder_control);
        let (reports, stop) = UnixStream::from_std(control)?.into_split();
        Ok(StartedHolder { child, registration, reports, stop: StopOnDrop(Some(stop)), stdin, stdout, stderr })
    }
}
