//! Bytes that have arrived, cut into lines.

use std::collections::VecDeque;

/// The longest line that is kept; a longer one is dropped whole.
const LONGEST: usize = 1 << 20;

/// Complete lines that wait, and the beginning of the next.
#[derive(Debug, Default)]
pub(super) struct Pending {
    lines: VecDeque<Vec<u8>>,
    rest: Vec<u8>,
    /// The line that arrives is too long.
    too_long: bool,
}

impl Pending {
    /// Takes what arrived.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let mut pieces = bytes.split(|byte| *byte == b'\n').peekable();
        while let Some(piece) = pieces.next() {
            self.too_long |= self.rest.len() + piece.len() > LONGEST;
            if self.too_long {
                self.rest.clear();
            } else {
                self.rest.extend_from_slice(piece);
            }
            if pieces.peek().is_some() {
                let line = std::mem::take(&mut self.rest);
                if !std::mem::take(&mut self.too_long) {
                    self.lines.push_back(line);
                }
            }
        }
    }

    /// The next complete line.
    pub(super) fn next(&mut self) -> Option<Vec<u8>> {
        self.lines.pop_front()
    }

    /// Whoever wrote the beginning of a line will not write its end.
    pub(super) fn forget_rest(&mut self) {
        self.rest.clear();
        self.too_long = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut pending = Pending::default();
        pieces.iter().for_each(|piece| pending.push(piece));
        std::iter::from_fn(|| pending.next()).collect()
    }

    #[test]
    fn a_line_is_there_when_its_end_is() {
        assert_eq!(lines(&[b"one"]), Vec::<Vec<u8>>::new());
        assert_eq!(lines(&[b"o", b"ne\ntw", b"o\n\nthr"]), [b"one".to_vec(), b"two".to_vec(), b"".to_vec()]);
    }

    #[test]
    fn a_line_that_is_too_long_is_dropped_and_the_next_is_not() {
        let long = vec![b'x'; LONGEST];
        assert_eq!(lines(&[&long, b"x", b"\nshort\n"]), [b"short".to_vec()]);
    }
}
