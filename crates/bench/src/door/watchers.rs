//! Many watchers in one thread, as cheap as they can be: one read for what has gathered, and no JSON is parsed.

use std::io::{ErrorKind, Read};
use std::time::{Duration, Instant};

use memchr::memmem;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

use super::check::{self, Check};
use super::client::DoorClient;
use super::ws_frame::{self, FrameKind};
use crate::Outcome;

/// Bytes that are read at once.
const READ: usize = 256 << 10;
/// After this much silence nothing more is expected.
const QUIET: Duration = Duration::from_millis(300);
/// What the answer to a call begins with.
const ANSWER: &[u8] = br#"{"jsonrpc":"2.0","id":"#;
/// Sockets that one poll reports at most.
const EVENTS: usize = 1024;

/// Watchers that read whenever there is something.
pub(crate) struct Watchers<C> {
    poll: Poll,
    events: Events,
    buffer: Vec<u8>,
    all: Vec<Watcher<C>>,
    /// Watchers whose subscription was confirmed.
    watching: usize,
    /// Watchers that have received everything they wait for.
    done: usize,
    /// The delay of every event to every watcher, in microseconds.
    pub(crate) delays: Vec<u32>,
}

struct Watcher<C> {
    stream: TcpStream,
    /// The beginning of a frame whose end has not come yet.
    rest: Vec<u8>,
    check: C,
}

impl<C: Check> Watchers<C> {
    /// No watchers yet; [`Watchers::add`] adds them.
    pub(crate) fn new() -> Outcome<Self> {
        let (poll, events) = (Poll::new()?, Events::with_capacity(EVENTS));
        Ok(Self { poll, events, buffer: vec![0; 2 * READ], all: Vec::new(), watching: 0, done: 0, delays: Vec::new() })
    }

    /// Adds a watcher and sends its subscription; the confirmation is read later.
    pub(crate) fn add(&mut self, mut client: DoorClient, session: &str, check: C) -> Outcome {
        let (method, params) = C::call(session);
        client.send(method, params)?;
        let (stream, rest) = client.into_parts();
        stream.set_nonblocking(true)?;
        let mut stream = TcpStream::from_std(stream);
        self.poll.registry().register(&mut stream, Token(self.all.len()), Interest::READABLE)?;
        self.all.push(Watcher { stream, rest, check });
        // Watchers that were added before may get events by now.
        self.read(Duration::ZERO).map(drop)
    }

    /// Reads what the sockets have; waits for it at most this long. False if nothing came.
    pub(crate) fn read(&mut self, wait: Duration) -> Outcome<bool> {
        match self.poll.poll(&mut self.events, Some(wait)) {
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(true),
            other => other?,
        }
        for event in &self.events {
            let Watcher { stream, rest, check } = &mut self.all[event.token().0];
            loop {
                let kept = rest.len();
                if self.buffer.len() < kept + READ {
                    self.buffer.resize(kept + READ, 0);
                }
                self.buffer[..kept].copy_from_slice(rest);
                let read = match stream.read(&mut self.buffer[kept..]) {
                    Ok(0) => return Err("the daemon hung up on a watcher".into()),
                    Ok(read) => read,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error.into()),
                };
                let room = self.buffer.len() - kept;
                let bytes = &self.buffer[..kept + read];
                let was_done = check.is_done();
                let (taken, answers) = take(bytes, check, &mut self.delays)?;
                self.watching += answers;
                self.done += usize::from(check.is_done() && !was_done);
                rest.clear();
                rest.extend_from_slice(&bytes[taken..]);
                // The poll tells of what comes after a read that did not fill its room.
                if read < room {
                    break;
                }
            }
        }
        Ok(!self.events.is_empty())
    }

    /// Reads until every subscription is confirmed and nothing has come for [`QUIET`].
    pub(crate) fn settle(&mut self) -> Outcome {
        while self.read(QUIET)? || self.watching < self.all.len() {}
        Ok(())
    }

    /// Reads until every watcher is done, or for this long. Returns the time it took.
    pub(crate) fn finish(&mut self, limit: Duration) -> Outcome<Duration> {
        let start = Instant::now();
        while start.elapsed() < limit && self.done < self.all.len() {
            self.read(limit.saturating_sub(start.elapsed()))?;
        }
        Ok(start.elapsed())
    }

    /// The events that watchers missed, in all, and how many watchers are not done.
    pub(crate) fn lost(&self) -> (u64, usize) {
        let lost = self.all.iter().map(|watcher| watcher.check.lost()).sum();
        (lost, self.all.len() - self.done)
    }
}

/// Handles all complete frames. Returns the bytes that they took and the number of responses among them.
fn take(bytes: &[u8], check: &mut impl Check, delays: &mut Vec<u32>) -> Outcome<(usize, usize)> {
    let (mut taken, mut answers, now) = (0, 0, check::now());
    while let Some(frame) = ws_frame::first(&bytes[taken..]) {
        match frame.kind {
            FrameKind::Text if frame.payload.starts_with(ANSWER) => {
                if memmem::find(frame.payload, b"\"error\":").is_some() {
                    let why = String::from_utf8_lossy(frame.payload);
                    return Err(format!("the daemon refused a watcher: {why}").into());
                }
                answers += 1;
            }
            FrameKind::Text => check.frame(frame.payload, now, delays),
            FrameKind::Close => {
                let why = String::from_utf8_lossy(frame.payload.get(2..).unwrap_or_default());
                return Err(format!("the daemon closed a watcher's socket: {why}").into());
            }
            FrameKind::Other => {}
        }
        taken += frame.size;
    }
    Ok((taken, answers))
}
