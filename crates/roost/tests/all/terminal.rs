//! A terminal of its own for a command, and somebody who types at it.

use std::io::{Read, Write};
use std::process::Child;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Instant;

use pty_process::Size;
use pty_process::blocking::{Command, Pty, open};
use rustix::process::{Pid, Signal, kill_process};

use crate::kit::{PATIENCE, RoostInstance};

/// What Ctrl-C and Ctrl-D send.
pub(crate) const CTRL_C: &str = "\x03";
pub(crate) const CTRL_D: &str = "\x04";
/// What a terminal with a cursor is asked, and what this one answers: it is where it always is.
const WHERE_IS_THE_CURSOR: &str = "\x1b[6n";
const CURSOR: &str = "\x1b[1;1R";

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
        let mut command = self.command(args);
        command.env("NO_COLOR", "1").env("TERM", kind);
        Terminal::open(80, command)
    }

    /// Starts a command at a terminal with colours that is so many columns wide.
    pub(crate) fn terminal_with_colours(&self, columns: u16, args: &[&str]) -> Terminal {
        let mut command = self.command(args);
        command.env("TERM", "xterm");
        Terminal::open(columns, command)
    }
}

impl Terminal {
    /// Starts any command at a terminal of this width.
    pub(crate) fn open(columns: u16, command: std::process::Command) -> Self {
        let (pty, pts) = open().unwrap();
        pty.resize(Size::new(24, columns)).unwrap();
        // The terminal is stdin, stdout and stderr, whatever was set before.
        let child = Command::from(command).spawn(pts).unwrap();
        let pty = std::sync::Arc::new(pty);
        let (send, output) = mpsc::channel();
        let from = pty.clone();
        thread::spawn(move || {
            let mut chunk = [0; 4096];
            let mut asked = String::new();
            // Once nobody has the terminal open, reading it is an error.
            while let Ok(count @ 1..) = (&*from).read(&mut chunk) {
                asked.push_str(&String::from_utf8_lossy(&chunk[..count]));
                while let Some(at) = asked.find(WHERE_IS_THE_CURSOR) {
                    asked.drain(..at + WHERE_IS_THE_CURSOR.len());
                    (&*from).write_all(CURSOR.as_bytes()).unwrap();
                }
                let tail = asked.ceil_char_boundary(asked.len().saturating_sub(WHERE_IS_THE_CURSOR.len()));
                asked.drain(..tail);
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
