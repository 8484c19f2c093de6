//! Blocks of consecutive events of one stream, and views of the events in them.

use std::fmt;
use std::sync::{Arc, OnceLock};

use roost_model::event::NormalizedEvent;

use crate::cursor::{BlockId, Cursor};
use crate::error::{Error, Result};
use crate::filter::{Filter, TypeMask};
use crate::stream::{Seq, StreamId};

/// The most events in one block.
pub(crate) const MAX_EVENTS: usize = 256;
/// Bytes after which a block takes no more events.
const FULL_BYTES: usize = 256 << 10;

/// Consecutive events of one stream, with their NDJSON as stored.
pub(crate) struct Block {
    id: BlockId,
    stream: StreamId,
    first_seq: Seq,
    types: TypeMask,
    text: String,
    /// The end of each line in `text`, without its newline.
    ends: Vec<u32>,
    events: Events,
}

enum Events {
    /// A block that was just written still has its events.
    Written(Vec<NormalizedEvent>),
    /// A block from the store is parsed when an event is first asked for.
    Stored(OnceLock<Vec<Result<NormalizedEvent, Arc<str>>>>),
}

impl Block {
    /// A block that was read from the store.
    pub(crate) fn stored(id: BlockId, stream: StreamId, first_seq: Seq, types: TypeMask, text: String) -> Self {
        let ends = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at as u32).collect();
        Self { id, stream, first_seq, types, text, ends, events: Events::Stored(OnceLock::new()) }
    }

    pub(crate) fn id(&self) -> BlockId {
        self.id
    }

    pub(crate) fn stream(&self) -> &StreamId {
        &self.stream
    }

    pub(crate) fn first_seq(&self) -> Seq {
        self.first_seq
    }

    pub(crate) fn last_seq(&self) -> Seq {
        (self.first_seq + self.ends.len() as Seq).saturating_sub(1)
    }

    pub(crate) fn types(&self) -> TypeMask {
        self.types
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn size(&self) -> BlockSize {
        BlockSize { events: self.len(), bytes: self.text.len() }
    }

    /// Roughly the bytes of memory it takes. Texts count twice, because they are there as JSON and as values.
    pub(crate) fn memory(&self) -> usize {
        self.text.len() * 2 + self.len() * size_of::<NormalizedEvent>()
    }

    pub(crate) fn json(&self, index: usize) -> &str {
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize + 1 };
        &self.text[start..self.ends[index] as usize]
    }

    /// Whether the filter wants this event. One that cannot be parsed counts as wanted, so that its reader gets an error
    /// and not a gap.
    fn is_wanted(&self, index: usize, filter: &Filter) -> bool {
        filter.wants_whole(self)
            || self.event(index).map_or(true, |event| filter.types.intersects(TypeMask::from_body(&event.body)))
    }

    pub(crate) fn event(&self, index: usize) -> Result<&NormalizedEvent> {
        match &self.events {
            Events::Written(events) => Ok(&events[index]),
            Events::Stored(parsed) => parsed.get_or_init(|| self.parse())[index].as_ref().map_err(|reason| {
                let (stream, seq) = (self.stream.clone(), self.first_seq + index as Seq);
                Error::Unreadable { stream, seq, reason: reason.clone() }
            }),
        }
    }

    fn parse(&self) -> Vec<Result<NormalizedEvent, Arc<str>>> {
        let parse = |line| serde_json::from_str(line).map_err(|error: serde_json::Error| error.to_string().into());
        (0..self.len()).map(|index| parse(self.json(index))).collect()
    }
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Block({} of {}: {}..={})", self.id, self.stream, self.first_seq, self.last_seq())
    }
}

/// The size of a block, or the size that the next one is expected to have.
#[derive(Clone, Copy, Default)]
pub(crate) struct BlockSize {
    events: usize,
    bytes: usize,
}

/// A block that still takes events.
pub(crate) struct BlockBuilder {
    stream: StreamId,
    first_seq: Seq,
    types: TypeMask,
    text: Vec<u8>,
    ends: Vec<u32>,
    events: Vec<NormalizedEvent>,
}

impl BlockBuilder {
    /// An empty block that allocates the expected size at once.
    pub(crate) fn new(stream: StreamId, first_seq: Seq, expected: BlockSize) -> Self {
        Self {
            stream,
            first_seq,
            types: TypeMask::default(),
            text: Vec::with_capacity(expected.bytes),
            ends: Vec::with_capacity(expected.events),
            events: Vec::with_capacity(expected.events),
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.ends.len() == MAX_EVENTS || self.text.len() >= FULL_BYTES
    }

    pub(crate) fn push(&mut self, event: NormalizedEvent) -> serde_json::Result<()> {
        serde_json::to_writer(&mut self.text, &event)?;
        self.ends.push(self.text.len() as u32);
        self.text.push(b'\n');
        self.types.add(TypeMask::from_body(&event.body));
        self.events.push(event);
        Ok(())
    }

    pub(crate) fn seal(self, id: BlockId) -> Block {
        let Self { stream, first_seq, types, text, ends, events } = self;
        // serde_json writes UTF-8 only, so nothing is ever replaced here.
        let text = String::from_utf8(text).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into());
        Block { id, stream, first_seq, types, text, ends, events: Events::Written(events) }
    }
}

/// One event in a block.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    block: &'a Block,
    index: usize,
}

impl<'a> Entry<'a> {
    /// The event itself; parsed on first use where it comes from the store.
    pub fn event(self) -> Result<&'a NormalizedEvent> {
        self.block.event(self.index)
    }

    /// The event as one line of JSON, exactly as stored.
    pub fn json(self) -> &'a str {
        self.block.json(self.index)
    }

    /// The event's number in its stream.
    pub fn seq(self) -> Seq {
        self.block.first_seq + self.index as Seq
    }

    /// The stream that it was appended to.
    pub fn stream(self) -> &'a StreamId {
        &self.block.stream
    }

    /// The position after this event, from which a follower can resume.
    pub fn cursor(self) -> Cursor {
        Cursor::new(self.block.id, self.seq())
    }
}

/// Some events in log order, shared with everyone who reads them.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    slices: Vec<BlockSlice>,
}

/// The selected events of one block.
#[derive(Clone, Debug)]
struct BlockSlice {
    block: Arc<Block>,
    picks: Picks,
}

/// Whether all wanted events of a block went into a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prepended {
    /// There was room for all.
    All,
    /// The first ones were left out.
    Some,
}

impl Prepended {
    pub(crate) fn is_cut(self) -> bool {
        self == Self::Some
    }
}

#[derive(Clone, Debug)]
enum Picks {
    Range(std::ops::Range<usize>),
    Some(Vec<usize>),
}

impl Batch {
    /// Adds the events of a block that come after the cursor and pass the filter.
    pub(crate) fn add(&mut self, block: &Arc<Block>, after: Cursor, filter: &Filter) {
        if !filter.wants_block(block) {
            return;
        }
        let seen = after.seq_in(block.id).saturating_sub(block.first_seq - 1) as usize;
        let rest = seen.min(block.len())..block.len();
        let picks = if filter.wants_whole(block) {
            Picks::Range(rest)
        } else {
            Picks::Some(rest.filter(|index| block.is_wanted(*index, filter)).collect())
        };
        self.push(block, picks);
    }

    /// Puts the last events of a block that come before `before` and pass the filter in front of the others, at most
    /// `limit` of them.
    pub(crate) fn prepend(&mut self, block: &Arc<Block>, before: Seq, filter: &Filter, limit: usize) -> Prepended {
        let end = before.saturating_sub(block.first_seq).min(block.len() as Seq) as usize;
        let mut picks: Vec<_> = (0..end).filter(|index| block.is_wanted(*index, filter)).collect();
        let extra = picks.len().saturating_sub(limit);
        picks.drain(..extra);
        if !picks.is_empty() {
            self.slices.insert(0, BlockSlice { block: block.clone(), picks: Picks::Some(picks) });
        }
        if extra == 0 { Prepended::All } else { Prepended::Some }
    }

    /// Adds the events of a block from `after` on, at most `limit` of them.
    pub(crate) fn add_range(&mut self, block: &Arc<Block>, after: Seq, limit: usize) {
        let start = (after + 1).saturating_sub(block.first_seq) as usize;
        self.push(block, Picks::Range(start..block.len().min(start + limit)));
    }

    fn push(&mut self, block: &Arc<Block>, picks: Picks) {
        let slice = BlockSlice { block: block.clone(), picks };
        if slice.len() > 0 {
            self.slices.push(slice);
        }
    }

    /// How many events it holds.
    pub fn len(&self) -> usize {
        self.slices.iter().map(BlockSlice::len).sum()
    }

    /// Whether there are no events; a follower never returns such a batch.
    pub fn is_empty(&self) -> bool {
        self.slices.is_empty()
    }

    /// The events in order.
    pub fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        self.slices.iter().flat_map(|BlockSlice { block, picks }| {
            let (range, some) = match picks {
                Picks::Range(range) => (range.clone(), &[][..]),
                Picks::Some(some) => (0..0, &some[..]),
            };
            range.chain(some.iter().copied()).map(move |index| Entry { block, index })
        })
    }
}

impl BlockSlice {
    fn len(&self) -> usize {
        match &self.picks {
            Picks::Range(range) => range.len(),
            Picks::Some(some) => some.len(),
        }
    }
}

impl<'a> IntoIterator for &'a Batch {
    type Item = Entry<'a>;
    type IntoIter = Box<dyn Iterator<Item = Entry<'a>> + Send + 'a>;

    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.iter())
    }
}
