//! What a program sees that reads `roost run --json`: the same flood through daemon, socket, client and a pipe.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use tempfile::TempDir;

use crate::{Outcome, stage};

/// A daemon in a temporary state directory; `roost down` ends it on drop.
pub(crate) struct Daemon {
    roost: PathBuf,
    folder: TempDir,
}

impl Daemon {
    /// Starts the daemon with a first task, so that its start is not measured.
    pub(crate) fn start() -> Outcome<Self> {
        let daemon = Self { roost: stage::roost()?, folder: tempfile::tempdir()? };
        std::fs::write(daemon.config(), "")?;
        daemon.rate("hello")?;
        Ok(daemon)
    }

    /// Lines per second of `roost run --json` with this prompt, from the command's start to its end.
    pub(crate) fn rate(&self, prompt: &str) -> Outcome<f64> {
        let start = Instant::now();
        let mut child = self.command(&["run", "--json", "--runtime", "demo", prompt]).stdout(Stdio::piped()).spawn()?;
        let stdout = child.stdout.take().ok_or("the command has no stdout")?;
        let (mut reader, mut line, mut lines) = (BufReader::with_capacity(1 << 20, stdout), Vec::new(), 0u64);
        while reader.read_until(b'\n', &mut line)? > 0 {
            line.clear();
            lines += 1;
        }
        let status = child.wait()?;
        if !status.success() {
            return Err(format!("roost run ended with {status}").into());
        }
        Ok(lines as f64 / start.elapsed().as_secs_f64())
    }

    /// The command that an editor starts.
    pub(crate) fn acp(&self) -> Command {
        self.command(&["acp", "--runtime", "demo"])
    }

    /// The folder in which sessions work.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.roost);
        command.arg("--state").arg(self.folder.path().join("state")).arg("--config").arg(self.config()).args(args);
        command.current_dir(self.folder.path()).stdin(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// An empty configuration, so that the settings of this machine's user do not count.
    fn config(&self) -> PathBuf {
        self.folder.path().join("roost.toml")
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.command(&["down"]).stdout(Stdio::null()).status();
    }
}
