//! The program that stands between Roost and an agent: it starts the agent and writes down every line that passes.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use parking_lot::Mutex;
use serde_json::json;

use super::http;

/// The first argument of a process that stands in between; the file and the agent's command follow.
pub(super) const FLAG: &str = "--between";

/// A recording that is being written: one JSON object per line, with the direction and the milliseconds since its start.
pub(super) struct Recording {
    file: Mutex<File>,
    start: Instant,
}

impl Recording {
    /// Writes down a line in its direction: `in` from Roost to the agent, `out` back.
    pub(super) fn write(&self, direction: &str, line: &str) -> io::Result<()> {
        let ms = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        writeln!(self.file.lock(), "{}", json!({ "dir": direction, "ms": ms, "line": line }))
    }
}

/// Runs the agent until it ends.
pub(super) fn run(file: &Path, program: &OsStr, args: &[OsString]) -> io::Result<ExitCode> {
    let mut command = Command::new(program);
    command.args(args);
    if args.last().is_some_and(|arg| arg == "--version") {
        return Err(command.exec());
    }
    let recording = Arc::new(Recording { file: Mutex::new(File::create(file)?), start: Instant::now() });
    let mut agent = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = agent.stdin.take() {
        let recording = recording.clone();
        // Ends with this process, because Roost may keep the pipe open for longer than the agent lives.
        thread::spawn(move || pass_on(io::stdin(), &mut stdin, |line| recording.write("in", line).map(|()| None)));
    }
    if let Some(stdout) = agent.stdout.take() {
        pass_on(stdout, &mut io::stdout(), |line| {
            recording.write("out", line)?;
            let Some(address) = http::server_address(line) else { return Ok(None) };
            let proxy = http::start(address, recording.clone())?;
            Ok(Some(line.replace(&address.to_string(), &proxy.to_string())))
        })?;
    }
    let code = agent.wait()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Copies lines until the end. `record` sees each without its newline and may return another to be passed on instead.
fn pass_on(
    from: impl Read,
    to: &mut impl Write,
    record: impl Fn(&str) -> io::Result<Option<String>>,
) -> io::Result<()> {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        let other = record(String::from_utf8_lossy(&line).trim_end_matches('\n'))?;
        match other {
            Some(other) => writeln!(to, "{other}")?,
            None => to.write_all(&line)?,
        }
        to.flush()?;
        line.clear();
    }
    Ok(())
}
