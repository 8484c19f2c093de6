//! Runs the Clarity compiler, bounded in time and in what is kept of its output. Whatever happens, nothing of it is left.

use std::ffi::OsStr;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;

/// The most that is kept of what it prints on each of its outputs, in bytes; the rest is read and dropped.
const MAX_OUTPUT: u64 = 64 * 1024;

/// How the compiler ended, and what it printed.
pub(super) struct CompilerOutput {
    pub(super) status: ExitStatus,
    pub(super) said: String,
}

/// Kills the compiler and what it has started, unless it has ended.
struct ProcessGroup(Option<Pid>);

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // An error means that nobody is left.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// Runs a program to its end. An error says why there is no end: it did not start, took longer than `limit`, or somebody
/// pressed Ctrl-C.
pub(super) async fn run(program: &OsStr, args: &[&OsStr], limit: Duration) -> Result<CompilerOutput, String> {
    let shown = program.to_string_lossy();
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own, because a compiler may be a script that starts the real one.
    let mut child = command
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("{shown} does not start ({error}); install it, or name it with --compiler-bin"))?;
    let id = child.id().and_then(|id| i32::try_from(id).ok());
    let mut group = ProcessGroup(id.and_then(Pid::from_raw));
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let ended = async {
        let (status, stdout, stderr) = tokio::join!(child.wait(), read(stdout), read(stderr));
        status.map(|status| CompilerOutput { status, said: String::from_utf8_lossy(&[stdout, stderr].concat()).into() })
    };
    let output = tokio::select! {
        ended = ended => ended.map_err(|error| format!("{shown} was lost ({error})"))?,
        () = tokio::time::sleep(limit) => {
            return Err(format!("{shown} did not finish within {} and was ended", seconds(limit)));
        }
        _ = tokio::signal::ctrl_c() => return Err(format!("{shown} was interrupted")),
    };
    // Its id may be another process's by now.
    group.0 = None;
    Ok(output)
}

/// The beginning of what comes out of a pipe, which is read to its end.
async fn read(pipe: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let mut kept = Vec::new();
    if let Some(mut pipe) = pipe {
        // An error is an end, too: what the program did is told by its exit.
        let _ = (&mut pipe).take(MAX_OUTPUT).read_to_end(&mut kept).await;
        let _ = tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await;
    }
    kept
}

fn seconds(limit: Duration) -> String {
    match limit.as_secs() {
        1 => "1 second".into(),
        seconds => format!("{seconds} seconds"),
    }
}

impl CompilerOutput {
    /// What it printed, and how it ended if it failed.
    pub(super) fn checked(self) -> Result<String, String> {
        let said = self.said.trim();
        if self.status.success() { Ok(said.to_owned()) } else { Err(format!("{said} ({})", self.status)) }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    async fn sh(script: &str, limit: Duration) -> Result<String, String> {
        let args = ["-c", script].map(OsStr::new);
        run(OsStr::new("/bin/sh"), &args, limit).await.and_then(CompilerOutput::checked)
    }

    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn what_a_compiler_prints_and_how_it_ends_is_told() {
        assert_eq!(sh("echo out; echo err >&2", LONG).await.unwrap(), "out\nerr");
        assert_eq!(sh("echo no >&2; exit 3", LONG).await.unwrap_err(), "no (exit status: 3)");
        let missing = run(OsStr::new("/nowhere/clarityc"), &[], LONG).await.err().unwrap();
        assert!(missing.contains("does not start") && missing.contains("--compiler-bin"), "{missing}");
    }

    #[tokio::test]
    async fn a_compiler_that_floods_does_not_fill_memory_and_is_not_blocked() {
        let said = sh("head -c 5000000 /dev/zero | tr '\\0' x", LONG).await.unwrap();
        assert_eq!(said.len() as u64, MAX_OUTPUT);
    }

    #[tokio::test]
    async fn a_compiler_that_hangs_is_ended_with_all_that_it_started() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("pid");
        let script = format!("sleep 1000 & echo $! > {}; wait", file.display());
        // The limit is far above what the shell needs to write its file, and far below the sleep.
        let refused = sh(&script, Duration::from_secs(1)).await.unwrap_err();
        assert_eq!(refused, "/bin/sh did not finish within 1 second and was ended");
        let pid = std::fs::read_to_string(file).unwrap();
        let stat = Path::new("/proc").join(pid.trim()).join("stat");
        let gone = || std::fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z "));
        while !gone() {
            tokio::task::yield_now().await;
        }
    }
}
