//! The output of one tool call: the first lines are shown, the rest is kept to be opened.

use super::Show;
use super::tools::first_line;
use crate::style::Style;

/// Lines of output shown of one call.
const SHOWN_LINES: usize = 5;
/// Bytes of hidden output that are kept of one call; `roost log --full` has all of it.
const MAX_HIDDEN: usize = 1 << 20;

/// The output of one call, of which the first lines were shown.
#[derive(Default)]
pub(super) struct FoldedOutput {
    lines: usize,
    /// Output after the last line end.
    rest: String,
    hidden: Vec<String>,
    hidden_bytes: usize,
    /// Hidden lines that were too many to keep.
    dropped: usize,
    /// Somebody wants to see all of it, so further lines are not hidden.
    is_open: bool,
}

impl FoldedOutput {
    /// True if there was no output at all.
    pub(super) fn is_empty(&self) -> bool {
        self.lines == 0 && self.rest.is_empty()
    }

    /// True if lines are hidden.
    pub(super) fn is_folded(&self) -> bool {
        !self.hidden.is_empty()
    }

    /// Adds a piece of output; returns the lines that became whole with it and are shown.
    pub(super) fn add(&mut self, style: Style, show: Show, piece: &str) -> String {
        self.rest.push_str(piece);
        let Some(end) = self.rest.rfind('\n') else { return String::new() };
        let rest = self.rest.split_off(end + 1);
        let whole = std::mem::replace(&mut self.rest, rest);
        whole.lines().map(|line| self.line(style, show, line)).collect()
    }

    /// Ends the output: shows a last line without an end, and says how many lines are hidden.
    pub(super) fn end(&mut self, style: Style, show: Show) -> String {
        let rest = std::mem::take(&mut self.rest);
        let mut text = if rest.is_empty() { String::new() } else { self.line(style, show, &rest) };
        let more = match self.hidden.len() + self.dropped {
            0 => return text,
            1 => "… 1 more line".to_owned(),
            more => format!("… {more} more lines"),
        };
        let how = show.unfold.map(|how| format!(" ({how})")).unwrap_or_default();
        text.push_str(&format!("  {}\n", style.dim(more + &how)));
        text
    }

    /// Shows the hidden lines, and from now on every line.
    pub(super) fn unfold(&mut self, style: Style) -> String {
        self.is_open = true;
        let mut text: String = self.hidden.drain(..).map(|line| shown(style, &line)).collect();
        self.hidden_bytes = 0;
        if std::mem::take(&mut self.dropped) > 0 {
            text.push_str(&format!("  {}\n", style.dim("… and more; `roost log --full` shows all of it")));
        }
        text
    }

    fn line(&mut self, style: Style, show: Show, line: &str) -> String {
        self.lines += 1;
        if self.lines <= SHOWN_LINES || self.is_open || show.full {
            let line = if show.full { crate::screen::visible(line).into_owned() } else { first_line(line) };
            return format!("  {}\n", style.dim(format!("│ {line}")));
        }
        self.hidden_bytes += line.len();
        match self.hidden_bytes {
            ..=MAX_HIDDEN => self.hidden.push(line.to_owned()),
            _ => self.dropped += 1,
        }
        String::new()
    }
}

fn shown(style: Style, line: &str) -> String {
    format!("  {}\n", style.dim(format!("│ {}", crate::screen::visible(line))))
}
