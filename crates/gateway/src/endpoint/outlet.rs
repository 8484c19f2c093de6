//! The way to a client for what is said before a request is answered, or outside of any request.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc};

/// Events of a stream that are kept for a client that comes back. Beyond it the oldest are forgotten: only progress and
/// log lines are ever that many, and the answer is the last.
const MAX_EVENTS: usize = 256;
/// Bytes of events that are kept, unless a single event has more.
const MAX_BYTES: usize = 8 << 20;

/// The way to a client.
#[derive(Clone)]
pub enum Outlet {
    /// A connection that takes messages in their order; a full queue makes the sender wait.
    Queue(mpsc::Sender<Arc<str>>),
    /// A stream that a client can leave and come back to.
    Stream(Arc<ReplayBuffer>),
}

impl Outlet {
    /// Sends a message; if the client is gone, it is lost.
    pub(crate) async fn send(&self, message: Arc<str>) {
        match self {
            Self::Queue(queue) => {
                let _ = queue.send(message).await;
            }
            Self::Stream(stream) => stream.push(message),
        }
    }
}

/// Numbered messages that a legacy client can read again from any of them on.
#[derive(Default)]
pub struct ReplayBuffer {
    state: Mutex<StreamState>,
    changed: Notify,
}

/// How a stream begins.
pub enum StreamBeginning {
    /// It has ended with this one message.
    Only(Arc<str>),
    /// It has ended without a message.
    Empty,
    /// There are more messages, or more may come.
    More,
}

#[derive(Default)]
struct StreamState {
    events: VecDeque<(u64, Arc<str>)>,
    bytes: usize,
    last: u64,
    /// The last message that some reader got.
    read: u64,
    is_closed: bool,
}

impl StreamState {
    fn push(&mut self, message: Arc<str>) {
        self.last += 1;
        self.bytes += message.len();
        self.events.push_back((self.last, message));
        while self.events.len() > MAX_EVENTS || self.bytes > MAX_BYTES && self.events.len() > 1 {
            if let Some((_, oldest)) = self.events.pop_front() {
                self.bytes -= oldest.len();
            }
        }
    }
}

impl ReplayBuffer {
    /// Adds a message.
    pub fn push(&self, message: Arc<str>) {
        self.state.lock().push(message);
        self.changed.notify_waiters();
    }

    /// Ends the stream with its last message, at once: no reader sees the one without the other.
    pub fn end(&self, last: Option<Arc<str>>) {
        let mut state = self.state.lock();
        if let Some(last) = last {
            state.push(last);
        }
        state.is_closed = true;
        drop(state);
        self.changed.notify_waiters();
    }

    /// The first message after this number, waiting for it; `None` at the end.
    pub async fn after(&self, number: u64) -> Option<(u64, Arc<str>)> {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            {
                let mut state = self.state.lock();
                if let Some(event) = state.events.iter().find(|(at, _)| *at > number).cloned() {
                    state.read = state.read.max(event.0);
                    return Some(event);
                }
                if state.is_closed {
                    return None;
                }
            }
            changed.await;
        }
    }

    /// The last message of the stream, once it has ended.
    pub async fn last(&self) -> Option<Arc<str>> {
        let mut last = None;
        let mut number = 0;
        while let Some((at, message)) = self.after(number).await {
            (number, last) = (at, Some(message));
        }
        last
    }

    /// How the stream begins, as far as it is known.
    pub fn beginning(&self) -> StreamBeginning {
        let state = self.state.lock();
        match state.events.front() {
            Some((_, message)) if state.is_closed && state.last == 1 => StreamBeginning::Only(message.clone()),
            None if state.is_closed => StreamBeginning::Empty,
            _ => StreamBeginning::More,
        }
    }

    /// The number of the last message that some reader got; what is after it is new to everybody.
    pub fn last_read(&self) -> u64 {
        self.state.lock().read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_reader_comes_back_to_where_it_was_and_the_last_message_is_never_lost() {
        let stream = ReplayBuffer::default();
        for n in 1..=MAX_EVENTS + 10 {
            stream.push(format!("{n}").into());
        }
        stream.end(None);
        assert_eq!(stream.after(200).await.unwrap(), (201, "201".into()));
        assert_eq!(stream.after(0).await.unwrap().0, 11, "the oldest are forgotten");
        let last = MAX_EVENTS as u64 + 10;
        assert_eq!(stream.after(last - 1).await.unwrap().1.as_ref(), format!("{last}"));
        assert!(stream.after(last).await.is_none());
    }

    #[tokio::test]
    async fn a_reader_waits_for_the_next_message() {
        let stream = Arc::new(ReplayBuffer::default());
        let reading = tokio::spawn({
            let stream = stream.clone();
            async move { stream.after(0).await }
        });
        tokio::task::yield_now().await;
        stream.push("a".into());
        assert_eq!(reading.await.unwrap(), Some((1, "a".into())));
    }
}
