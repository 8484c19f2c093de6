//! `cargo xtask recording`: records `roost demo` at a terminal for the README.
//!
//! The program runs in a pseudo-terminal of 80×24 with a home of its own. What it shows becomes an asciinema cast
//! (`docs/demo.cast`), and the cast an animated picture (`docs/demo.svg`).

mod cast;
mod svg;

use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use pty_process::Size;
use pty_process::blocking::{Pty, open};

use crate::cache::Cache;
use crate::{Result, step};
use cast::{COLUMNS, Cast, ROWS};

/// The cast and the picture, from the root.
const CAST: &str = "docs/demo.cast";
const PICTURE: &str = "docs/demo.svg";

/// What is typed, and the text in the cursor's line that it answers.
const SCRIPT: [(&str, &str); 4] =
    [("[n]o", "y"), (">", "edit notes.txt"), ("[n]o", "n because it is Sunday"), (">", "/quit")];

/// How long the program may take to show what is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long somebody reads before they type.
const READING: Duration = Duration::from_millis(1500);
/// The time between two keys.
const TYPING: Duration = Duration::from_millis(70);
/// Chunks of output that wait to be recorded; the program waits if there are more.
const BACKLOG: usize = 64;
/// By this a program asks where the cursor is, as line editors do.
const CURSOR_REQUEST: &[u8] = b"\x1b[6n";

/// Carries out `cargo xtask recording`.
pub(crate) fn run(root: &Path) -> Result {
    let cache = Cache::from_env(root)?;
    let mut build = Command::new("cargo");
    // The whole workspace, so that its crates have the features that the tests build them with.
    build.args(["build", "--workspace", "--locked", "--bin", "roost"]);
    build.current_dir(root).env("CARGO_TARGET_DIR", cache.target());
    step::run("build roost", &mut build)?;
    let roost = cache.target().join("debug/roost");
    step::run_with("record", "cargo xtask recording", || {
        let cast = record(&roost)?;
        write(&root.join(CAST), &cast.to_text())?;
        write(&root.join(PICTURE), &svg::animated(&cast))
    })
}

fn write(path: &Path, text: &str) -> Result {
    fs::write(path, text).map_err(|error| format!("{} cannot be written: {error}", path.display()))
}

/// Takes the tour as a person would, and stops the daemon that it started.
fn record(roost: &Path) -> Result<Cast> {
    let home = tempfile::tempdir().map_err(|error| format!("no temporary folder for a home: {error}"))?;
    let command = |args: &[&str]| {
        let mut command = Command::new(roost);
        command.env_clear().env("HOME", home.path()).env("XDG_RUNTIME_DIR", home.path());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/bin:/bin")));
        command.env("TERM", "xterm-256color").current_dir(home.path()).args(args);
        command
    };
    let recorded = Recorder::start(command(&["demo"])).and_then(Recorder::take_the_tour);
    let stopped = command(&["down"]).output().map_err(|error| format!("`roost down` cannot be started: {error}"))?;
    match stopped.status.success() {
        true => recorded,
        false => Err(format!("`roost down` failed: {}", String::from_utf8_lossy(&stopped.stderr))),
    }
}

/// A program at a terminal, and what it has shown so far.
struct Recorder {
    pty: Arc<Pty>,
    child: std::process::Child,
    output: Receiver<Vec<u8>>,
    began: Instant,
    screen: vt100::Parser,
    cast: Cast,
}

impl Recorder {
    fn start(command: Command) -> Result<Self> {
        let failed = |error: pty_process::Error| format!("no pseudo-terminal: {error}");
        let (pty, pts) = open().map_err(failed)?;
        pty.resize(Size::new(ROWS, COLUMNS)).map_err(failed)?;
        let child = pty_process::blocking::Command::from(command).spawn(pts).map_err(failed)?;
        let pty = Arc::new(pty);
        let (send, output) = sync_channel(BACKLOG);
        let from = pty.clone();
        // Ends with the program: once nobody has the terminal open, reading it is an error.
        thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(count @ 1..) = (&*from).read(&mut chunk) {
                if send.send(chunk[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        let mut recorder = Self {
            pty,
            child,
            output,
            began: Instant::now(),
            screen: vt100::Parser::new(ROWS, COLUMNS, 0),
            cast: Cast::default(),
        };
        recorder.show(b"$ roost demo\r\n");
        Ok(recorder)
    }

    fn take_the_tour(mut self) -> Result<Cast> {
        for (shown, typed) in SCRIPT {
            self.wait_for(shown)?;
            self.read_for(READING)?;
            for key in typed.chars().chain(['\r']) {
                self.press(key.encode_utf8(&mut [0; 4]).as_bytes())?;
                self.read_for(TYPING)?;
            }
        }
        while self.read(PATIENCE)? {}
        let ended = self.child.wait().map_err(|error| format!("`roost demo` is lost: {error}"))?;
        if ended.success() { Ok(self.cast) } else { Err(format!("`roost demo` ended with {ended}")) }
    }

    fn press(&self, key: &[u8]) -> Result {
        (&*self.pty).write_all(key).map_err(|error| format!("nothing can be typed: {error}"))
    }

    /// Records until the cursor is in a line that holds this text.
    fn wait_for(&mut self, text: &str) -> Result {
        loop {
            let (row, _) = self.screen.screen().cursor_position();
            let line = self.screen.screen().rows(0, COLUMNS).nth(row.into()).unwrap_or_default();
            if line.contains(text) {
                return Ok(());
            }
            if !self.read(PATIENCE)? {
                return Err(format!(
                    "{text:?} was not shown; the last screen was:\n{}",
                    self.screen.screen().contents()
                ));
            }
        }
    }

    /// Records everything that is shown within this time.
    fn read_for(&mut self, time: Duration) -> Result {
        let deadline = Instant::now() + time;
        loop {
            match self.output.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(chunk) => self.take(&chunk)?,
                // One that ends before it should is noticed by whoever waits for its text.
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    /// Records what is shown next; false if the program has ended.
    fn read(&mut self, patience: Duration) -> Result<bool> {
        match self.output.recv_timeout(patience) {
            Ok(chunk) => self.take(&chunk).map(|()| true),
            Err(RecvTimeoutError::Disconnected) => Ok(false),
            Err(RecvTimeoutError::Timeout) => {
                let screen = self.screen.screen().contents();
                Err(format!("nothing was shown for {} s; the last screen was:\n{screen}", patience.as_secs()))
            }
        }
    }

    fn take(&mut self, chunk: &[u8]) -> Result {
        self.show(chunk);
        if chunk.windows(CURSOR_REQUEST.len()).any(|part| part == CURSOR_REQUEST) {
            let (row, column) = self.screen.screen().cursor_position();
            self.press(format!("\x1b[{};{}R", row + 1, column + 1).as_bytes())?;
        }
        Ok(())
    }

    fn show(&mut self, chunk: &[u8]) {
        self.screen.process(chunk);
        self.cast.push(self.began.elapsed(), chunk);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_in_the_docs_shows_the_cast_beside_it() {
        let root = crate::repository_root();
        let cast = Cast::from_text(&fs::read_to_string(root.join(CAST)).unwrap()).unwrap();
        let picture = fs::read_to_string(root.join(PICTURE)).unwrap();
        assert!(picture == svg::animated(&cast), "run `cargo xtask recording`, or undo the change of {PICTURE}");
    }
}
