//! A terminal of its own for a command, and somebody who types at it.

use std::io::{Read, Write};
use std::process::Child;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Instant;

use pty_process::blocking::{Command, Pty, open};
use rustix::process::{Pid, Signal, kill_process};

use crate::kit::{PATIENCE, RoostInstance};

/// What Ctrl-C and Ctrl-D send.
pub(crate) const CTRL_C: &str = "\x03";
pub(crate) const CTRL_D: &str = "\x04";

/// A command at a terminal.
pub(crate) struct Terminal {
    pty: std::sync::Arc<Pty>,
    child: Child,
    output: Receiver<Vec<u8>>,
    /// Everything that was shown.
    shown: String,
    /// How much of it was waited for already.
    seen: usize,
}

impl RoostInstance {
    /// Starts a command at a terminal that can do nothing but show text.
    pub(crate) fn terminal(&self, args: &[&str]) -> Terminal {
        self.terminal_of_kind("dumb", args)
    }

    /// Starts a command at a terminal of this kind (`TERM`).
    pub(crate) fn terminal_of_kind(&self, kind: &str, args: &[&str]) -> Terminal {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_roost"));
        self.clear(&mut command).env("NO_COLOR", "1").env("TERM", kind).args(args);
        Terminal::start(command)
    }
}

impl Terminal {
    /// Starts any command at a terminal.
    pub(crate) fn start(command: std::process::Command) -> Self {
        let (pty, pts) = open().unwrap();
        // The terminal is stdin, stdout and stderr, whatever was set before.
        let child = Command::from(command).spawn(pts).unwrap();
        let pty = std::sync::Arc::new(pty);
        let (send, output) = mpsc::channel();
        let from = pty.clone();
        thread::spawn(move || {
            let mut chunk = [0; 4096];
            // Once nobody has the terminal open, reading it is an error.
            while let Ok(count @ 1..) = (&*from).read(&mut chunk) {
                if send.send(chunk[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { pty, child, output, shown: String::new(), seen: 0 }
    }

    /// Types something.
    pub(crate) fn types(&mut self, text: &str) -> &mut Self {
        (&*self.pty).write_all(text.as_bytes()).unwrap();
        self
    }

    /// Waits until this is shown, after what was waited for before.
    #[track_caller]
    pub(crate) fn shows(&mut self, text: &str) -> &mut Self {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(at) = self.shown[self.seen..].find(text) {
                self.seen += at + text.len();
                return self;
            }
            match self.output.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(more) => self.shown.push_str(&String::from_utf8_lossy(&more).replace('\r', "")),
                Err(error) => panic!("{text:?} was not shown ({error}); this was:\n{}", self.shown),
            }
        }
    }

    /// Kills the command, and returns when it is dead.
    pub(crate) fn kill(mut self) {
        kill_process(Pid::from_child(&self.child), Signal::KILL).unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for the end; everything that was shown.
    #[track_caller]
    pub(crate) fn ended(mut self, code: i32) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.output.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(more) => self.shown.push_str(&String::from_utf8_lossy(&more).replace('\r', "")),
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    let _ = kill_process(Pid::from_child(&self.child), Signal::KILL);
                    panic!("the command hung; this was shown:\n{}", self.shown);
                }
            }
        }
        assert_eq!(self.child.wait().unwrap().code(), Some(code), "{}", self.shown);
        self.shown
    }
}
