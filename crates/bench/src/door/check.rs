//! What a watcher checks in its frames: that no event is missing, and how long each took.

use memchr::memmem;
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

/// Bytes at the end of a batch in which a task's end is looked for.
const TAIL: usize = 16 << 10;

/// Looks at the frames of one watcher.
pub(crate) trait Check {
    /// The call with which a watcher of this session begins.
    fn call(session: &str) -> (&'static str, Value);

    /// Handles a frame that was read at this time and adds the delays of its events, in microseconds.
    fn frame(&mut self, text: &[u8], now: u64, delays: &mut Vec<u32>);

    /// True once everything that the check waits for has come.
    fn is_done(&self) -> bool;

    /// Events that were skipped so far.
    fn lost(&self) -> u64;
}

/// The machine's monotonic clock in nanoseconds.
pub(crate) fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Watches a session in the log's own form, from its first event.
pub(crate) struct NormalizedCheck {
    next: u64,
    lost: u64,
    /// Ends of tasks that will come.
    ends: usize,
}

impl NormalizedCheck {
    /// Waits for the end of so many tasks.
    pub(crate) fn until(ends: usize) -> Self {
        Self { next: 1, lost: 0, ends }
    }
}

impl Check for NormalizedCheck {
    fn call(session: &str) -> (&'static str, Value) {
        ("events/subscribe", json!({ "format": "normalized", "sessions": [session], "after": "beginning" }))
    }

    fn frame(&mut self, text: &[u8], now: u64, delays: &mut Vec<u32>) {
        const SEQ: &[u8] = b"\"seq\":";
        for at in memmem::find_iter(text, SEQ) {
            if let Some((seq, _)) = number(&text[at + SEQ.len()..]) {
                self.lost += seq.abs_diff(self.next);
                self.next = seq + 1;
            }
        }
        const DRIP: &[u8] = b"\"delta\":\"drip ";
        for at in memmem::find_iter(text, DRIP) {
            delays.extend(drip(&text[at + DRIP.len()..]).map(|(_, sent)| micros(now, sent)));
        }
        // The end of a task is among the last events of its batch, and batches of a flood are long.
        let tail = &text[text.len().saturating_sub(TAIL)..];
        let ends = memmem::find_iter(tail, b"\"type\":\"task.completed\"").count();
        self.ends = self.ends.saturating_sub(ends);
    }

    fn is_done(&self) -> bool {
        self.ends == 0
    }

    fn lost(&self) -> u64 {
        self.lost
    }
}

/// Watches a drip in the form of the cdev protocol: each piece comes as a message and as a line of output.
pub(crate) struct CdevCheck {
    pieces: u64,
    next_message: u64,
    next_line: u64,
    lost: u64,
}

impl CdevCheck {
    /// Waits for so many pieces.
    pub(crate) fn until(pieces: u64) -> Self {
        Self { pieces, next_message: 0, next_line: 0, lost: 0 }
    }
}

impl Check for CdevCheck {
    fn call(session: &str) -> (&'static str, Value) {
        ("session/watch", json!({ "session_id": session }))
    }

    fn frame(&mut self, text: &[u8], now: u64, delays: &mut Vec<u32>) {
        const DRIP: &[u8] = b"\"text\":\"drip ";
        let next = match text {
            _ if text.starts_with(br#"{"jsonrpc":"2.0","method":"event/claude_message""#) => &mut self.next_message,
            _ if text.starts_with(br#"{"jsonrpc":"2.0","method":"event/claude_log""#) => &mut self.next_line,
            _ => return,
        };
        let piece = memmem::find(text, DRIP).and_then(|at| drip(&text[at + DRIP.len()..]));
        if let Some((number, sent)) = piece {
            self.lost += number.abs_diff(*next);
            *next = number + 1;
            delays.push(micros(now, sent));
        }
    }

    fn is_done(&self) -> bool {
        self.next_message == self.pieces && self.next_line == self.pieces
    }

    fn lost(&self) -> u64 {
        self.lost
    }
}

pub(crate) fn micros(now: u64, sent: u64) -> u32 {
    u32::try_from(now.saturating_sub(sent) / 1000).unwrap_or(u32::MAX)
}

/// The number and the time of a piece, after its first word: `17 at 123456 ns`.
pub(crate) fn drip(text: &[u8]) -> Option<(u64, u64)> {
    let (piece, rest) = number(text)?;
    let (sent, rest) = number(rest.strip_prefix(b" at ")?)?;
    rest.starts_with(b" ns").then_some((piece, sent))
}

/// The number that a text begins with, and the rest.
fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = text.split_at_checked(digits)?;
    Some((str::from_utf8(number).ok()?.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_event_is_seen() {
        let mut check = NormalizedCheck::until(1);
        let mut delays = vec![];
        check.frame(br#"{"params":{"events":[{"seq":1,"type":"task.started"},{"seq":2}]}}"#, 0, &mut delays);
        assert_eq!((check.lost(), check.is_done()), (0, false));
        check.frame(br#"{"params":{"events":[{"seq":5,"type":"task.completed"}]}}"#, 0, &mut delays);
        assert_eq!((check.lost(), check.is_done()), (2, true));
    }

    #[test]
    fn the_delay_of_a_piece_is_known_in_both_forms() {
        let mut delays = vec![];
        let batch = br#"{"events":[{"seq":1,"payload":{"delta":"drip 0 at 1000000 ns\n"}}]}"#;
        NormalizedCheck::until(1).frame(batch, 3_000_000, &mut delays);
        let mut check = CdevCheck::until(1);
        for event in ["message", "log"] {
            let note = format!(
                r#"{{"jsonrpc":"2.0","method":"event/claude_{event}","params":{{"text":"drip 0 at 1000000 ns\n"}}}}"#
            );
            assert!(!check.is_done());
            check.frame(note.as_bytes(), 3_000_000, &mut delays);
        }
        assert_eq!((delays, check.is_done(), check.lost()), (vec![2000, 2000, 2000], true, 0));
    }
}
