//! The newest blocks in memory, shared by all followers.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::RwLock;

use crate::block::Block;
use crate::cursor::BlockId;

/// The newest blocks without a gap, up to a number of bytes.
pub(crate) struct Ring {
    max_bytes: usize,
    blocks: RwLock<Blocks>,
}

#[derive(Default)]
struct Blocks {
    bytes: usize,
    queue: VecDeque<Arc<Block>>,
}

impl Ring {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, blocks: RwLock::default() }
    }

    /// Adds blocks that follow those already there.
    pub(crate) fn push(&self, new: Vec<Arc<Block>>) {
        let mut evicted = Vec::new();
        let mut blocks = self.blocks.write();
        for block in new {
            blocks.bytes += block.memory();
            blocks.queue.push_back(block);
        }
        while blocks.bytes > self.max_bytes {
            let Some(block) = blocks.queue.pop_front() else { break };
            blocks.bytes -= block.memory();
            evicted.push(block);
        }
        // Freeing hundreds of events takes long enough to be done without the lock.
        drop(blocks);
        drop(evicted);
    }

    /// At most `limit` blocks, beginning with `first`; `None` if that one is not in the ring.
    pub(crate) fn blocks_from(&self, first: BlockId, limit: usize) -> Option<Vec<Arc<Block>>> {
        let blocks = self.blocks.read();
        let skip = usize::try_from(first - blocks.queue.front()?.id()).ok()?;
        let found: Vec<_> = blocks.queue.iter().skip(skip).take(limit).cloned().collect();
        (!found.is_empty()).then_some(found)
    }
}
