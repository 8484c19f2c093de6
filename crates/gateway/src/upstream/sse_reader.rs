//! Reads a stream of server-sent events, of which none may be too long.

use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use futures::{Stream, StreamExt};
use memchr::memchr2;

/// The longest pause that a server may ask for before a reconnection.
const MAX_RETRY: Duration = Duration::from_secs(60);

/// One event with data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    /// Its kind; empty for a message.
    pub(super) name: String,
    /// Its data, lines joined.
    pub(super) data: Vec<u8>,
}

/// Why a stream cannot be read on.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum StreamError {
    /// An event is longer than this.
    TooLong,
    /// The connection broke.
    Broken(String),
}

/// The events of a response.
pub(super) struct SseReader<S> {
    chunks: S,
    max_event: usize,
    unread: BytesMut,
    /// The bytes at the start of `unread` that have no line end.
    scanned: usize,
    event: Event,
    has_data: bool,
    /// The id of the last event, by which a stream can be resumed.
    pub(super) last_id: Option<String>,
    /// How long to wait before a reconnection, if the server said so.
    pub(super) retry: Option<Duration>,
}

impl<S, E> SseReader<S>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
    E: std::fmt::Display,
{
    /// Reads events of up to `max_event` bytes.
    pub(super) fn new(chunks: S, max_event: usize) -> Self {
        Self {
            chunks,
            max_event,
            unread: BytesMut::new(),
            scanned: 0,
            event: Event::default(),
            has_data: false,
            last_id: None,
            retry: None,
        }
    }

    /// The next event with data; `None` at the end of the stream. Cancel safe.
    pub(super) async fn next(&mut self) -> Result<Option<Event>, StreamError> {
        loop {
            while let Some(line) = self.take_line() {
                if let Some(event) = self.on_line(&line) {
                    return Ok(Some(event));
                }
            }
            if self.unread.len() + self.event.data.len() > self.max_event {
                return Err(StreamError::TooLong);
            }
            match self.chunks.next().await {
                None => return Ok(None),
                Some(Ok(chunk)) => self.unread.extend_from_slice(&chunk),
                Some(Err(error)) => return Err(StreamError::Broken(error.to_string())),
            }
        }
    }

    /// The next complete line without its end, which is `\n`, `\r\n` or `\r`.
    fn take_line(&mut self) -> Option<BytesMut> {
        let Some(end) = memchr2(b'\n', b'\r', &self.unread[self.scanned..]).map(|at| self.scanned + at) else {
            self.scanned = self.unread.len();
            return None;
        };
        let width = match (self.unread[end], self.unread.get(end + 1)) {
            // Whether a line feed follows is not known yet.
            (b'\r', None) => {
                self.scanned = end;
                return None;
            }
            (b'\r', Some(b'\n')) => 2,
            _ => 1,
        };
        let line = self.unread.split_to(end);
        self.unread.advance(width);
        self.scanned = 0;
        Some(line)
    }

    /// Takes one line; an empty one completes an event.
    fn on_line(&mut self, line: &[u8]) -> Option<Event> {
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return std::mem::take(&mut self.has_data).then_some(event);
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push(b'\n');
                }
                self.event.data.extend_from_slice(value);
            }
            b"event" => self.event.name = String::from_utf8_lossy(value).into_owned(),
            b"id" if !value.contains(&0) => self.last_id = Some(String::from_utf8_lossy(value).into_owned()),
            b"retry" => {
                let millis = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
                self.retry = millis.map(|millis| Duration::from_millis(millis).min(MAX_RETRY)).or(self.retry);
            }
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures::stream;
    use proptest::prelude::*;

    use super::*;

    async fn read(
        chunks: Vec<Bytes>,
        max_event: usize,
    ) -> (Vec<(String, String)>, Option<String>, Option<Duration>, bool) {
        let chunks = stream::iter(chunks.into_iter().map(Ok::<_, Infallible>));
        let mut events = SseReader::new(chunks, max_event);
        let mut seen = Vec::new();
        let complete = loop {
            match events.next().await {
                Ok(Some(event)) => seen.push((event.name, String::from_utf8(event.data).unwrap())),
                Ok(None) => break true,
                Err(_) => break false,
            }
        };
        (seen, events.last_id, events.retry, complete)
    }

    const TEXT: &str = ": hello\r\nid: 7\r\nretry: 250\r\ndata:\r\n\r\nevent: endpoint\ndata: /a\n\ndata: {\"a\":\ndata: 1}\r\rdata: cut off";

    proptest! {
        #[test]
        fn events_do_not_depend_on_how_the_bytes_arrive(cuts in proptest::collection::vec(0..TEXT.len(), 0..20)) {
            let mut cuts = [vec![0, TEXT.len()], cuts].concat();
            cuts.sort_unstable();
            let chunks = cuts.windows(2).map(|cut| Bytes::copy_from_slice(&TEXT.as_bytes()[cut[0]..cut[1]])).collect();
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let (events, id, retry, complete) = runtime.block_on(read(chunks, 1000));
            let expected = [("", ""), ("endpoint", "/a"), ("", "{\"a\":\n1}")].map(|(a, b)| (a.to_owned(), b.to_owned()));
            prop_assert_eq!(events, expected);
            prop_assert_eq!((id.as_deref(), retry, complete), (Some("7"), Some(Duration::from_millis(250)), true));
        }
    }

    #[tokio::test]
    async fn an_event_that_is_too_long_ends_the_stream() {
        let line = Bytes::from_static(b"data: aaaaaaaaaa\n");
        let (events, _, _, complete) = read(vec![Bytes::from_static(b"data: a\n\n"), line.clone(), line], 18).await;
        assert_eq!((events.len(), complete), (1, false));
    }
}
