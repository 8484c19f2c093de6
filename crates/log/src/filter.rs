//! Which events a follower wants.

use std::collections::HashSet;

use roost_model::event::{EventBody, NormalizedEventType};

use crate::block::Block;
use crate::stream::StreamId;

/// A set of event types as a bit mask. It is stored with each block, so a type's bit, which is its place in the model's
/// table of types, must never change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TypeMask(pub(crate) u64);

const _: () = assert!(NormalizedEventType::ALL.len() < 62, "the type mask has no bit left");

impl TypeMask {
    pub(crate) const ALL: Self = Self(u64::MAX);
    /// The bit for all types that the writing version did not know.
    pub(crate) const OTHER: Self = Self(1 << 63);
    /// The bit for what clients report of runs. They report far more than everything else that happens, so whoever wants
    /// known types must not have to read it. Blocks of earlier versions have [`Self::OTHER`] for it.
    pub(crate) const REPORTED: Self = Self(1 << 62);

    pub(crate) fn from_body(body: &EventBody) -> Self {
        match body {
            EventBody::Other { name, .. } if name.starts_with("agent.") => Self::REPORTED,
            body => body.event_type().map_or(Self::OTHER, Self::from),
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    pub(crate) fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn is_subset_of(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }
}

impl From<NormalizedEventType> for TypeMask {
    fn from(known: NormalizedEventType) -> Self {
        Self(1 << known as u32)
    }
}

/// Which events a follower wants: of some streams or all, of some types or all.
#[derive(Clone, Debug)]
pub struct Filter {
    /// `None` means the events of all streams.
    pub(crate) streams: Option<HashSet<StreamId>>,
    pub(crate) types: TypeMask,
}

impl Filter {
    /// Every event of every stream.
    pub fn all() -> Self {
        Self { streams: None, types: TypeMask::ALL }
    }

    /// Every event of one stream.
    pub fn stream(stream: StreamId) -> Self {
        Self::streams([stream])
    }

    /// Every event of these streams.
    pub fn streams(streams: impl IntoIterator<Item = StreamId>) -> Self {
        Self { streams: Some(streams.into_iter().collect()), ..Self::all() }
    }

    /// Narrows the filter to events of these types.
    pub fn types(mut self, types: impl IntoIterator<Item = NormalizedEventType>) -> Self {
        self.types = TypeMask::default();
        types.into_iter().for_each(|known| self.types.add(known.into()));
        self
    }

    pub(crate) fn wants_stream(&self, stream: &StreamId) -> bool {
        self.streams.as_ref().is_none_or(|wanted| wanted.contains(stream))
    }

    /// The type bits of blocks that may hold a wanted event. `OTHER` counts too: a type that was unknown when the block
    /// was written may be known by now.
    pub(crate) fn block_types(&self) -> TypeMask {
        TypeMask(self.types.0 | TypeMask::OTHER.0)
    }

    pub(crate) fn wants_block(&self, block: &Block) -> bool {
        self.block_types().intersects(block.types()) && self.wants_stream(block.stream())
    }

    pub(crate) fn wants_whole(&self, block: &Block) -> bool {
        block.types().is_subset_of(self.types)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_of_event_types_are_those_that_are_stored() {
        let names: Vec<_> = NormalizedEventType::ALL.iter().map(|known| known.as_str()).collect();
        let stored = [
            "session.created",
            "task.started",
            "model.input",
            "runtime.request.started",
            "runtime.request.completed",
            "model.output.delta",
            "model.output.completed",
            "tool.call.requested",
            "tool.call.policy_evaluated",
            "tool.call.approved",
            "tool.call.denied",
            "tool.call.started",
            "tool.output.delta",
            "tool.output.completed",
            "tool.call.completed",
            "usage.reported",
            "task.completed",
            "task.failed",
            "task.stopped",
            "session.updated",
            "session.closed",
            "question.asked",
            "question.resolved",
            "plan.updated",
            "runtime.notice",
            "approval.requested",
            "approval.resolved",
            "workspace.added",
            "workspace.updated",
            "workspace.removed",
            "device.paired",
            "device.revoked",
        ];
        assert_eq!(names[..stored.len()], stored, "new types go to the end of the table");
        assert_eq!(TypeMask::from(NormalizedEventType::RuntimeNotice).0, 1 << 24);
    }
}
