//! The text that an agent writes: answers and thoughts, piece by piece.

use std::io::{self, Write};
use std::sync::Arc;

use super::ConversationSink;
use super::markdown::{Format, MarkdownStream};
use crate::screen::{self, visible, visible_after};
use crate::style::Style;
use crate::wrap::wrapped;

/// Stands before every line of a thought, so that it is told apart from an answer without colours too.
const THOUGHT: &str = "┊ ";

/// Stands before the further lines of a remark.
const REMARK_INDENT: &str = "  ";

/// Bytes of Markdown that are laid out at once.
const MAX_PENDING: usize = 64 << 10;

/// The form of an agent's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextForm {
    /// As the agent wrote it.
    Source,
    /// Markdown laid out for the terminal, of whose columns so many are used for something else.
    Terminal { margin: usize },
}

impl TextForm {
    /// A remark behind a sign, whose further lines stand under the first; at a terminal it wraps at words.
    pub(super) fn prose(self, text: &str) -> String {
        let text = visible(text);
        match self {
            Self::Source => text.replace('\n', &format!("\n{REMARK_INDENT}")),
            Self::Terminal { margin } => {
                let width = width(margin + REMARK_INDENT.len());
                let lines: Vec<_> = text.split('\n').flat_map(|line| wrapped(line, width)).collect();
                lines.join(&format!("\n{REMARK_INDENT}"))
            }
        }
    }
}

/// Columns of the terminal, without so many of them.
fn width(margin: usize) -> usize {
    screen::columns().unwrap_or(usize::MAX).saturating_sub(margin)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextKind {
    Answer,
    Thought,
}

/// A block of text that is being written.
pub(super) struct OpenText {
    kind: TextKind,
    block: Arc<str>,
    style: Style,
    /// `None` where the text is shown as it is.
    markdown: Option<MarkdownStream>,
    /// Markdown that is not laid out yet: pieces that come at once are laid out at once.
    pending: String,
    /// The last character so far: the next piece may hold the other half of an emoji.
    last: Option<char>,
    is_line_open: bool,
    /// Something else was written after a piece, so that the next one begins on a new line.
    is_interrupted: bool,
}

impl OpenText {
    pub(super) fn new(kind: TextKind, block: Arc<str>, style: Style, form: TextForm) -> Self {
        let markdown = match form {
            TextForm::Source => None,
            TextForm::Terminal { margin } => {
                let prefix = if kind == TextKind::Thought { THOUGHT } else { "" };
                Some(MarkdownStream::new(Format { style, width: width(margin), prefix }))
            }
        };
        Self {
            kind,
            block,
            style,
            markdown,
            pending: String::new(),
            last: None,
            is_line_open: false,
            is_interrupted: false,
        }
    }

    /// True if a piece of this block belongs to this text.
    pub(super) fn is(&self, kind: TextKind, block: &str) -> bool {
        self.kind == kind && *self.block == *block
    }

    /// True if the cursor stands behind this text.
    pub(super) fn is_line_open(&self) -> bool {
        self.is_line_open
    }

    /// Adds a piece. Markdown is written by the next [`OpenText::settle`].
    pub(super) fn push(&mut self, out: &mut impl ConversationSink, piece: &str) -> io::Result<()> {
        let before = self.last;
        self.last = piece.chars().next_back().or(before);
        let piece = visible_after(piece, before);
        match (&self.markdown, self.kind) {
            (Some(_), _) => {
                self.pending.push_str(&piece);
                if self.pending.len() > MAX_PENDING { self.settle(out) } else { Ok(()) }
            }
            (None, TextKind::Answer) => self.write(out, &piece),
            (None, TextKind::Thought) => self.write(out, &self.thought(&piece)),
        }
    }

    /// Writes what can be shown of the pieces so far.
    pub(super) fn settle(&mut self, out: &mut impl ConversationSink) -> io::Result<()> {
        let pieces = std::mem::take(&mut self.pending);
        match &mut self.markdown {
            Some(markdown) if !pieces.is_empty() => {
                let text = markdown.push(&pieces);
                self.write(out, &text)
            }
            _ => Ok(()),
        }
    }

    /// Ends the line, because something else is to be written; the text goes on after it. An answer with a stream of its
    /// own is not touched.
    pub(super) fn interrupt(&mut self, out: &mut impl ConversationSink) -> io::Result<()> {
        self.settle(out)?;
        let is_alone = self.kind == TextKind::Answer && out.is_apart();
        match self.is_line_open && !is_alone {
            true => {
                self.is_interrupted = true;
                self.end_line(out)
            }
            false => Ok(()),
        }
    }

    /// Writes what was held back, and ends the line.
    pub(super) fn finish(mut self, out: &mut impl ConversationSink) -> io::Result<()> {
        self.settle(out)?;
        let rest = self.markdown.as_mut().map(MarkdownStream::finish).unwrap_or_default();
        self.write(out, &rest)?;
        match self.is_line_open {
            true => self.end_line(out),
            false => Ok(()),
        }
    }

    /// A piece of a thought that is no Markdown.
    fn thought(&self, piece: &str) -> String {
        let mut is_line_open = self.is_line_open;
        let mut text = String::new();
        for line in piece.split_inclusive('\n') {
            text.push_str(if is_line_open { "" } else { THOUGHT });
            text.push_str(line);
            is_line_open = !line.ends_with('\n');
        }
        self.style.dim(text).to_string()
    }

    fn write(&mut self, out: &mut impl ConversationSink, text: &str) -> io::Result<()> {
        let text = match self.is_interrupted && self.markdown.is_some() {
            true => text.strip_prefix([' ', '\n']).unwrap_or(text),
            false => text,
        };
        if text.is_empty() {
            return Ok(());
        }
        self.is_interrupted = false;
        self.stream(out)?.write_all(text.as_bytes())?;
        // Behind the last line end there may be the end of a colour.
        self.is_line_open = !text.trim_end_matches("\x1b[0m").ends_with('\n');
        Ok(())
    }

    fn end_line(&mut self, out: &mut impl ConversationSink) -> io::Result<()> {
        self.is_line_open = false;
        self.stream(out)?.write_all(b"\n")
    }

    fn stream<'a>(&self, out: &'a mut impl ConversationSink) -> io::Result<&'a mut dyn Write> {
        match self.kind {
            TextKind::Answer => out.answer(),
            TextKind::Thought => out.notes(),
        }
    }
}

/// The whole of a text, in lines.
pub(super) fn whole(kind: TextKind, style: Style, form: TextForm, text: &str) -> String {
    let mut lines = Vec::new();
    let mut open = OpenText::new(kind, "".into(), style, form);
    // Writing to memory cannot fail.
    let _ = open.push(&mut lines, text.trim_end()).and_then(|()| open.finish(&mut lines));
    String::from_utf8_lossy(&lines).into_owned()
}
