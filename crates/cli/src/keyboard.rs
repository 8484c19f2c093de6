//! Reads lines from the terminal.
//!
//! A thread reads, because a terminal that is shared with others cannot be made non-blocking. It reads only while a line
//! is wanted: what is typed otherwise stays with the terminal, for the next one who wants a line or for the shell.

use std::io::{self, IsTerminal, Stdin};
use std::os::fd::OwnedFd;
use std::sync::mpsc as wants;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::termios::{QueueSelector, tcflush};
use tokio::sync::mpsc;

use crate::screen;

/// The most that a terminal gives at once.
const CHUNK: usize = 4096;

/// Lines typed at the terminal, read by a thread on demand.
pub(crate) struct Keyboard {
    lines: mpsc::Receiver<(Instant, KeyboardInput)>,
    want: Option<wants::SyncSender<()>>,
    /// The thread is reading a line, for a caller who may have given up meanwhile.
    is_wanted: bool,
    /// Lines that were begun before this are dropped.
    since: Instant,
    /// Closing it ends the thread wherever it waits.
    stay: Option<OwnedFd>,
    reader: Option<JoinHandle<()>>,
}

/// A line from the terminal, or its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyboardInput {
    /// The text of a line, without its line end.
    Line(String),
    /// Ctrl-D, or the terminal is gone.
    End,
}

impl Keyboard {
    /// True if stdin and stdout are a terminal.
    pub(crate) fn is_there() -> bool {
        io::stdin().is_terminal() && screen::stdout_is_terminal()
    }

    pub(crate) fn open() -> io::Result<Self> {
        let (leave, stay) = pipe_with(PipeFlags::CLOEXEC)?;
        let (want, wanted) = wants::sync_channel(1);
        let (send, lines) = mpsc::channel(1);
        let read = move || {
            while wanted.recv().is_ok() {
                let Some(line) = read_line(&io::stdin(), &leave) else { return };
                if send.blocking_send(line).is_err() {
                    return;
                }
            }
        };
        let reader = thread::Builder::new().name("keyboard".into()).spawn(read)?;
        let since = Instant::now();
        Ok(Self { lines, want: Some(want), is_wanted: false, since, stay: Some(stay), reader: Some(reader) })
    }

    /// Drops what was typed so far, because it is no answer to what is asked next.
    pub(crate) fn forget(&mut self) {
        // A terminal that is gone says so when it is read.
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
        self.since = Instant::now();
    }

    /// Waits for the next line. Cancel safe: a line that is being typed goes to the next call.
    pub(crate) async fn line(&mut self) -> KeyboardInput {
        loop {
            if !self.is_wanted {
                // There is room: the one before was taken.
                self.is_wanted = self.want.as_ref().is_some_and(|want| want.try_send(()).is_ok());
            }
            let Some((when, typed)) = self.lines.recv().await else { return KeyboardInput::End };
            self.is_wanted = false;
            if when >= self.since {
                return typed;
            }
        }
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        self.lines.close();
        drop((self.want.take(), self.stay.take()));
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

/// A line, and when its first character was there; `None` if nobody will want it.
fn read_line(stdin: &Stdin, leave: &OwnedFd) -> Option<(Instant, KeyboardInput)> {
    let (mut line, mut begun) = (Vec::new(), None);
    let mut chunk = [0; CHUNK];
    loop {
        let mut either = [PollFd::new(leave, PollFlags::IN), PollFd::new(stdin, PollFlags::IN)];
        match poll(&mut either, None) {
            Err(Errno::INTR) => continue,
            Err(_) => return None,
            Ok(_) => {}
        }
        if !either[0].revents().is_empty() {
            return None;
        }
        let when = *begun.get_or_insert_with(Instant::now);
        match rustix::io::read(stdin, &mut chunk) {
            Err(Errno::INTR | Errno::AGAIN) => {}
            Ok(count) if count > 0 => {
                line.extend_from_slice(&chunk[..count]);
                if line.ends_with(b"\n") {
                    return Some((when, KeyboardInput::Line(text(&line))));
                }
            }
            Ok(_) | Err(_) if line.is_empty() => return Some((when, KeyboardInput::End)),
            Ok(_) | Err(_) => return Some((when, KeyboardInput::Line(text(&line)))),
        }
    }
}

fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line).trim_end_matches(['\n', '\r']).to_owned()
}
