//! Splits arriving bytes into lines.

use std::collections::VecDeque;

/// The longest line, in bytes; a longer one is dropped completely.
const MAX_LINE_BYTES: usize = 1 << 20;

/// Complete lines that were not taken yet, and the beginning of the next.
#[derive(Debug, Default)]
pub(super) struct LineBuffer {
    lines: VecDeque<Vec<u8>>,
    partial: Vec<u8>,
    /// The line that is arriving is too long; its bytes are dropped until it ends.
    too_long: bool,
}

impl LineBuffer {
    /// Adds bytes as they arrive; they may end in the middle of a line.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let mut pieces = bytes.split(|byte| *byte == b'\n').peekable();
        while let Some(piece) = pieces.next() {
            self.too_long |= self.partial.len() + piece.len() > MAX_LINE_BYTES;
            if self.too_long {
                self.partial.clear();
            } else {
                self.partial.extend_from_slice(piece);
            }
            if pieces.peek().is_some() {
                let line = std::mem::take(&mut self.partial);
                if !std::mem::take(&mut self.too_long) {
                    self.lines.push_back(line);
                }
            }
        }
    }

    /// Takes the next complete line, without its line feed.
    pub(super) fn next(&mut self) -> Option<Vec<u8>> {
        self.lines.pop_front()
    }

    /// Drops the beginning of a line whose end will not come.
    pub(super) fn discard_partial(&mut self) {
        self.partial.clear();
        self.too_long = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut buffer = LineBuffer::default();
        pieces.iter().for_each(|piece| buffer.push(piece));
        std::iter::from_fn(|| buffer.next()).collect()
    }

    #[test]
    fn a_line_is_there_when_its_end_is() {
        assert_eq!(lines(&[b"one"]), Vec::<Vec<u8>>::new());
        assert_eq!(lines(&[b"o", b"ne\ntw", b"o\n\nthr"]), [b"one".to_vec(), b"two".to_vec(), b"".to_vec()]);
    }

    #[test]
    fn a_line_that_is_too_long_is_dropped_and_the_next_is_not() {
        let long = vec![b'x'; MAX_LINE_BYTES];
        assert_eq!(lines(&[&long, b"x", b"\nshort\n"]), [b"short".to_vec()]);
    }
}
