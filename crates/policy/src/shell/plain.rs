//! The closed grammar of lines that may run unasked: because they only read, or because rules and remembered answers
//! cover every command of them.
//!
//! ```text
//! line     = pipeline { ("&&" | "||" | ";" | newline) pipeline }
//! pipeline = command { "|" command }
//! command  = { NAME=word } program { word | redirect }
//! program  = letters, digits, "_", ".", "+", "-", "/", but no keyword; or "["
//! word     = "{}" | { plain characters | 'text' | "text" | backslash and a punctuation mark }
//!          | file names: plain characters with * ? [ ], or a leading ~/, nothing of it in quotes
//!          | $NAME, ${NAME}, "text with $?": only where the program prints its arguments
//!          | "$(cat <<'EOF'" newline lines of text newline "EOF" newline ")": the text, as a message is often given
//! redirect = ">/dev/null" | "1>/dev/null" | "2>/dev/null" | "2>&1" | "</dev/null"
//! ```
//!
//! A value that is assigned is literal, and counts for its command alone. There is no loop, function, group, comment,
//! background job, other substitution or other here-document in it, and nothing that bash, dash and zsh read
//! differently. Whatever is not in the grammar is refused, which costs a question and nothing else; the tests compare
//! the accepted lines with a second parser and with real shells.

use super::parser::is_keyword;
use super::{LONGEST, misleading};
use crate::assignments::is_variable_name;

/// One word of a plain command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlainWord {
    /// The program gets exactly this text.
    Literal(String),
    /// Zero or more file names: those that match the glob, or a path below the home folder.
    Files(String),
    /// The value of a variable, which may be any text.
    Variable,
}

impl PlainWord {
    /// The text of a literal word, else `None`.
    pub fn literal(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            Self::Files(_) | Self::Variable => None,
        }
    }

    /// Whether a program could take the word for an option when it is run.
    pub fn may_be_option(&self) -> bool {
        match self {
            Self::Literal(text) => text.starts_with('-'),
            // A file may have any name, also that of an option.
            Self::Files(pattern) => pattern.starts_with(['-', '*', '?', '[']),
            Self::Variable => true,
        }
    }
}

/// How a command is joined to the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// The start of the line, `;` or a newline: it runs whether or not the one before succeeded.
    Then,
    /// `||`: it runs only if the one before failed.
    Or,
    /// `&&`: it runs only if the one before succeeded.
    And,
    /// `|`: it runs beside the one before.
    Pipe,
}

/// One command of a plain line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainCommand {
    /// `Then` for the first command.
    pub join: Join,
    /// It is part of a pipeline, so the shell may run it as a process of its own.
    pub in_pipeline: bool,
    /// The variables that are set for this command alone, as `NAME=value` without quotes.
    pub assignments: Vec<String>,
    /// The program, by its bare name or by its path.
    pub program: String,
    /// The words after the program, without redirections.
    pub args: Vec<PlainWord>,
}

/// The commands of a line, if the grammar accepts it.
pub fn parse_plain(text: &str) -> Option<Vec<PlainCommand>> {
    if text.len() > LONGEST || text.chars().any(misleading) {
        return None;
    }
    Scanner { rest: text }.line()
}

/// The characters that mean themselves outside quotes, to every shell, wherever they stand.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | ',' | '@' | '%' | '+')
}

/// The redirections that change nothing; a space may stand before the file's name.
const REDIRECTS: [&str; 9] = [
    ">/dev/null",
    "> /dev/null",
    "1>/dev/null",
    "1> /dev/null",
    "2>/dev/null",
    "2> /dev/null",
    "2>&1",
    "</dev/null",
    "< /dev/null",
];

/// What stands between double quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quoted {
    /// Nothing but text.
    Text,
    /// Also the exit status of the command before, `$?`.
    Status,
}

struct Scanner<'a> {
    rest: &'a str,
}

impl Scanner<'_> {
    fn line(mut self) -> Option<Vec<PlainCommand>> {
        let mut commands: Vec<PlainCommand> = Vec::new();
        let mut join = Join::Then;
        self.skip_newlines();
        loop {
            commands.push(self.command(join)?);
            if join == Join::Pipe {
                let last = commands.len() - 1;
                commands[last - 1..].iter_mut().for_each(|command| command.in_pipeline = true);
            }
            self.skip_blanks();
            join = if self.take("&&") {
                Join::And
            } else if self.take("||") {
                Join::Or
            } else if self.take("|") {
                Join::Pipe
            } else if self.take(";") || self.take("\n") {
                self.skip_newlines();
                if self.rest.is_empty() {
                    return Some(commands);
                }
                Join::Then
            } else {
                return self.rest.is_empty().then_some(commands);
            };
            self.skip_newlines();
        }
    }

    fn command(&mut self, join: Join) -> Option<PlainCommand> {
        let mut assignments = Vec::new();
        self.skip_blanks();
        while let Some(name) = self.assigned_name() {
            self.rest = &self.rest[name.len() + 1..];
            let value = self.word()?;
            assignments.push(format!("{name}={}", value.literal()?));
            self.skip_blanks();
        }
        let program = self.program()?;
        let mut args = Vec::new();
        loop {
            let before = self.rest.len();
            self.skip_blanks();
            if self.at_end_of_command() {
                return Some(PlainCommand { join, in_pipeline: false, assignments, program, args });
            }
            // Words and redirections are apart, so that no digit before `>` is read in two ways.
            if self.rest.len() == before {
                return None;
            }
            if !self.redirect() {
                args.push(self.word()?);
            }
        }
    }

    /// The name of the variable, if an assignment comes next.
    fn assigned_name(&self) -> Option<String> {
        let (name, _) = self.rest.split_once('=')?;
        is_variable_name(name).then(|| name.to_owned())
    }

    fn program(&mut self) -> Option<String> {
        if self.take("[") {
            return Some("[".to_owned());
        }
        let other = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '+' | '-' | '/'));
        let end = self.rest.find(other).unwrap_or(self.rest.len());
        let (program, rest) = self.rest.split_at(end);
        self.rest = rest;
        // A folder's name alone is a `cd` to some shells; `time` and `in` are keywords in some places.
        let is_program =
            !program.is_empty() && !program.ends_with('/') && !is_keyword(program) && !matches!(program, "time" | "in");
        is_program.then(|| program.to_owned())
    }

    fn redirect(&mut self) -> bool {
        let Some(redirect) = REDIRECTS.iter().find(|redirect| self.rest.starts_with(**redirect)) else { return false };
        let rest = &self.rest[redirect.len()..];
        let ends = rest.is_empty() || rest.starts_with([' ', '\t', '\n', ';', '|']) || rest.starts_with("&&");
        if ends {
            self.rest = rest;
        }
        ends
    }

    fn word(&mut self) -> Option<PlainWord> {
        if let Some(variable) = self.variable() {
            return Some(variable);
        }
        if let Some(text) = self.quoted_here_document() {
            return Some(PlainWord::Literal(text));
        }
        let mut text = String::new();
        let (mut quoted, mut names_files, mut tells_status) = (false, false, false);
        if self.rest.starts_with('~') {
            names_files = true;
            self.rest = &self.rest[1..];
            text.push('~');
            if !(self.at_end_of_word() || self.rest.starts_with('/')) {
                return None;
            }
        }
        while !self.at_end_of_word() {
            let c = self.rest.chars().next()?;
            self.rest = &self.rest[c.len_utf8()..];
            match c {
                c if is_plain(c) => text.push(c),
                // At the start of a word zsh gives these a meaning.
                '=' | '^' if !text.is_empty() => text.push(c),
                '~' if !text.is_empty() && !text.ends_with(['=', ':']) => text.push(c),
                '#' if !text.is_empty() => text.push(c),
                ']' => text.push(c),
                '!' if text.is_empty() && self.at_end_of_word() => text.push(c),
                '{' if text.is_empty() && self.rest.starts_with('}') => {
                    self.rest = &self.rest[1..];
                    text.push_str("{}");
                    if !self.at_end_of_word() {
                        return None;
                    }
                }
                '{' if text.ends_with('@') => {
                    let (inside, rest) = self.rest.split_once('}')?;
                    let usual = |c: char| c.is_ascii_alphanumeric() || c == '-';
                    if inside.is_empty() || !inside.chars().all(usual) {
                        return None;
                    }
                    text.push_str(&format!("{{{inside}}}"));
                    self.rest = rest;
                }
                '*' | '?' | '[' => {
                    names_files = true;
                    text.push(c);
                }
                '\'' => {
                    let (inside, rest) = self.rest.split_once('\'')?;
                    text.push_str(inside);
                    self.rest = rest;
                    quoted = true;
                }
                '"' => {
                    tells_status |= self.double_quoted(&mut text)? == Quoted::Status;
                    quoted = true;
                }
                '\\' => {
                    let escaped = self.rest.chars().next().filter(char::is_ascii_punctuation)?;
                    self.rest = &self.rest[1..];
                    text.push(escaped);
                    quoted = true;
                }
                _ => return None,
            }
        }
        match (names_files, quoted) {
            _ if tells_status => (!names_files).then_some(PlainWord::Variable),
            // Which of the characters were quoted is not known any more.
            (true, true) => None,
            (true, false) => Some(PlainWord::Files(text)),
            (false, _) => Some(PlainWord::Literal(text)),
        }
    }

    /// A word that is nothing but a variable's value.
    fn variable(&mut self) -> Option<PlainWord> {
        let unquoted = self.rest.strip_prefix('"');
        let inside = unquoted.unwrap_or(self.rest).strip_prefix('$')?;
        let braced = inside.strip_prefix('{');
        let name = braced.unwrap_or(inside);
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
        let usual = name[..end].starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let (taken, mut rest) = if usual { (&name[..end], &name[end..]) } else { ("?", name.strip_prefix('?')?) };
        if taken == "?" && braced.is_some() {
            return None;
        }
        if braced.is_some() {
            rest = rest.strip_prefix('}')?;
        }
        if unquoted.is_some() {
            rest = rest.strip_prefix('"')?;
        }
        let ends = rest.is_empty() || rest.starts_with([' ', '\t', '\n', ';', '|', '&']);
        if !ends {
            return None;
        }
        self.rest = rest;
        Some(PlainWord::Variable)
    }

    /// A text that `cat` is given to print: `"$(cat <<'EOF'`, its lines, `EOF`, `)"`. Shells differ about quotes and
    /// parentheses in such a text, so one with any that could be read in two ways is refused.
    fn quoted_here_document(&mut self) -> Option<String> {
        let lines = self.rest.strip_prefix("\"$(cat <<'EOF'\n")?;
        let (text, after) = lines.split_once("\nEOF\n")?;
        let after = after.trim_start_matches(' ').strip_prefix(")\"")?;
        let ends = after.is_empty() || after.starts_with([' ', '\t', '\n', ';', '|']) || after.starts_with("&&");
        let mut open = 0_usize;
        for c in text.chars() {
            match c {
                '\'' | '"' | '`' | '\\' | '$' => return None,
                '(' => open += 1,
                ')' => open = open.checked_sub(1)?,
                _ => {}
            }
        }
        // To some shells a parenthesis behind `#` is one in a comment.
        let in_comment = text.contains('#') && text.contains(['(', ')']);
        if !ends || open > 0 || in_comment || text.lines().next() == Some("EOF") {
            return None;
        }
        self.rest = after;
        Some(text.trim_end_matches('\n').to_owned())
    }

    fn double_quoted(&mut self, text: &mut String) -> Option<Quoted> {
        let mut quoted = Quoted::Text;
        loop {
            let c = self.rest.chars().next()?;
            self.rest = &self.rest[c.len_utf8()..];
            let next = self.rest.chars().next();
            match (c, next) {
                ('"', _) => return Some(quoted),
                // It is a number; zsh takes what stands behind it for a part of the expression.
                ('$', Some('?')) if !self.rest[1..].starts_with(['[', ':']) => {
                    self.rest = &self.rest[1..];
                    quoted = Quoted::Status;
                }
                ('`', _) => return None,
                ('\\', Some(escaped @ ('"' | '\\' | '$' | '`'))) => {
                    self.rest = &self.rest[1..];
                    text.push(escaped);
                }
                ('\\', Some('\n') | None) => return None,
                // A `$` before these is only itself.
                ('$', Some('"' | ' ' | '|' | ')' | '/')) => text.push('$'),
                ('$', _) => return None,
                _ => text.push(c),
            }
        }
    }

    fn at_end_of_word(&self) -> bool {
        self.rest.is_empty() || self.rest.starts_with([' ', '\t']) || self.at_end_of_command()
    }

    fn at_end_of_command(&self) -> bool {
        self.rest.is_empty() || self.rest.starts_with(['\n', ';', '|']) || self.rest.starts_with("&&")
    }

    /// Blanks, and lines that go on after a blank; without one, the two parts would be one word.
    fn skip_blanks(&mut self) {
        loop {
            let trimmed = self.rest.trim_start_matches([' ', '\t']);
            let had_blank = trimmed.len() < self.rest.len();
            self.rest = trimmed;
            match trimmed.strip_prefix("\\\n") {
                Some(rest) if had_blank => self.rest = rest,
                _ => return,
            }
        }
    }

    fn skip_newlines(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n']);
    }

    fn take(&mut self, operator: &str) -> bool {
        let rest = self.rest.strip_prefix(operator);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}
