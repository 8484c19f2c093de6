//! The runtime's stderr: drained all the time, its tail kept for error messages.

use std::{collections::VecDeque, sync::Arc};

use parking_lot::Mutex;
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    sync::mpsc,
};

/// How many bytes of stderr are kept; also the longest line handed on in one piece.
pub const STDERR_TAIL: usize = 64 * 1024;

/// The last [`STDERR_TAIL`] bytes a runtime wrote to stderr; clones share them.
///
/// Complete once [`crate::Control::gone`] has returned.
#[derive(Clone, Debug, Default)]
pub struct StderrTail(Arc<Mutex<VecDeque<u8>>>);

impl StderrTail {
    /// The tail as text; invalid UTF-8 becomes replacement characters.
    pub fn text(&self) -> String {
        let mut tail = self.0.lock();
        String::from_utf8_lossy(tail.make_contiguous()).into_owned()
    }

    fn push(&self, bytes: &[u8]) {
        let mut tail = self.0.lock();
        tail.extend(bytes);
        let excess = tail.len().saturating_sub(STDERR_TAIL);
        tail.drain(..excess);
    }

    /// Reads to the end of the pipe; lines that `lines` has no room for are only in the tail.
    pub(crate) async fn drain(self, mut pipe: impl AsyncRead + Unpin, lines: Option<mpsc::Sender<String>>) {
        let mut chunk = Vec::with_capacity(8 * 1024);
        let mut line = Vec::new();
        while pipe.read_buf(&mut chunk).await.is_ok_and(|read| read > 0) {
            self.push(&chunk);
            if let Some(lines) = &lines {
                for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
                    line.extend_from_slice(piece);
                    if piece.ends_with(b"\n") || line.len() >= STDERR_TAIL {
                        hand_on(lines, &mut line);
                    }
                }
            }
            chunk.clear();
        }
        if let Some(lines) = lines.filter(|_| !line.is_empty()) {
            hand_on(&lines, &mut line);
        }
    }
}

fn hand_on(lines: &mpsc::Sender<String>, line: &mut Vec<u8>) {
    let text = String::from_utf8_lossy(line);
    // Waiting here would block the runtime, whose stderr nobody may be interested in.
    let _ = lines.try_send(text.trim_end_matches(['\r', '\n']).to_owned());
    line.clear();
}
