//! The daemon as a process in the background: started by one command, there for all.
//!
//! Until it listens, its stdout is a pipe to whoever started it: it says one word there, or why it could not start. Its
//! stderr is the daemon's log from the first moment, so that nothing it says is lost.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::AsyncReadExt;
use tokio::process::Command;

use crate::blocking::blocking;
use crate::cli::Context;
use crate::error::Error;
use crate::exit::Exit;

/// Written by a daemon that listens.
const READY: &str = "ready";
/// Written by a daemon that ends at once, because another one listens.
const NOT_NEEDED: &str = "not needed";

/// The result of starting a daemon in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartResult {
    /// The daemon that was started listens.
    Started,
    /// Another daemon was faster and listens; this one has ended.
    NotNeeded,
}

impl StartResult {
    /// Called in the daemon: reports the result to the command that waits for it, and lets go of its stdout.
    pub fn say(self) -> io::Result<()> {
        release(match self {
            Self::Started => READY,
            Self::NotNeeded => NOT_NEEDED,
        })
    }
}

/// Called in the daemon: reports why it cannot start to the command that waits for it.
pub fn say_failed(error: &Error) -> io::Result<()> {
    release(&error.to_string())
}

#[expect(clippy::disallowed_methods, reason = "whoever started the daemon reads this from a pipe")]
fn release(word: &str) -> io::Result<()> {
    let mut stdout = io::stdout();
    let written = stdout.write_all(word.as_bytes()).and_then(|()| stdout.flush());
    rustix::stdio::dup2_stdout(OpenOptions::new().write(true).open("/dev/null")?)?;
    written
}

/// Called in the daemon: leaves the session of the terminal it was started from, so that its signals do not reach it.
pub fn detach() {
    // It fails only for the leader of a process group, which nothing that was started by [`start`] is.
    let _ = rustix::process::setsid();
}

/// Starts `roost serve` with these arguments; returns when it listens.
pub(crate) async fn start(context: &Context, args: Vec<OsString>) -> Result<StartResult, Error> {
    let (dir, log) = (context.state.dir().to_owned(), context.state.daemon_log());
    let log = blocking(move || open_log(&dir, &log)).await?;
    let mut command = Command::new(std::env::current_exe().map_err(Error::Start)?);
    // Under its own name, whatever this command was called: a copy may have the name of another program.
    command.arg0("roost").arg("--state").arg(context.state.dir());
    if let Some(config) = &context.config_file {
        command.arg("--config").arg(config);
    }
    command.arg("serve").args(args);
    // Whoever is in the background keeps no folder from being removed.
    command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
    // Whoever waits for the end of a pipe that this command was given must not wait for the daemon.
    roost_process::pass_on_no_descriptors();
    let mut child = command.spawn().map_err(Error::Start)?;
    let mut report = String::new();
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_to_string(&mut report).await.map_err(Error::Start)?;
    }
    match report.as_str() {
        READY => Ok(StartResult::Started),
        NOT_NEEDED => Ok(StartResult::NotNeeded),
        _ => {
            let ended = child.wait().await.map_err(Error::Start)?;
            let exit = if ended.code() == Some(Exit::Usage as i32) { Exit::Usage } else { Exit::Failed };
            let why = match report.is_empty() {
                true => format!("the daemon could not start ({ended}); see {}", context.state.daemon_log().display()),
                false => report,
            };
            Err(Error::Daemon { why, exit })
        }
    }
}

fn open_log(dir: &Path, path: &PathBuf) -> Result<File, Error> {
    roost_log::secure(dir)?;
    let opened = roost_log::private_file().create(true).append(true).open(path);
    opened.map_err(|source| Error::State { path: dir.into(), source })
}
