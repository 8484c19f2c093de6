//! Notices: what people should know about a runtime besides its output, such as its stderr or unreadable messages.

use roost_engine::adapter::{Draft, Fact};
use roost_model::payload::{NoticeLevel, NoticeSource, RuntimeNoticePayload};

/// A notice without a raw message; for one with, set [`Draft::raw`].
pub(crate) fn notice(level: NoticeLevel, source: NoticeSource, message: impl Into<String>) -> Draft {
    Fact::Notice(RuntimeNoticePayload { level, source, message: message.into() }).into()
}

/// The warning about a line of stdout that was longer than the limit and was dropped, so that a part of the
/// conversation is missing.
pub(crate) fn skipped_line(bytes: u64) -> Draft {
    let message = format!("a line of {bytes} bytes was skipped; the longest allowed has 64 MiB");
    notice(NoticeLevel::Warning, NoticeSource::Stdout, message)
}
