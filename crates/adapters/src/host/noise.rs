//! Lines that a runtime prints beside its protocol, recorded as notices.

use roost_engine::adapter::Draft;
use roost_model::payload::{NoticeLevel, NoticeSource};
use roost_process::Batch;

use super::{Outbox, Task, notice};

/// A line that is not protocol, as an informational notice.
pub(crate) fn noise(source: NoticeSource, message: impl Into<String>) -> Draft {
    notice(NoticeLevel::Info, source, message)
}

impl<T: AsRef<Task>> Outbox<T> {
    /// Records lines of stdout, for a runtime that speaks its protocol elsewhere.
    pub(crate) fn stdout_noise(&mut self, lines: Batch<'_>) {
        lines.for_each(|line| self.notice(noise(NoticeSource::Stdout, line.text())));
    }

    /// Records a line of stderr.
    pub(crate) fn stderr_noise(&mut self, line: String) {
        self.notice(noise(NoticeSource::Stderr, line));
    }
}
