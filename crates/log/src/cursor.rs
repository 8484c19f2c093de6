//! Positions in the whole log.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;
use crate::stream::{Seq, StreamId};

/// The number of a block, in the order of commits over all streams. Never reused.
pub(crate) type BlockId = i64;

/// A position in the log: right after one event. Clients must treat its text as opaque.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cursor {
    block: BlockId,
    /// The event by its `seq`, and not by its index, so that the cursor stays meaningful when its block is removed.
    seq: Seq,
}

/// Stands for the last event of a block, whatever its number is.
const END: Seq = Seq::MAX;

impl Cursor {
    /// The position before the first event of the log.
    pub(crate) const BEGINNING: Self = Self { block: 0, seq: END };

    pub(crate) fn new(block: BlockId, seq: Seq) -> Self {
        Self { block, seq }
    }

    /// The position before the event that this cursor points behind, so that a follower gets that event again.
    pub fn just_before(self) -> Self {
        Self { seq: self.seq.saturating_sub(1), ..self }
    }

    /// The position after the last event of a block.
    pub(crate) fn end_of(block: BlockId) -> Self {
        Self { block, seq: END }
    }

    /// The first block that can hold events after the cursor.
    pub(crate) fn next_block(self) -> BlockId {
        if self.seq == END { self.block + 1 } else { self.block }
    }

    /// The last event of this block that lies before the cursor; 0 if the cursor is not in this block.
    pub(crate) fn seq_in(self, block: BlockId) -> Seq {
        if self.block == block { self.seq } else { 0 }
    }

    /// Whether a stream lost events after this cursor, if its blocks up to `removed_to` are gone and it now begins at
    /// `resume_at`.
    pub(crate) fn is_behind(self, removed_to: BlockId, resume_at: Seq) -> bool {
        removed_to > self.block || removed_to == self.block && self.seq.saturating_add(1) < resume_at
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.seq {
            END => write!(f, "b{}", self.block),
            seq => write!(f, "b{}.{seq}", self.block),
        }
    }
}

impl FromStr for Cursor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let parse = || {
            let rest = text.strip_prefix('b')?;
            let (block, seq) = match rest.split_once('.') {
                Some((block, seq)) => (block, seq.parse().ok().filter(|seq| *seq != END)?),
                None => (rest, END),
            };
            Some(Self { block: block.parse().ok().filter(|id| (0..BlockId::MAX).contains(id))?, seq })
        };
        parse().ok_or_else(|| Error::BadCursor(text.into()))
    }
}

/// Where a follower starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// At the oldest event that is still stored.
    Beginning,
    /// After the newest event.
    Now,
    /// After this position; [`Error::Truncated`] if retention removed something since.
    After(Cursor),
    /// After this position, without [`Error::Truncated`] for what was removed so far: the caller knows of it.
    Surviving(Cursor),
    /// After this event of a stream; 0 means from its first event on.
    AfterSeq(StreamId, Seq),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_survives_being_text() {
        for cursor in [Cursor::BEGINNING, Cursor::new(12, 345), Cursor::end_of(7)] {
            assert_eq!(cursor.to_string().parse::<Cursor>().unwrap(), cursor);
        }
    }

    #[test]
    fn text_that_is_no_cursor_is_an_error() {
        for text in ["", "b", "12", "b-1", "b1.", "b1.x", "b1.2.3", "b1.18446744073709551615", "b9223372036854775807"] {
            assert!(matches!(text.parse::<Cursor>(), Err(Error::BadCursor(_))), "{text}");
        }
    }

    #[test]
    fn cursors_order_by_block_and_then_by_seq() {
        let ordered = [Cursor::BEGINNING, Cursor::new(1, 5), Cursor::end_of(1), Cursor::new(2, 1), Cursor::new(2, 3)];
        assert!(ordered.is_sorted());
    }
}
