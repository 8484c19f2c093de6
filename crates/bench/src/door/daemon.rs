//! The daemon that is measured: `roost serve` in a home of its own.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::client::DoorClient;
use crate::{Outcome, http, memory, stage};

/// No rate limits: a bench is many clients behind one token.
const CONFIG: &str = "\
default_runtime = \"demo\"

[limits]
changes_per_minute = 0
starts_per_minute = 0
reads_per_minute = 0
sockets_per_token = 0
";

/// A temporary home for daemons, which run in it one after the other.
pub(crate) struct Home {
    folder: TempDir,
    path: OsString,
}

impl Home {
    /// A new home with the settings of [`CONFIG`] only.
    pub(crate) fn new() -> Outcome<Self> {
        Self::with("", OsString::new())
    }

    /// A home with more settings, whose daemon finds programs in these folders first.
    pub(crate) fn with(settings: &str, mut path: OsString) -> Outcome<Self> {
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let home = Self { folder: tempfile::tempdir()?, path };
        let config = home.folder.path().join(".config/roost");
        std::fs::create_dir_all(&config)?;
        std::fs::write(config.join("roost.toml"), format!("{CONFIG}\n{settings}"))?;
        std::fs::create_dir(home.work())?;
        Ok(home)
    }

    /// The folder, which is the daemon's `HOME`.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The daemon's state directory, below the home.
    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join(".local/state/roost")
    }

    fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// A `roost` command with this home and a cleared environment.
    pub(crate) fn command(&self) -> Outcome<Command> {
        let mut command = Command::new(stage::roost()?);
        command.env_clear().env("PATH", &self.path).env("HOME", self.folder.path());
        command.current_dir(self.work()).stdin(Stdio::null());
        Ok(command)
    }

    /// Starts the daemon and waits until it listens.
    pub(crate) fn start(&self) -> Outcome<Daemon> {
        let began = Instant::now();
        let mut child = self.command()?.args(["serve", "--port", "0"]).stdout(Stdio::piped()).spawn()?;
        let mut output = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        let mut line = String::new();
        output.read_line(&mut line)?;
        // It says, for example, "Roost is running at http://127.0.0.1:8766; press Ctrl-C to stop it."
        let address = line.split_once("http://").and_then(|(_, rest)| rest.split(';').next()?.trim().parse().ok());
        let address = address.ok_or_else(|| format!("the daemon does not say where it listens: {line}"))?;
        Ok(Daemon { child, began, address, _output: output })
    }

    /// Pairs a device of scope admin and returns its access token.
    pub(crate) fn pair(&self, daemon: &Daemon) -> Outcome<String> {
        let pair = self.command()?.args(["pair", "--scope", "admin", "--json"]).output()?;
        let offer: Value = serde_json::from_slice(&pair.stdout)?;
        let exchange = json!({ "pairing_token": offer["token"] });
        let tokens = http::post(daemon.address, "/api/auth/exchange", None, &exchange)?;
        Ok(tokens["access_token"].as_str().ok_or_else(|| format!("not paired: {tokens}"))?.into())
    }
}

/// A running daemon. It is killed on drop; [`Daemon::stop`] ends it in order.
pub(crate) struct Daemon {
    child: Child,
    began: Instant,
    pub(crate) address: SocketAddr,
    /// Kept open, so that the daemon can still write to its stdout.
    _output: BufReader<ChildStdout>,
}

impl Daemon {
    /// Connects a client with this token.
    pub(crate) fn client(&self, token: &str) -> Outcome<DoorClient> {
        DoorClient::connect(self.address, token)
    }

    /// Makes a call and returns the time from the start of the process to the response.
    pub(crate) fn ready(&self, token: &str) -> Outcome<Duration> {
        let health = json!({ "jsonrpc": "2.0", "id": 1, "method": "status/health" });
        let answer = http::post(self.address, "/api/rpc", Some(token), &health)?;
        let took = self.began.elapsed();
        match answer.get("result") {
            Some(_) => Ok(took),
            None => Err(format!("status/health was answered with: {answer}").into()),
        }
    }

    /// The id of the daemon's process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The resident memory in megabytes now.
    pub(crate) fn resident(&self) -> Outcome<f64> {
        memory::megabytes(self.child.id(), "VmRSS")
    }

    /// The largest resident memory so far, in megabytes.
    pub(crate) fn peak(&self) -> Outcome<f64> {
        memory::megabytes(self.child.id(), "VmHWM")
    }

    /// Ends the daemon with SIGTERM, as a service manager would, and waits for it.
    pub(crate) fn stop(mut self) -> Outcome {
        kill_process(Pid::from_child(&self.child), Signal::TERM)?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
