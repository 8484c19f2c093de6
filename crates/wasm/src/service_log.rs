//! What a service prints: lines with a bound, so that a chatty module fills no memory and no disk.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use roost_model::time::Timestamp;

/// A longer line is cut.
pub const MAX_LINE_BYTES: usize = 8 * 1024;
/// The lines that a service keeps.
pub const MAX_LINES: usize = 2_000;
/// The lines that one call may write; the rest is counted and left out.
pub const MAX_LINES_PER_CALL: usize = 500;

/// How important a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevel {
    /// What a module prints.
    Info,
    /// What a module warns of or writes to its stderr, and what the host noticed about it.
    Warn,
}

/// One line of a service's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// When it was written.
    pub time: Timestamp,
    /// How important it is.
    pub level: LogLevel,
    /// The line, without its end.
    pub text: String,
}

/// Takes the lines of a service. It must not block.
pub trait LogSink: Send + Sync + 'static {
    /// Takes a line of at most [`MAX_LINE_BYTES`].
    fn write(&self, line: LogLine);
}

/// A log in memory: the newest [`MAX_LINES`] lines.
#[derive(Debug, Default)]
pub struct ServiceLog(Mutex<VecDeque<LogLine>>);

impl ServiceLog {
    /// The newest lines, oldest first.
    pub fn tail(&self, limit: usize) -> Vec<LogLine> {
        let lines = self.0.lock();
        lines.iter().skip(lines.len().saturating_sub(limit)).cloned().collect()
    }
}

impl LogSink for ServiceLog {
    fn write(&self, line: LogLine) {
        let mut lines = self.0.lock();
        if lines.len() == MAX_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }
}

/// What one call writes: text is cut into lines, and lines are counted.
#[derive(Clone)]
pub(crate) struct CallLog(Arc<Mutex<CallLogState>>);

struct CallLogState {
    sink: Arc<dyn LogSink>,
    written: usize,
    /// Text without a line end yet, of stdout and of stderr.
    partial: [String; 2],
}

impl CallLog {
    pub(crate) fn new(sink: Arc<dyn LogSink>) -> Self {
        Self(Arc::new(Mutex::new(CallLogState { sink, written: 0, partial: [String::new(), String::new()] })))
    }

    /// Writes whole lines.
    pub(crate) fn print(&self, level: LogLevel, text: &str) {
        let mut state = self.0.lock();
        text.lines().for_each(|line| state.write(level, line));
    }

    /// Writes text that may end in the middle of a line.
    pub(crate) fn stream(&self, level: LogLevel, text: &str) {
        let mut state = self.0.lock();
        let mut buffered = std::mem::take(&mut state.partial[level as usize]);
        buffered.push_str(text);
        let mut start = 0;
        while let Some(len) = buffered[start..].find('\n') {
            state.write(level, buffered[start..start + len].trim_end_matches('\r'));
            start += len + 1;
        }
        // Once: taking each line from the front would move all the others for it.
        buffered.drain(..start);
        if buffered.len() > MAX_LINE_BYTES {
            state.write(level, &buffered);
            buffered.clear();
        }
        state.partial[level as usize] = buffered;
    }

    /// Writes what is left, and says how many lines were left out.
    pub(crate) fn finish(&self) {
        let mut state = self.0.lock();
        for level in [LogLevel::Info, LogLevel::Warn] {
            let rest = std::mem::take(&mut state.partial[level as usize]);
            if !rest.is_empty() {
                state.write(level, &rest);
            }
        }
        let dropped = state.written.saturating_sub(MAX_LINES_PER_CALL);
        if dropped > 0 {
            let text = format!("{dropped} more lines of this call were left out");
            state.sink.write(LogLine { time: Timestamp::now(), level: LogLevel::Warn, text });
        }
    }
}

impl CallLogState {
    fn write(&mut self, level: LogLevel, line: &str) {
        self.written += 1;
        if self.written > MAX_LINES_PER_CALL {
            return;
        }
        let end = line.floor_char_boundary(MAX_LINE_BYTES);
        self.sink.write(LogLine { time: Timestamp::now(), level, text: line[..end].to_owned() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(log: &ServiceLog) -> Vec<String> {
        log.tail(MAX_LINES).into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn streamed_text_becomes_lines() {
        let log = Arc::new(ServiceLog::default());
        let call = CallLog::new(log.clone());
        for piece in ["a", "b\nc", "\r\n", "d"] {
            call.stream(LogLevel::Info, piece);
        }
        call.finish();
        assert_eq!(texts(&log), ["ab", "c", "d"]);
    }

    #[test]
    fn a_flood_of_streamed_lines_costs_no_more_than_its_length() {
        let log = Arc::new(ServiceLog::default());
        let call = CallLog::new(log.clone());
        // Hours, if each line cost as much as all that follow it.
        let lines = 16 << 20;
        call.stream(LogLevel::Info, &"\n".repeat(lines));
        call.finish();
        let dropped = lines - MAX_LINES_PER_CALL;
        assert_eq!(texts(&log).last().unwrap(), &format!("{dropped} more lines of this call were left out"));
    }

    #[test]
    fn a_call_writes_a_bounded_number_of_lines_of_a_bounded_size() {
        let log = Arc::new(ServiceLog::default());
        let call = CallLog::new(log.clone());
        call.print(LogLevel::Info, &"ä".repeat(MAX_LINE_BYTES));
        for _ in 0..MAX_LINES_PER_CALL + 6 {
            call.print(LogLevel::Info, "x");
        }
        call.finish();
        let lines = texts(&log);
        assert_eq!(lines[0].len(), MAX_LINE_BYTES);
        assert_eq!(lines.len(), MAX_LINES_PER_CALL + 1);
        assert_eq!(lines[MAX_LINES_PER_CALL], "7 more lines of this call were left out");
    }

    #[test]
    fn a_service_keeps_the_newest_lines() {
        let log = ServiceLog::default();
        for number in 0..MAX_LINES + 3 {
            log.write(LogLine { time: Timestamp::from_millis(0), level: LogLevel::Info, text: number.to_string() });
        }
        assert_eq!(log.tail(2).into_iter().map(|line| line.text).collect::<Vec<_>>(), ["2001", "2002"]);
        assert_eq!(log.tail(usize::MAX).len(), MAX_LINES);
    }
}
