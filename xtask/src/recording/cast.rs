//! Recordings in version 2 of asciinema's format: a header, then one line of JSON for each piece of output.

use std::fmt::Write;
use std::time::Duration;

use serde_json::json;

/// The size of the recorded terminal.
pub(super) const COLUMNS: u16 = 80;
pub(super) const ROWS: u16 = 24;

/// Everything that a program showed, and when.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Cast {
    /// Pieces of output with the time since the start, in order.
    pub(super) outputs: Vec<(Duration, String)>,
    /// The beginning of a character whose other bytes come with the next chunk.
    partial: Vec<u8>,
}

impl Cast {
    /// Adds output; of a character that is cut in two, the first half waits for the second.
    pub(super) fn push(&mut self, at: Duration, chunk: &[u8]) {
        self.partial.extend(chunk);
        let whole = match std::str::from_utf8(&self.partial) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let bytes: Vec<u8> = self.partial.drain(..whole).collect();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        // Milliseconds are as exact as the file is.
        let at = Duration::from_millis(u64::try_from(at.as_millis()).unwrap_or(u64::MAX));
        if !text.is_empty() {
            self.outputs.push((at, text));
        }
    }

    /// The cast as the text of its file.
    pub(super) fn to_text(&self) -> String {
        let header = json!({
            "version": 2, "width": COLUMNS, "height": ROWS, "title": "roost demo", "env": { "TERM": "xterm-256color" },
        });
        let mut text = format!("{header}\n");
        for (at, output) in &self.outputs {
            // Writing to a text cannot fail.
            let _ = writeln!(text, "{}", json!([at.as_millis() as f64 / 1000.0, "o", output]));
        }
        text
    }

    /// Reads a file; what is not output is left out.
    #[cfg(test)]
    pub(super) fn from_text(text: &str) -> crate::Result<Self> {
        let mut cast = Self::default();
        for line in text.lines().skip(1) {
            let line: serde_json::Value = serde_json::from_str(line).map_err(|error| format!("{line}: {error}"))?;
            if let (Some(seconds), Some("o"), Some(output)) = (line[0].as_f64(), line[1].as_str(), line[2].as_str()) {
                cast.push(Duration::from_millis((seconds * 1000.0).round() as u64), output.as_bytes());
            }
        }
        Ok(cast)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cast_is_read_as_it_was_written() {
        let mut cast = Cast::default();
        cast.push(Duration::from_millis(1), b"$ roost\r\n");
        cast.push(Duration::from_millis(1234), "\u{1b}[1m→\u{1b}[m".as_bytes());
        let text = cast.to_text();
        assert_eq!(text.lines().nth(2), Some(r#"[1.234,"o","\u001b[1m→\u001b[m"]"#));
        assert_eq!(Cast::from_text(&text), Ok(cast));
    }

    #[test]
    fn a_character_that_is_cut_in_two_is_put_together() {
        let mut cast = Cast::default();
        let (first, second) = "→".as_bytes().split_at(1);
        cast.push(Duration::ZERO, first);
        cast.push(Duration::from_millis(5), second);
        assert_eq!(cast.outputs, [(Duration::from_millis(5), "→".into())]);
    }
}
