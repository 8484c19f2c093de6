//! Reads the runtime's stdout in batches of lines: one system call serves hundreds of them.

use std::borrow::Cow;

use memchr::{memchr, memrchr};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    net::unix::pipe::Receiver,
};

use crate::Error;

/// The longest line that is delivered; a longer one is skipped and reported.
pub const MAX_LINE: usize = 64 * 1024 * 1024;

/// How much is read at once: the size of the pipe (see `holder::PIPE_SIZE`).
const CHUNK: usize = 256 * 1024;

/// How much of the start and of the end of an over-long line is kept, so that a reader can tell what it was.
const EDGE: usize = 256;

/// Reads lines in batches, only when asked: if the reader is behind, the writer blocks and no memory grows.
#[derive(Debug)]
pub struct Lines<R = Receiver> {
    reader: R,
    max_line: usize,
    buffer: Vec<u8>,
    /// How many bytes at the start of the buffer were delivered by the last batch.
    delivered: usize,
    /// Up to here the rest of the buffer holds no newline.
    scanned: usize,
    /// How many bytes of an over-long line were discarded so far.
    skipping: Option<u64>,
    /// The first bytes of the over-long line that is or was skipped last.
    start: Vec<u8>,
    ended: bool,
}

/// One line without its line end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// The bytes of the line, not necessarily UTF-8.
    Bytes(&'a [u8]),
    /// A line longer than the limit was skipped.
    TooLong {
        /// Its length without the newline.
        bytes: u64,
        /// Its first bytes.
        start: &'a [u8],
        /// Its last bytes.
        end: &'a [u8],
    },
}

impl<'a> Line<'a> {
    /// The line as text; invalid UTF-8 becomes replacement characters, a skipped line is empty.
    pub fn text(self) -> Cow<'a, str> {
        match self {
            Self::Bytes(bytes) => String::from_utf8_lossy(bytes),
            Self::TooLong { .. } => Cow::Borrowed(""),
        }
    }
}

/// The lines of one batch, in order, borrowed from the reader's buffer.
#[derive(Clone, Debug)]
pub struct Batch<'a> {
    max_line: usize,
    /// How many bytes of the first line were discarded, if it is too long.
    skipped: Option<u64>,
    /// The first bytes of that line.
    start: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Iterator for Batch<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        if self.rest.is_empty() && self.skipped.is_none() {
            return None;
        }
        let end = memchr(b'\n', self.rest).unwrap_or(self.rest.len());
        let raw = &self.rest[..end];
        let line = raw.strip_suffix(b"\r").unwrap_or(raw);
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
        Some(match self.skipped.take() {
            None if line.len() <= self.max_line => Line::Bytes(line),
            skipped => Line::TooLong {
                bytes: skipped.unwrap_or(0) + raw.len() as u64,
                start: if skipped.is_some() { self.start } else { &raw[..raw.len().min(EDGE)] },
                end: &raw[raw.len().saturating_sub(EDGE)..],
            },
        })
    }
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Reads lines of up to [`MAX_LINE`] bytes.
    pub fn new(reader: R) -> Self {
        Self::with_max_line(reader, MAX_LINE)
    }

    /// Reads lines of up to `max_line` bytes.
    pub fn with_max_line(reader: R, max_line: usize) -> Self {
        let (buffer, start) = (Vec::new(), Vec::new());
        Self { reader, max_line, buffer, delivered: 0, scanned: 0, skipping: None, start, ended: false }
    }

    /// The same lines with another limit. Nothing may have been read yet.
    pub fn limited_to(self, max_line: usize) -> Self {
        Self { max_line, ..self }
    }

    /// All complete lines that are there, waiting for the first; `None` at the end of the stream.
    ///
    /// Cancel safe: a dropped call loses nothing.
    pub async fn next_batch(&mut self) -> Result<Option<Batch<'_>>, Error> {
        self.forget_delivered();
        while !self.ended {
            self.buffer.reserve(CHUNK);
            let read = self.reader.read_buf(&mut self.buffer).await.map_err(Error::Read)?;
            self.ended = read == 0;
            if let Some(last) = memrchr(b'\n', &self.buffer[self.scanned..]) {
                return Ok(Some(self.deliver(self.scanned + last + 1)));
            }
            self.scanned = self.buffer.len();
            // One more byte than allowed, as the last one may be the `\r` of a line end.
            if self.skipping.is_some() || self.buffer.len() > self.max_line + 1 {
                if self.skipping.is_none() {
                    self.start = self.buffer[..self.buffer.len().min(EDGE)].to_vec();
                }
                let skipped = self.buffer.len().saturating_sub(EDGE);
                *self.skipping.get_or_insert(0) += skipped as u64;
                self.buffer.drain(..skipped);
                self.scanned = self.buffer.len();
            }
        }
        let unfinished = !self.buffer.is_empty() || self.skipping.is_some();
        Ok(if unfinished { Some(self.deliver(self.buffer.len())) } else { None })
    }

    fn deliver(&mut self, end: usize) -> Batch<'_> {
        self.delivered = end;
        let (skipped, start, rest) = (self.skipping.take(), self.start.as_slice(), &self.buffer[..end]);
        Batch { max_line: self.max_line, skipped, start, rest }
    }

    fn forget_delivered(&mut self) {
        if self.delivered == 0 {
            return;
        }
        if self.buffer.capacity() > 4 * CHUNK && self.buffer.len() - self.delivered < CHUNK {
            // A giant line has passed; do not keep its memory for the rest of the session.
            self.buffer = self.buffer[self.delivered..].to_vec();
        } else {
            self.buffer.drain(..self.delivered);
        }
        self.delivered = 0;
        self.scanned = self.buffer.len();
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        pin::Pin,
        task::{Context, Poll},
    };

    use proptest::prelude::*;
    use tokio::io::ReadBuf;

    use super::*;

    /// Gives its bytes in pieces of the given sizes.
    struct Pieces {
        bytes: Vec<u8>,
        sizes: Vec<usize>,
    }

    impl AsyncRead for Pieces {
        fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            let size = self.sizes.pop().unwrap_or(usize::MAX).min(self.bytes.len()).min(buf.remaining());
            let piece: Vec<u8> = self.bytes.drain(..size).collect();
            buf.put_slice(&piece);
            Poll::Ready(Ok(()))
        }
    }

    #[derive(Debug, PartialEq, Eq)]
    enum ReadLine {
        Bytes(Vec<u8>),
        TooLong(u64),
    }

    async fn read_all(reader: Pieces, max_line: usize) -> Vec<ReadLine> {
        let mut lines = Lines::with_max_line(reader, max_line);
        let mut seen = Vec::new();
        while let Some(batch) = lines.next_batch().await.unwrap() {
            seen.extend(batch.map(|line| match line {
                Line::Bytes(bytes) => ReadLine::Bytes(bytes.to_vec()),
                Line::TooLong { bytes, .. } => ReadLine::TooLong(bytes),
            }));
        }
        seen
    }

    /// The same by the simplest means.
    fn model(bytes: &[u8], max_line: usize) -> Vec<ReadLine> {
        let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        if lines.last().is_some_and(|last| last.is_empty()) {
            lines.pop();
        }
        let seen = lines.into_iter().map(|raw| {
            let line = raw.strip_suffix(b"\r").unwrap_or(raw);
            if line.len() > max_line { ReadLine::TooLong(raw.len() as u64) } else { ReadLine::Bytes(line.to_vec()) }
        });
        seen.collect()
    }

    #[tokio::test]
    async fn the_ends_of_a_line_that_is_too_long_are_kept() {
        let line = [b"first".as_slice(), &[b'-'; 3000], b"last"].concat();
        let bytes = [line.as_slice(), b"\nnext\n"].concat();
        for sizes in [vec![], vec![7; 500], vec![1000; 4]] {
            let mut lines = Lines::with_max_line(Pieces { bytes: bytes.clone(), sizes }, 100);
            let mut seen = Vec::new();
            while let Some(batch) = lines.next_batch().await.unwrap() {
                for line in batch {
                    if let Line::TooLong { bytes, start, end } = line {
                        assert_eq!((bytes, start.len() <= EDGE, end.len() <= EDGE), (3009, true, true));
                        assert!(start.starts_with(b"first") && end.ends_with(b"last"));
                    }
                    seen.push(line.text().into_owned());
                }
            }
            assert_eq!(seen, ["", "next"]);
        }
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_how_the_bytes_arrive(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'a'), Just(0xff)], 0..200),
            sizes in proptest::collection::vec(1..20_usize, 0..100),
            max_line in 0..12_usize,
        ) {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let seen = runtime.block_on(read_all(Pieces { bytes: bytes.clone(), sizes }, max_line));
            prop_assert_eq!(seen, model(&bytes, max_line));
        }
    }
}
