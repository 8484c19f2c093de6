//! Markdown that arrives in pieces, shown at a terminal as it comes.
//!
//! What was written stays as it is. So a piece is held back until the text after it cannot change what it means: a word
//! until its end, emphasis and links until they are closed, a line of code until its line end, a table until it is whole.

mod code;
mod page;
mod table;

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

pub(super) use page::Format;
use page::{Gap, layout, options};

/// Bytes of one block that are laid out together. A longer one is cut, which may show its rest in another form.
const MAX_BLOCK: usize = 16 << 10;
/// Bytes of an open code block, after which its lines are forgotten as they are written.
const MAX_CODE: usize = 8 << 10;
/// Bytes behind a mark such as `*`, after which it is taken for an ordinary character.
const MAX_HELD: usize = 400;

/// Text that is laid out while it comes.
#[derive(Debug)]
pub(super) struct MarkdownStream {
    format: Format,
    /// The block that is not finished yet.
    source: String,
    /// What was written of it.
    written: String,
    /// Bytes of `source` that were written.
    shown: usize,
    /// What stands between this block and the one before.
    gap: Gap,
}

impl MarkdownStream {
    pub(super) fn new(format: Format) -> Self {
        Self { format, source: String::new(), written: String::new(), shown: 0, gap: Gap::None }
    }

    /// Adds a piece; returns what can be written now. It never ends with a line end.
    pub(super) fn push(&mut self, piece: &str) -> String {
        self.source.push_str(piece);
        if !piece.contains(char::is_whitespace) && self.source.len() <= MAX_BLOCK {
            return String::new();
        }
        // Places are counted from the end, because writing may forget the beginning.
        let undecided = self.source.len() - decided_end(&self.source);
        let last_length = self.source.len() - last_block(&self.source[..self.source.len() - undecided]);
        let mut text = String::new();
        if last_length < self.source.len() {
            text.push_str(&self.write(self.source.len() - last_length));
            self.forget((self.source.len() - last_length).max(self.shown));
        }
        let length = self.source.len();
        let open = OpenBlock::read(&self.source[..length - undecided], length);
        text.push_str(&self.write(open.stable_end));
        match open.code_start.filter(|_| self.source.len() == length) {
            Some(start) if self.shown > start + MAX_CODE => self.forget_code(start),
            None if length > MAX_BLOCK => {
                text.push_str(&self.write(self.source.len()));
                self.forget(self.source.len());
            }
            _ => {}
        }
        text
    }

    /// Ends the text; returns what was held back.
    pub(super) fn finish(&mut self) -> String {
        let text = self.write(self.source.len());
        *self = Self::new(self.format);
        text
    }

    /// Lays the source out up to here; returns what is new in it.
    fn write(&mut self, end: usize) -> String {
        if end <= self.shown {
            return String::new();
        }
        let all = layout(self.format, self.gap, &self.source[..end]);
        if let Some(new) = all.strip_prefix(&self.written) {
            let new = new.to_owned();
            (self.written, self.shown) = (all, end);
            return new;
        }
        // What is written turned out to mean something else, as a line of dashes makes a heading of the line above it.
        let end = end - self.shown;
        self.forget(self.shown);
        let new = layout(self.format, self.gap, &self.source[..end]);
        (self.written, self.shown) = (new.clone(), end);
        new
    }

    /// Forgets the source up to here, which was written.
    fn forget(&mut self, end: usize) {
        if !self.written.is_empty() {
            self.gap = if ends_with_blank_line(&self.source[..end]) { Gap::Blank } else { Gap::Line };
        }
        self.source.drain(..end);
        self.written.clear();
        self.shown = 0;
    }

    /// Forgets the lines of an open code block that were written. The line that opened it stays.
    fn forget_code(&mut self, start: usize) {
        self.source.drain(start..self.shown);
        self.written.clear();
        (self.shown, self.gap) = (start, Gap::Line);
    }
}

/// Where the text ends whose block and words do not depend on what comes next.
fn decided_end(source: &str) -> usize {
    let line_start = source.rfind('\n').map_or(0, |at| at + 1);
    match without_marks(&source[line_start..]).contains(char::is_whitespace) {
        true => source.trim_end_matches(|at: char| !at.is_whitespace()).len(),
        false => line_start,
    }
}

/// The line without what may make it a heading, an item, a quote, a table, a fence or a rule.
fn without_marks(line: &str) -> &str {
    let words = line.trim_start_matches(|at: char| at.is_whitespace() || "#>-+*=_`~|:[]".contains(at));
    let after_number = words.trim_start_matches(|at: char| at.is_ascii_digit());
    match after_number.strip_prefix(['.', ')']).filter(|_| after_number.len() < words.len()) {
        Some(rest) => without_marks(rest),
        None => words,
    }
}

/// Where the last block begins, at the beginning of its line.
fn last_block(source: &str) -> usize {
    let (mut last, mut depth) = (0, 0_usize);
    for (event, range) in Parser::new_ext(source, options()).into_offset_iter() {
        if depth == 0 {
            last = range.start;
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            _ => {}
        }
    }
    line_start(source, last)
}

fn ends_with_blank_line(source: &str) -> bool {
    source[source.trim_end().len()..].matches('\n').count() > 1
}

fn line_start(source: &str, at: usize) -> usize {
    source[..at].rfind('\n').map_or(0, |end| end + 1)
}

/// The last block of a text, which may go on.
struct OpenBlock {
    /// Where the part ends that stays as it is, whatever comes next.
    stable_end: usize,
    /// Where the lines of a code block begin that is not closed and stands in no other block.
    code_start: Option<usize>,
}

impl OpenBlock {
    /// Reads the last block of a text; `length` is that of all of the text, of which this may be the beginning.
    fn read(source: &str, length: usize) -> Self {
        let (mut code, mut table, mut depth) = (None, None, 0_usize);
        // Of the last paragraph, heading or item.
        let mut texts: Vec<Range<usize>> = Vec::new();
        for (event, range) in Parser::new_ext(source, options()).into_offset_iter() {
            match event {
                Event::Start(tag) => {
                    match tag {
                        Tag::CodeBlock(kind) => {
                            let is_fenced = matches!(kind, CodeBlockKind::Fenced(_));
                            code = is_open(&source[range.clone()], is_fenced).then_some((range, depth));
                            texts.clear();
                        }
                        Tag::Table(_) => table = Some(range.start),
                        Tag::Paragraph | Tag::Heading { .. } | Tag::Item | Tag::HtmlBlock => {
                            (code, table) = (None, None);
                            texts.clear();
                        }
                        _ => {}
                    }
                    depth += 1;
                }
                Event::End(_) => depth -= 1,
                Event::Text(_) if code.is_none() => texts.push(range),
                _ => {}
            }
        }
        let line_end = source.rfind('\n').map_or(0, |at| at + 1);
        if let Some((range, depth)) = code {
            let opened = source[range.start..].find('\n').map_or(source.len(), |at| range.start + at + 1);
            return Self { stable_end: line_end.max(opened), code_start: (depth == 0).then_some(opened) };
        }
        let last_line = line_start(source, source.trim_end().len());
        let stable_end = match table {
            _ if ends_with_blank_line(source) => source.len(),
            Some(start) => line_start(source, start),
            // It may be the head of a table.
            None if source[last_line..].contains('|') => last_line,
            None => match texts.into_iter().find_map(|text| open_mark(source, text, length)) {
                // Not in the middle of a word, which may need a new line when it is whole. The word may have begun in
                // emphasis or code, which is open without its end.
                Some(mark) => match source[..mark].trim_end_matches(|at: char| !at.is_whitespace()) {
                    before if before.len() == mark => mark,
                    before => Self::read(before, length).stable_end,
                },
                None => source.len(),
            },
        };
        Self { stable_end, code_start: None }
    }
}

/// True if a code block goes on: an indented one always may, a fenced one until its fence comes again.
fn is_open(block: &str, is_fenced: bool) -> bool {
    let mut lines = block.trim_end().lines().map(|line| line.trim_start_matches([' ', '\t', '>']));
    let fence = lines.next().unwrap_or_default();
    let mark = if fence.starts_with('~') { '~' } else { '`' };
    let length = fence.len() - fence.trim_start_matches(mark).len();
    let is_fence = |line: &str| line.len() >= length && line.trim_end().chars().all(|at| at == mark);
    !is_fenced || !lines.next_back().is_some_and(is_fence)
}

/// The first character of a text that may begin emphasis, code or a link which is closed later.
fn open_mark(source: &str, text: Range<usize>, length: usize) -> Option<usize> {
    let begins = |(at, mark): &(usize, char)| {
        let at = text.start + at;
        let before = source[..at].chars().next_back();
        let after = source[at + mark.len_utf8()..].chars().next();
        let is_before_word = after.is_some_and(|after| !after.is_whitespace());
        before != Some('\\')
            && length - at <= MAX_HELD
            && match mark {
                '`' => true,
                '*' => is_before_word,
                '_' | '~' => is_before_word && !before.is_some_and(char::is_alphanumeric),
                '[' => match source[at..].find(']').map(|end| source[at + end + 1..].chars().next()) {
                    // A link, or the end is not known yet.
                    None | Some(None | Some('(' | '[')) => true,
                    Some(Some(_)) => false,
                },
                _ => false,
            }
    };
    source[text.clone()].char_indices().find(begins).map(|(at, _)| text.start + at)
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
