//! Messages without a meaning here that an agent sends between turns: they wait for a turn that can report them.

use roost_engine::adapter::Draft;
use roost_model::payload::{NoticeLevel, NoticeSource};

use crate::host::notice;

/// How many notices are held; further ones are only counted.
const CAPACITY: usize = 32;

/// A bounded list of notices for the next turn.
#[derive(Debug, Default)]
pub(super) struct NoticeBacklog {
    notices: Vec<Draft>,
    dropped: u64,
}

impl NoticeBacklog {
    /// Adds a notice, or counts it when the list is full.
    pub(super) fn push(&mut self, draft: Draft) {
        if self.notices.len() < CAPACITY { self.notices.push(draft) } else { self.dropped += 1 }
    }

    /// Takes all notices for the turn that begins, followed by one with the number of those that were dropped.
    pub(super) fn drain(&mut self) -> Vec<Draft> {
        let (mut notices, dropped) = (std::mem::take(&mut self.notices), std::mem::take(&mut self.dropped));
        if dropped > 0 {
            let message = format!("{dropped} more messages that Roost does not know came since the last task");
            notices.push(notice(NoticeLevel::Warning, NoticeSource::Protocol, message));
        }
        notices
    }
}

impl Drop for NoticeBacklog {
    /// Logs how many notices no turn has reported.
    fn drop(&mut self) {
        let count = self.notices.len() as u64 + self.dropped;
        if count > 0 {
            tracing::info!(count, "An agent sent messages that Roost does not know after its last task.");
        }
    }
}

#[cfg(test)]
mod tests {
    use roost_engine::adapter::Fact;

    use super::*;

    #[test]
    fn a_flood_between_turns_is_counted_and_not_kept() {
        let mut backlog = NoticeBacklog::default();
        let numbered = |number: usize| notice(NoticeLevel::Warning, NoticeSource::Protocol, number.to_string());
        (0..CAPACITY + 5).for_each(|number| backlog.push(numbered(number)));
        let drained = backlog.drain();
        assert_eq!(drained.len(), CAPACITY + 1);
        let Fact::Notice(last) = &drained[CAPACITY].fact else { panic!("{drained:?}") };
        assert!(last.message.starts_with("5 more"), "{last:?}");
        assert!(backlog.drain().is_empty());
    }
}
