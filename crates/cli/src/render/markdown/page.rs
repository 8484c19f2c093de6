//! Lays Markdown out for a terminal: words wrap, blocks are indented, tables fit the width.

use pulldown_cmark::{CodeBlockKind, Event, LinkType, Options, Parser, Tag, TagEnd};
use unicode_width::UnicodeWidthStr;

use super::code::Highlighter;
use super::table::Table;
use crate::screen::visible;
use crate::style::Style;

/// Columns of a horizontal rule.
const RULE: usize = 40;
/// The escape codes of what text can be.
const BOLD: &str = "1";
const DIM: &str = "2";
const ITALIC: &str = "3";
const UNDERLINED: &str = "4";
const CODE: &str = "36";

/// How text is laid out.
#[derive(Clone, Copy, Debug)]
pub(in crate::render) struct Format {
    pub(in crate::render) style: Style,
    /// Columns that a line may have.
    pub(in crate::render) width: usize,
    /// Stands before every line of a thought, whose text is dim then. Empty for answers.
    pub(in crate::render) prefix: &'static str,
}

/// What stands between a block and what was written before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gap {
    None,
    Line,
    Blank,
}

/// The Markdown that agents write.
pub(super) fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// The text for the terminal, without a line end.
pub(super) fn layout(format: Format, gap: Gap, source: &str) -> String {
    let mut page = Page::new(format, gap, source);
    for (event, range) in Parser::new_ext(source, options()).into_offset_iter() {
        page.event(event, range.start);
    }
    page.out
}

/// Characters without a space between them, painted, and their columns.
#[derive(Clone, Debug, Default)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) width: usize,
}

/// What stands before the lines of a block.
struct Indent {
    /// Before its first line, until that is written.
    first: Option<String>,
    /// Before the others.
    rest: String,
}

impl Indent {
    fn new(text: &str) -> Self {
        Self { first: None, rest: text.into() }
    }
}

struct Link {
    /// Shown behind the text; `None` where the text is the address.
    address: Option<String>,
    text: String,
}

struct Page<'a> {
    format: Format,
    source: &'a str,
    out: String,
    /// What is written before the next line.
    gap: Gap,
    /// What stands in the line of a blank gap.
    blank_line: String,
    indents: Vec<Indent>,
    is_line_open: bool,
    /// Columns of the open line that are used, and those of its indents.
    column: usize,
    indented: usize,
    word: Word,
    /// A space stands before the next word.
    has_space: bool,
    marks: Vec<&'static str>,
    /// The next number of each list that is open; `None` for bullets.
    lists: Vec<Option<u64>>,
    /// The language and the text of the code block that is open.
    code: Option<(String, String)>,
    table: Option<Table>,
    links: Vec<Link>,
}

impl<'a> Page<'a> {
    fn new(format: Format, gap: Gap, source: &'a str) -> Self {
        let is_thought = !format.prefix.is_empty();
        Self {
            format,
            source,
            out: String::new(),
            gap,
            blank_line: dimmed(format.style, format.prefix.trim_end()),
            indents: is_thought.then(|| Indent::new(format.prefix)).into_iter().collect(),
            is_line_open: false,
            column: 0,
            indented: 0,
            word: Word::default(),
            has_space: false,
            marks: if is_thought { vec![DIM] } else { Vec::new() },
            lists: Vec::new(),
            code: None,
            table: None,
            links: Vec::new(),
        }
    }

    fn event(&mut self, event: Event<'_>, at: usize) {
        match event {
            Event::Start(tag) => self.start(tag, at),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&text),
                None => self.text(&text),
            },
            Event::Code(text) => {
                self.mark(CODE, "`");
                self.text(&text);
                self.unmark("`");
            }
            // The author of an answer ended the line on purpose more often than not.
            Event::SoftBreak | Event::HardBreak => self.end_line(),
            Event::Rule => {
                self.begin_block(at);
                let rule = "─".repeat(RULE.min(self.format.width));
                self.whole_line(&self.format.style.dim(rule).to_string());
            }
            Event::TaskListMarker(is_done) => self.text(if is_done { "[x] " } else { "[ ] " }),
            // These are not among the options.
            Event::InlineMath(_) | Event::DisplayMath(_) | Event::FootnoteReference(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>, at: usize) {
        match tag {
            Tag::Heading { level, .. } => {
                self.begin_block(at);
                self.mark(BOLD, &format!("{} ", "#".repeat(level as usize)));
            }
            Tag::BlockQuote(_) => {
                self.begin_block(at);
                self.indents.push(Indent::new("▌ "));
            }
            Tag::CodeBlock(kind) => {
                self.begin_block(at);
                self.indents.push(Indent::new("  "));
                let language = match &kind {
                    CodeBlockKind::Fenced(info) => info.split([' ', ',', '{']).next().unwrap_or_default(),
                    CodeBlockKind::Indented => "",
                };
                self.code = Some((language.to_owned(), String::new()));
            }
            Tag::List(number) => {
                self.begin_block(at);
                self.lists.push(number);
            }
            Tag::Item => {
                self.begin_block(at);
                let marker = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "• ".to_owned(),
                };
                let rest = " ".repeat(marker.width());
                self.indents.push(Indent { first: Some(marker), rest });
            }
            Tag::Table(_) => {
                self.begin_block(at);
                self.table = Some(Table::default());
            }
            Tag::TableHead | Tag::TableRow => self.table.iter_mut().for_each(Table::begin_row),
            Tag::TableCell => {
                let is_head = self.table.as_mut().is_some_and(Table::begin_cell);
                self.marks.extend(is_head.then_some(BOLD));
            }
            Tag::Emphasis => self.mark(ITALIC, "*"),
            Tag::Strong => self.mark(BOLD, "**"),
            Tag::Strikethrough => self.text("~~"),
            Tag::Link { link_type, dest_url, .. } => {
                let is_address = matches!(link_type, LinkType::Autolink | LinkType::Email);
                self.marks.push(UNDERLINED);
                self.links.push(Link { address: (!is_address).then(|| dest_url.to_string()), text: String::new() });
            }
            Tag::Image { dest_url, .. } => {
                self.marks.push(UNDERLINED);
                self.links.push(Link { address: Some(dest_url.to_string()), text: String::new() });
                self.text("image: ");
            }
            // A paragraph, a block of HTML, and what is not among the options.
            _ => self.begin_block(at),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.end_line();
                self.unmark("");
            }
            TagEnd::BlockQuote(_) => {
                self.end_line();
                self.indents.pop();
            }
            TagEnd::CodeBlock => {
                self.code_lines();
                self.indents.pop();
            }
            TagEnd::List(_) => drop(self.lists.pop()),
            TagEnd::Item => {
                self.end_word();
                // An item without a text has its marker at least.
                if self.indents.last().is_some_and(|indent| indent.first.is_some()) {
                    self.open_line();
                }
                self.end_line();
                self.indents.pop();
            }
            TagEnd::TableCell => {
                self.end_word();
                self.has_space = false;
                let is_head = self.table.as_ref().is_some_and(Table::is_in_head);
                if is_head {
                    self.marks.pop();
                }
            }
            TagEnd::Table => {
                let lines = self.table.take().map(|table| table.lines(self.format.style, self.width_left()));
                lines.into_iter().flatten().for_each(|line| self.whole_line(&line));
            }
            TagEnd::TableHead | TagEnd::TableRow => {}
            TagEnd::Emphasis => self.unmark("*"),
            TagEnd::Strong => self.unmark("**"),
            TagEnd::Strikethrough => self.text("~~"),
            TagEnd::Link | TagEnd::Image => {
                self.marks.pop();
                let Some(Link { address, text }) = self.links.pop() else { return };
                if let Some(address) = address.filter(|address| *address != text && !address.is_empty()) {
                    self.marks.push(DIM);
                    self.text(&format!(" ({address})"));
                    self.marks.pop();
                }
            }
            _ => self.end_line(),
        }
    }

    /// From here on text is painted; where there are no colours, the marks of the source are shown.
    fn mark(&mut self, code: &'static str, source: &str) {
        self.marks.push(code);
        if !self.format.style.colours() {
            self.text(source);
        }
    }

    fn unmark(&mut self, source: &str) {
        if !self.format.style.colours() {
            self.text(source);
        }
        self.marks.pop();
    }

    fn text(&mut self, text: &str) {
        // Entities such as `&#27;` are characters only now.
        let text = visible(text);
        self.links.iter_mut().for_each(|link| link.text.push_str(&text));
        for (at, line) in text.split('\n').enumerate() {
            if at > 0 {
                self.end_line();
            }
            for (at, part) in line.split([' ', '\t']).enumerate() {
                if at > 0 {
                    self.end_word();
                    self.has_space = true;
                }
                if !part.is_empty() {
                    self.word.width += part.width();
                    self.word.text.push_str(&self.format.style.painted(&self.marks, part));
                }
            }
        }
    }

    fn end_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        if word.text.is_empty() {
            return;
        }
        let has_space = std::mem::take(&mut self.has_space);
        if let Some(table) = &mut self.table {
            table.add(word);
            return;
        }
        let is_first = !self.is_line_open || self.column == self.indented;
        if !is_first && self.column + 1 + word.width > self.format.width {
            self.is_line_open = false;
        }
        self.open_line();
        if has_space && self.column > self.indented {
            self.out.push(' ');
            self.column += 1;
        }
        self.out.push_str(&word.text);
        self.column += word.width;
    }

    fn end_line(&mut self) {
        self.end_word();
        self.has_space = false;
        self.is_line_open = false;
    }

    /// Begins a block, apart from the one before if it is so in the source.
    fn begin_block(&mut self, at: usize) {
        self.end_line();
        let is_begun = self.indents.last().is_some_and(|indent| indent.first.is_some());
        let before = &self.source[..at];
        let between = &before[before.trim_end_matches([' ', '\t', '\n', '>']).len()..];
        if self.gap == Gap::Line && !self.out.is_empty() && !is_begun && between.matches('\n').count() > 1 {
            (self.gap, self.blank_line) = (Gap::Blank, self.blank_prefix());
        }
    }

    fn open_line(&mut self) {
        if self.is_line_open {
            return;
        }
        self.write_gap();
        let prefix: String =
            self.indents.iter_mut().map(|indent| indent.first.take().unwrap_or_else(|| indent.rest.clone())).collect();
        (self.column, self.indented) = (prefix.width(), prefix.width());
        self.out.push_str(&dimmed(self.format.style, &prefix));
        self.is_line_open = true;
    }

    /// Writes a line that is not wrapped.
    fn whole_line(&mut self, line: &str) {
        self.end_line();
        if line.is_empty() {
            self.write_gap();
            self.out.push_str(&self.blank_prefix());
        } else {
            self.open_line();
            self.out.push_str(line);
        }
        self.is_line_open = false;
    }

    fn write_gap(&mut self) {
        match std::mem::replace(&mut self.gap, Gap::Line) {
            Gap::None => {}
            Gap::Line => self.out.push('\n'),
            Gap::Blank => {
                self.out.push('\n');
                self.out.push_str(&self.blank_line);
                self.out.push('\n');
            }
        }
    }

    /// What stands in a line without text.
    fn blank_prefix(&self) -> String {
        let prefix: String = self.indents.iter().map(|indent| indent.rest.as_str()).collect();
        dimmed(self.format.style, prefix.trim_end())
    }

    fn code_lines(&mut self) {
        let Some((language, code)) = self.code.take().filter(|(_, code)| !code.is_empty()) else { return };
        let mut highlighter = Highlighter::new(self.format.style, &language);
        for line in code.strip_suffix('\n').unwrap_or(&code).split('\n') {
            self.whole_line(&highlighter.line(&visible(line)));
        }
    }

    fn width_left(&self) -> usize {
        let indented: usize = self.indents.iter().map(|indent| indent.rest.width()).sum();
        self.format.width.saturating_sub(indented)
    }
}

/// What stands before a line, dim unless it is only space.
fn dimmed(style: Style, prefix: &str) -> String {
    if prefix.trim().is_empty() { prefix.to_owned() } else { style.painted(&[DIM], prefix) }
}
