//! What a service said beside the protocol, and what happened to it: a bounded log in memory, one per service.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use roost_model::time::Timestamp;
use tokio::sync::watch;

use crate::upstream::{self, LogSource};

/// The lines that are kept; older ones are dropped.
const MAX_LINES: usize = 2000;
/// A longer line is cut.
const MAX_LINE_BYTES: usize = 4096;

/// The log of one service; clones share it.
#[derive(Clone, Debug)]
pub struct ServiceLog(Arc<LogState>);

#[derive(Debug)]
struct LogState {
    lines: Mutex<VecDeque<String>>,
    /// How many lines were ever written. Changed after the line is there.
    written: watch::Sender<u64>,
    /// What was last being done to start the service.
    progress: watch::Sender<String>,
}

/// Some lines of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLines {
    /// The lines as `[time] text`, the oldest first.
    pub lines: Vec<String>,
    /// The number of the last line that was ever written, to go on after it.
    pub last: u64,
}

impl Default for ServiceLog {
    fn default() -> Self {
        Self(Arc::new(LogState {
            lines: Mutex::default(),
            written: watch::Sender::new(0),
            progress: watch::Sender::default(),
        }))
    }
}

impl ServiceLog {
    /// Writes one line; line breaks in it become blanks.
    pub fn write(&self, text: &str) {
        let mut end = text.len().min(MAX_LINE_BYTES);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let text: String = text[..end].chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }).collect();
        let line = format!("[{}] {}", Timestamp::now(), text.trim_end());
        let mut lines = self.0.lines.lock();
        if lines.len() == MAX_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
        self.0.written.send_modify(|written| *written += 1);
    }

    /// The last lines, at most `limit`, and only those after the line of this number.
    pub fn read(&self, after: u64, limit: usize) -> LogLines {
        let lines = self.0.lines.lock();
        let last = *self.0.written.borrow();
        let newer = usize::try_from(last.saturating_sub(after)).unwrap_or(usize::MAX);
        let count = lines.len().min(limit).min(newer);
        LogLines { lines: lines.iter().skip(lines.len() - count).cloned().collect(), last }
    }

    /// Follows what is being done to start the service.
    pub(super) fn follow_progress(&self) -> watch::Receiver<String> {
        self.0.progress.subscribe()
    }

    /// Returns when there is a line after this one.
    pub async fn wait_after(&self, after: u64) {
        // The sender lives as long as this log.
        let _ = self.0.written.subscribe().wait_for(|written| *written > after).await;
    }
}

impl upstream::ServiceLog for ServiceLog {
    fn line(&self, source: LogSource, text: &str) {
        match source {
            LogSource::Stderr | LogSource::Module | LogSource::Gateway => self.write(text),
            LogSource::Stdout => self.write(&format!("stdout: {text}")),
        }
    }

    fn progress(&self, text: &str) {
        self.write(text);
        self.0.progress.send_replace(text.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_lines_are_kept_and_each_is_one_line() {
        let log = ServiceLog::default();
        (0..MAX_LINES + 5).for_each(|n| log.write(&format!("line\n{n}\n")));
        let read = log.read(0, usize::MAX);
        assert_eq!((read.lines.len(), read.last), (MAX_LINES, 2005));
        assert!(read.lines[0].ends_with("] line 5"), "{}", read.lines[0]);
        assert_eq!(log.read(2003, 10).lines.len(), 2);
        assert_eq!(log.read(0, 3).lines.len(), 3);
        log.write(&"ü".repeat(MAX_LINE_BYTES));
        assert!(log.read(2005, 1).lines[0].len() < MAX_LINE_BYTES + 40);
    }

    #[tokio::test]
    async fn a_reader_waits_for_the_next_line() {
        let log = ServiceLog::default();
        log.write("first");
        let reader = tokio::spawn({
            let log = log.clone();
            async move {
                log.wait_after(1).await;
                log.read(1, 10).lines
            }
        });
        tokio::task::yield_now().await;
        log.write("second");
        assert_eq!(reader.await.unwrap().len(), 1);
    }
}
