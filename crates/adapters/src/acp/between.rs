//! What an agent says between turns that means nothing to us: kept until a turn can tell it.

use roost_engine::adapter::{Draft, Fact};
use roost_model::payload::{NoticeLevel, NoticeSource, RuntimeNoticePayload};

/// How many are kept as they came; of more only the number is.
const KEPT: usize = 32;

/// Messages without a turn.
#[derive(Debug, Default)]
pub(super) struct Between {
    kept: Vec<Draft>,
    more: u64,
}

impl Between {
    /// Keeps a message for the next turn.
    pub(super) fn keep(&mut self, draft: Draft) {
        if self.kept.len() < KEPT { self.kept.push(draft) } else { self.more += 1 }
    }

    /// Everything that was kept, for the turn that begins.
    pub(super) fn take(&mut self) -> Vec<Draft> {
        let (mut kept, more) = (std::mem::take(&mut self.kept), std::mem::take(&mut self.more));
        if more > 0 {
            let message = format!("{more} more messages that Roost does not know came since the last task");
            let (level, source) = (NoticeLevel::Warning, NoticeSource::Protocol);
            kept.push(Fact::Notice(RuntimeNoticePayload { level, source, message }).into());
        }
        kept
    }
}

impl Drop for Between {
    /// No turn will tell them any more.
    fn drop(&mut self) {
        let count = self.kept.len() as u64 + self.more;
        if count > 0 {
            tracing::info!(count, "An agent sent messages that Roost does not know after its last task.");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_between_turns_is_counted_and_not_kept() {
        let mut between = Between::default();
        let notice = |message: String| RuntimeNoticePayload {
            level: NoticeLevel::Warning,
            source: NoticeSource::Protocol,
            message,
        };
        (0..KEPT + 5).for_each(|number| between.keep(Fact::Notice(notice(number.to_string())).into()));
        let told = between.take();
        assert_eq!(told.len(), KEPT + 1);
        let Fact::Notice(last) = &told[KEPT].fact else { panic!("{told:?}") };
        assert!(last.message.starts_with("5 more"), "{last:?}");
        assert!(between.take().is_empty());
    }
}
