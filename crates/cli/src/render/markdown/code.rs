//! Colours for code: comments, strings, numbers and keywords, which look alike in most languages.

use crate::style::Style;

const KEYWORD: &str = "35";
const STRING: &str = "32";
const NUMBER: &str = "36";
const COMMENT: &str = "2";

/// What tells the parts of a language apart.
struct Syntax {
    names: &'static [&'static str],
    line_comments: &'static [&'static str],
    /// What begins a part that may have several lines, what ends it, and how it is painted.
    spans: &'static [(&'static str, &'static str, &'static str)],
    quotes: &'static str,
    keywords: &'static str,
}

const C_COMMENT: (&str, &str, &str) = ("/*", "*/", COMMENT);

const SYNTAXES: [Syntax; 9] = [
    Syntax {
        names: &["rust", "rs"],
        line_comments: &["//"],
        spans: &[C_COMMENT],
        quotes: "\"",
        keywords: "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match \
                   mod move mut pub ref return self Self static struct super trait true type unsafe use where while",
    },
    Syntax {
        names: &["javascript", "js", "jsx", "typescript", "ts", "tsx"],
        line_comments: &["//"],
        spans: &[C_COMMENT, ("`", "`", STRING)],
        quotes: "\"'",
        keywords: "as async await break case catch class const continue default delete do else enum export extends false \
                   finally for from function if implements import in instanceof interface let new null of return \
                   static super switch this throw true try type typeof undefined var void while yield",
    },
    Syntax {
        names: &["python", "py"],
        line_comments: &["#"],
        spans: &[("\"\"\"", "\"\"\"", STRING), ("'''", "'''", STRING)],
        quotes: "\"'",
        keywords: "and as assert async await break class continue def del elif else except False finally for from global \
                   if import in is lambda None nonlocal not or pass raise return True try while with yield",
    },
    Syntax {
        names: &["go", "golang"],
        line_comments: &["//"],
        spans: &[C_COMMENT, ("`", "`", STRING)],
        quotes: "\"'",
        keywords: "break case chan const continue default defer else fallthrough false for func go goto if import \
                   interface map nil package range return select struct switch true type var",
    },
    Syntax {
        names: &["c", "h", "cpp", "c++", "hpp", "java", "kotlin", "kt", "swift", "csharp", "cs", "php", "scala"],
        line_comments: &["//"],
        spans: &[C_COMMENT],
        quotes: "\"'",
        keywords: "abstract auto bool break case catch char class const continue default do double else enum extends \
                   false final float for fun func if implements import int interface let long namespace new null \
                   override package private protected public return static struct super switch template this throw \
                   true try typedef using val var virtual void while",
    },
    Syntax {
        names: &["bash", "sh", "shell", "zsh", "console", "fish"],
        line_comments: &["#"],
        spans: &[],
        quotes: "\"'",
        keywords: "case cd do done echo elif else esac exit export fi for function if in local return set then while",
    },
    Syntax {
        names: &["sql"],
        line_comments: &["--"],
        spans: &[C_COMMENT],
        quotes: "'",
        keywords: "alter and as by create delete drop from group having index inner insert into join left limit not null \
                   on or order primary key references select set table unique update values where ALTER AND AS BY \
                   CREATE DELETE DROP FROM GROUP HAVING INDEX INNER INSERT INTO JOIN LEFT LIMIT NOT NULL ON OR ORDER \
                   PRIMARY KEY REFERENCES SELECT SET TABLE UNIQUE UPDATE VALUES WHERE",
    },
    Syntax {
        names: &["toml", "yaml", "yml", "ini", "dockerfile", "makefile", "ruby", "rb", "perl", "r", "elixir"],
        line_comments: &["#"],
        spans: &[],
        quotes: "\"'",
        keywords: "begin class def do else elsif end false if module nil null require return then true unless while",
    },
    Syntax {
        names: &["json", "jsonc", "json5"],
        line_comments: &["//"],
        spans: &[],
        quotes: "\"",
        keywords: "true false null",
    },
];

/// Paints code line by line.
pub(super) struct Highlighter {
    style: Style,
    syntax: Option<&'static Syntax>,
    is_diff: bool,
    /// The end of the part that began in an earlier line, and how it is painted.
    open: Option<(&'static str, &'static str)>,
}

impl Highlighter {
    /// Code of an unknown language stays as it is.
    pub(super) fn new(style: Style, language: &str) -> Self {
        let language = language.to_lowercase();
        let syntax = SYNTAXES.iter().find(|syntax| syntax.names.contains(&language.as_str()));
        Self { style, syntax, is_diff: matches!(&*language, "diff" | "patch"), open: None }
    }

    pub(super) fn line(&mut self, line: &str) -> String {
        if !self.style.colours() {
            return line.to_owned();
        }
        if self.is_diff {
            return match line.chars().next() {
                Some('+') => self.style.green(line).to_string(),
                Some('-') => self.style.red(line).to_string(),
                Some('@') => self.style.dim(line).to_string(),
                _ => line.to_owned(),
            };
        }
        let Some(syntax) = self.syntax else { return line.to_owned() };
        let (mut painted, mut rest) = (String::new(), line);
        while !rest.is_empty() {
            let (length, code) = self.next_part(syntax, rest);
            let (part, after) = rest.split_at(length);
            match code {
                Some(code) => painted.push_str(&self.style.painted(&[code], part)),
                None => painted.push_str(part),
            }
            rest = after;
        }
        painted
    }

    /// The length of the next part of a line, at least one character, and how it is painted.
    fn next_part(&mut self, syntax: &'static Syntax, rest: &str) -> (usize, Option<&'static str>) {
        if let Some((end, code)) = self.open {
            return (self.span(rest, 0, end, code), Some(code));
        }
        if syntax.line_comments.iter().any(|mark| rest.starts_with(mark)) {
            return (rest.len(), Some(COMMENT));
        }
        if let Some((begin, end, code)) = syntax.spans.iter().find(|(begin, ..)| rest.starts_with(begin)) {
            return (self.span(rest, begin.len(), end, code), Some(code));
        }
        let Some(first) = rest.chars().next() else { return (rest.len(), None) };
        if syntax.quotes.contains(first) {
            return (string_length(rest, first), Some(STRING));
        }
        let is_word = |at: char| at.is_alphanumeric() || at == '_';
        let length = match rest.find(|at| !is_word(at)).unwrap_or(rest.len()) {
            0 => first.len_utf8(),
            length => length,
        };
        let word = &rest[..length];
        let code = match first {
            '0'..='9' => Some(NUMBER),
            _ if syntax.keywords.split_whitespace().any(|keyword| keyword == word) => Some(KEYWORD),
            _ => None,
        };
        (length, code)
    }

    /// The length of a part that ends with `end`, here or in a later line.
    fn span(&mut self, rest: &str, begun: usize, end: &'static str, code: &'static str) -> usize {
        let found = rest[begun..].find(end);
        self.open = if found.is_some() { None } else { Some((end, code)) };
        found.map_or(rest.len(), |at| begun + at + end.len())
    }
}

/// The length of a string with its quotes; one that is not closed ends with its line.
fn string_length(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    let end = rest.char_indices().skip(1).find(|(_, at)| {
        let is_end = *at == quote && !is_escaped;
        is_escaped = *at == '\\' && !is_escaped;
        is_end
    });
    end.map_or(rest.len(), |(at, _)| at + quote.len_utf8())
}
