//! The left margin of `roost log`: the time and the number of each event.

use std::io::{self, Write};

use jiff::tz::TimeZone;
use roost_log::Seq;
use roost_model::time::Timestamp;

use crate::render::ConversationSink;
use crate::style::Style;

/// Columns of the margin: a time, a number of up to five digits and the spaces behind them.
pub(crate) const MARGIN: usize = 16;

/// Writes times and numbers before the lines of events.
pub(crate) struct Gutter {
    style: Style,
    zone: TimeZone,
    /// The day of the last event, which is shown where a new one begins.
    day: Option<String>,
    /// What stands before the next line.
    stamp: Option<String>,
    is_line_open: bool,
}

impl Gutter {
    /// Times are those of the place where the command runs.
    pub(crate) fn new(style: Style, zone: TimeZone) -> Self {
        Self { style, zone, day: None, stamp: None, is_line_open: false }
    }

    /// The next line that begins is this event's.
    pub(crate) fn begin(&mut self, seq: Seq, time: Timestamp) {
        let time = jiff::Timestamp::from_millisecond(time.as_millis()).unwrap_or_default().to_zoned(self.zone.clone());
        let day = time.strftime("%Y-%m-%d").to_string();
        let is_new = self.day.as_ref() != Some(&day);
        let heading = if is_new { format!("{}\n", self.style.dim(&day)) } else { String::new() };
        let stamp = format!("{} {:<6} ", time.strftime("%H:%M:%S"), format!("#{seq}"));
        self.stamp = Some(format!("{heading}{}", self.style.dim(stamp)));
        self.day = Some(day);
    }

    /// The text with the margin before each line that begins in it.
    fn stamped(&mut self, text: &str) -> String {
        let mut stamped = String::with_capacity(text.len() + MARGIN);
        for line in text.split_inclusive('\n') {
            if !self.is_line_open && line != "\n" {
                stamped.push_str(&self.stamp.take().unwrap_or_else(|| " ".repeat(MARGIN)));
            }
            stamped.push_str(line);
            self.is_line_open = !line.ends_with('\n');
        }
        stamped
    }

    /// A stream that has this margin.
    pub(crate) fn of<'a, W: Write>(&'a mut self, out: &'a mut W) -> StampedOutput<'a, W> {
        StampedOutput { gutter: self, out }
    }
}

/// A stream whose lines have a margin.
pub(crate) struct StampedOutput<'a, W> {
    gutter: &'a mut Gutter,
    out: &'a mut W,
}

impl<W: Write> Write for StampedOutput<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = self.gutter.stamped(&String::from_utf8_lossy(bytes));
        self.out.write_all(text.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write> ConversationSink for StampedOutput<'_, W> {
    fn answer(&mut self) -> io::Result<&mut dyn Write> {
        Ok(self)
    }

    fn notes(&mut self) -> io::Result<&mut dyn Write> {
        Ok(self)
    }

    fn is_apart(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_its_time_and_number_once_and_a_new_day_is_told() {
        let mut gutter = Gutter::new(Style::PLAIN, TimeZone::UTC);
        let mut shown = String::new();
        let day = 86_400_000;
        for (seq, time, text) in [(1, 0, "one\n\ntwo"), (2, 1000, " goes on\n"), (3, 2000, ""), (41, day, "three\n")] {
            gutter.begin(seq, Timestamp::from_millis(time));
            shown.push_str(&gutter.stamped(text));
        }
        let expected =
            "1970-01-01\n00:00:00 #1     one\n\n                two goes on\n1970-01-02\n00:00:00 #41    three\n";
        assert_eq!(shown, expected);
    }
}
