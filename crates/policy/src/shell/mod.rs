//! A parser for shell lines: for the part of the POSIX shell that can be understood for certain.
//!
//! Anything else makes the whole line [`Opaque`], which is never read-only and never matches an allow pattern. A line
//! that the parser reads differently from the shell would be a security hole; a line that it refuses only costs the
//! person one more question.

mod lexer;
mod parser;
mod plain;
mod reach;

pub use plain::{Join, PlainCommand, PlainWord, parse_plain};
pub(crate) use reach::{ReachedCommand, base, is_shell, without_version};

/// A line that cannot be understood for certain, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Opaque(pub &'static str);

/// One word of a command, after quotes are removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// The program gets exactly this text.
    Literal(String),
    /// File names that match this text (`*`, `?`, `[…]`, `~`).
    Pattern(String),
    /// Known only when it runs (`$x`, `$(…)`, `{a,b}`).
    Dynamic,
}

impl Word {
    /// The word's text if it is certain, else `None`.
    pub fn literal(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            Self::Pattern(_) | Self::Dynamic => None,
        }
    }
}

/// A redirection of a command's input or output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// It may write to the target (`>`, `>>`, `<>`, …).
    pub writes: bool,
    /// The input is part of the line itself (`<<`, `<<<`).
    pub is_text: bool,
    /// The file, or the descriptor that is copied.
    pub target: Word,
}

/// One program with its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The program and its arguments; empty where there are only assignments or redirections.
    pub argv: Vec<Word>,
    /// Where its input and output go.
    pub redirects: Vec<Redirect>,
    /// Variables are set, for it or for the line.
    pub assigns: bool,
    /// It reads what another command writes.
    pub piped: bool,
}

impl SimpleCommand {
    /// A command that runs without a shell, so that every word is literal.
    pub fn from_argv(argv: &[&str]) -> Self {
        Self { argv: argv.iter().map(|word| Word::Literal((*word).to_owned())).collect(), ..Self::default() }
    }

    /// Whether its input comes from another command or from the line itself.
    pub(crate) fn is_fed(&self) -> bool {
        self.piped || self.redirects.iter().any(|redirect| redirect.is_text)
    }

    /// The words, if all are literal and the command has no redirections and assignments.
    pub fn words(&self) -> Option<Vec<&str>> {
        let bare = self.redirects.is_empty() && !self.assigns && !self.argv.is_empty();
        if bare { self.argv.iter().map(Word::literal).collect() } else { None }
    }
}

/// Everything that one shell line runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellLine {
    /// Every simple command, those inside substitutions and loops included.
    pub commands: Vec<SimpleCommand>,
    /// A command's output becomes part of another (`$(…)`, backticks).
    pub substitution: bool,
    /// Something keeps running (`&`).
    pub background: bool,
    /// Commands are joined by `|`.
    pub pipeline: bool,
    /// There is a subshell, group, condition, loop or function.
    pub structured: bool,
    /// There is a comment.
    pub comment: bool,
}

impl ShellLine {
    /// The commands as words, if they only follow one another (`;`, `&&`, `||`, `|`, newline) and hide nothing.
    pub fn sequence(&self) -> Option<Vec<Vec<&str>>> {
        let hides = self.substitution || self.background || self.structured || self.comment;
        if hides || self.commands.is_empty() { None } else { self.commands.iter().map(SimpleCommand::words).collect() }
    }

    /// The words of the only command, if there is only one and it hides nothing.
    pub fn single(&self) -> Option<Vec<&str>> {
        let mut all = self.sequence()?;
        if all.len() == 1 { all.pop() } else { None }
    }
}

/// The longest line that is parsed, in bytes; a person could not judge a longer one either.
const LONGEST: usize = 256 * 1024;

/// Parses a shell line, with all its substitutions.
pub fn parse(text: &str) -> Result<ShellLine, Opaque> {
    if text.len() > LONGEST {
        return Err(Opaque("it is too long"));
    }
    if text.chars().any(misleading) {
        return Err(Opaque("it contains characters that do not show"));
    }
    lexer::Reader::new(text, 0).line()
}

/// Whether a character is invisible, or changes the order of the text that a person sees.
fn misleading(c: char) -> bool {
    let invisible = matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{13430}'..='\u{1345f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d159}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}');
    // A space that is none to a shell makes two words of one for whoever reads it.
    let false_space = c.is_whitespace() && !c.is_ascii();
    invisible || false_space || (c.is_control() && !matches!(c, '\n' | '\t'))
}

/// Quotes a program and its arguments, so that a shell runs exactly them.
///
/// ```
/// use roost_policy::shell::{parse, quote};
///
/// let line = quote(&["echo", "it's", "a;b"]);
/// assert_eq!(line, r"echo 'it'\''s' 'a;b'");
/// assert_eq!(parse(&line).unwrap().single().unwrap(), ["echo", "it's", "a;b"]);
/// ```
pub fn quote(argv: &[&str]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':' | ',' | '@' | '%' | '+');
    // A first word in quotes is never a keyword; a plain one might be.
    let words = argv.iter().enumerate().map(|(at, word)| match *word {
        word if !word.is_empty() && word.chars().all(plain) && !(at == 0 && parser::is_keyword(word)) => {
            word.to_owned()
        }
        word => format!("'{}'", word.replace('\'', r"'\''")),
    });
    words.collect::<Vec<_>>().join(" ")
}
