//! The lexer: turns characters into words and operators.

use super::{Opaque, ShellLine, Word};

/// How deep commands may be nested; a deeper line is refused.
const DEEPEST: usize = 16;

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(RawWord),
    Operator(&'static str),
    Redirect(&'static str),
    Newline,
    End,
}

/// How certain a word's text is, the least certain last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Certainty {
    #[default]
    Literal,
    Pattern,
    Dynamic,
}

/// A word as written: only one without quotes can be a keyword or an assignment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RawWord {
    pub(super) text: String,
    pub(super) quoted: bool,
    pub(super) assignment: bool,
    certainty: Certainty,
}

impl RawWord {
    pub(super) fn is(&self, text: &str) -> bool {
        !self.quoted && self.text == text
    }

    pub(super) fn certain(&self) -> bool {
        self.certainty == Certainty::Literal
    }

    pub(super) fn into_word(self) -> Word {
        match self.certainty {
            Certainty::Literal => Word::Literal(self.text),
            Certainty::Pattern => Word::Pattern(self.text),
            Certainty::Dynamic => Word::Dynamic,
        }
    }

    fn doubt(&mut self, certainty: Certainty) {
        self.certainty = self.certainty.max(certainty);
    }
}

/// A here-document whose text follows after the current line.
#[derive(Debug)]
pub(super) struct HereDocument {
    pub(super) end: String,
    pub(super) verbatim: bool,
    pub(super) strip_tabs: bool,
}

/// Reads one line; the parser's half is in `parser.rs`.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    rest: &'a str,
    depth: usize,
    peeked: Option<Token>,
    pub(super) here: Vec<HereDocument>,
    pub(super) piped: bool,
    pub(super) out: ShellLine,
}

/// The operators, longer ones before their beginnings.
const OPERATORS: [&str; 8] = [";;", "&&", "||", ";", "&", "|", "(", ")"];
/// The redirections, longer ones before their beginnings.
const REDIRECTS: [&str; 13] = ["&>>", "<<<", "<<-", "&>", "<<", ">>", ">&", "<&", "<>", ">|", "|&", "<", ">"];

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, depth: usize) -> Self {
        Self { rest: text, depth, peeked: None, here: Vec::new(), piped: false, out: ShellLine::default() }
    }

    /// The next token, left in place.
    pub(super) fn peek(&mut self) -> Result<&Token, Opaque> {
        let token = match self.peeked.take() {
            Some(token) => token,
            None => self.token()?,
        };
        Ok(self.peeked.insert(token))
    }

    /// The next token, taken.
    pub(super) fn next(&mut self) -> Result<Token, Opaque> {
        match self.peeked.take() {
            Some(token) => Ok(token),
            None => self.token(),
        }
    }

    /// Goes one level deeper, unless that is too deep.
    pub(super) fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, Opaque>) -> Result<T, Opaque> {
        if self.depth == DEEPEST {
            return Err(Opaque("it nests too deep"));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn token(&mut self) -> Result<Token, Opaque> {
        self.skip_blanks();
        if self.rest.starts_with('#') {
            self.out.comment = true;
            self.rest = &self.rest[self.rest.find('\n').unwrap_or(self.rest.len())..];
        }
        let Some(first) = self.rest.chars().next() else {
            return if self.here.is_empty() { Ok(Token::End) } else { Err(Opaque("a here-document has no text")) };
        };
        if first == '\n' {
            self.rest = &self.rest[1..];
            self.here_documents()?;
            return Ok(Token::Newline);
        }
        if let Some(redirect) = self.redirect()? {
            return Ok(Token::Redirect(redirect));
        }
        if let Some(operator) = OPERATORS.iter().find(|operator| self.rest.starts_with(**operator)) {
            self.rest = &self.rest[operator.len()..];
            return Ok(Token::Operator(operator));
        }
        let word = self.word()?;
        let number = !word.quoted && !word.text.is_empty() && word.text.bytes().all(|byte| byte.is_ascii_digit());
        if number && self.rest.starts_with(['<', '>']) {
            return self.redirect()?.map(Token::Redirect).ok_or(Opaque("a redirection is not understood"));
        }
        Ok(Token::Word(word))
    }

    fn redirect(&mut self) -> Result<Option<&'static str>, Opaque> {
        let Some(redirect) = REDIRECTS.iter().find(|redirect| self.rest.starts_with(**redirect)) else {
            return Ok(None);
        };
        self.rest = &self.rest[redirect.len()..];
        if self.rest.starts_with('(') && *redirect != "|&" {
            return Err(Opaque("it uses process substitution"));
        }
        Ok(Some(redirect))
    }

    fn skip_blanks(&mut self) {
        loop {
            let trimmed = self.rest.trim_start_matches([' ', '\t']);
            self.rest = trimmed.strip_prefix("\\\n").unwrap_or(trimmed);
            if self.rest.len() == trimmed.len() {
                return;
            }
        }
    }

    fn word(&mut self) -> Result<RawWord, Opaque> {
        let mut word = RawWord::default();
        let mut braces = false;
        while let Some(c) = self.rest.chars().next() {
            match c {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>' => break,
                '$' => {
                    self.dollar(&mut word, false)?;
                    continue;
                }
                '`' => {
                    self.backticks(&mut word)?;
                    continue;
                }
                _ => self.rest = &self.rest[c.len_utf8()..],
            }
            match c {
                '\'' => {
                    let (inside, rest) = self.rest.split_once('\'').ok_or(Opaque("a quote is not closed"))?;
                    word.text.push_str(inside);
                    word.quoted = true;
                    self.rest = rest;
                }
                '"' => self.double_quotes(&mut word)?,
                '\\' => {
                    let escaped = self.rest.chars().next().ok_or(Opaque("it ends in a backslash"))?;
                    self.rest = &self.rest[escaped.len_utf8()..];
                    if escaped != '\n' {
                        word.text.push(escaped);
                        word.quoted = true;
                    }
                }
                _ => {
                    match c {
                        '*' | '?' | '[' => word.doubt(Certainty::Pattern),
                        '~' if word.text.is_empty() || word.text.ends_with(['=', ':']) => {
                            word.doubt(Certainty::Pattern);
                        }
                        '{' | '}' => braces = true,
                        // Some shells replace `=name` by the path of that program.
                        '=' if word.text.is_empty() => word.doubt(Certainty::Dynamic),
                        '=' if !word.quoted
                            && word.certain()
                            && is_name(word.text.strip_suffix('+').unwrap_or(&word.text)) =>
                        {
                            word.assignment = true;
                        }
                        _ => {}
                    }
                    word.text.push(c);
                }
            }
        }
        match word.text.as_str() {
            "[" if word.certainty == Certainty::Pattern => word.certainty = Certainty::Literal,
            "{" | "}" | "{}" => {}
            _ if braces => word.doubt(Certainty::Dynamic),
            _ => {}
        }
        Ok(word)
    }

    fn double_quotes(&mut self, word: &mut RawWord) -> Result<(), Opaque> {
        word.quoted = true;
        loop {
            let c = self.rest.chars().next().ok_or(Opaque("a quote is not closed"))?;
            match c {
                '$' => self.dollar(word, true)?,
                '`' => self.backticks(word)?,
                _ => {
                    self.rest = &self.rest[c.len_utf8()..];
                    match (c, self.rest.chars().next()) {
                        ('"', _) => return Ok(()),
                        ('\\', Some(escaped @ ('$' | '`' | '"' | '\\' | '\n'))) => {
                            self.rest = &self.rest[1..];
                            if escaped != '\n' {
                                word.text.push(escaped);
                            }
                        }
                        _ => word.text.push(c),
                    }
                }
            }
        }
    }

    fn dollar(&mut self, word: &mut RawWord, in_quotes: bool) -> Result<(), Opaque> {
        self.rest = &self.rest[1..];
        let next = self.rest.chars().next();
        match next {
            Some('(') if self.rest.starts_with("((") => return Err(Opaque("it uses arithmetic")),
            Some('(') => {
                self.rest = &self.rest[1..];
                self.substitution()?;
            }
            Some('{') => {
                let (inside, rest) = self.rest[1..].split_once('}').ok_or(Opaque("a brace is not closed"))?;
                let name =
                    inside.trim_start_matches('#').trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
                let simple = |c: char| c.is_ascii_alphanumeric() || " _-.:=+?#%/,".contains(c);
                if !name.chars().all(simple) {
                    return Err(Opaque("it uses an expansion that is not understood"));
                }
                self.rest = rest;
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let other = |c: char| !c.is_ascii_alphanumeric() && c != '_';
                self.rest = &self.rest[self.rest.find(other).unwrap_or(self.rest.len())..];
            }
            Some(c) if c.is_ascii_digit() || "?@$!#*-".contains(c) => self.rest = &self.rest[1..],
            Some('\'' | '"') if !in_quotes => return Err(Opaque("it uses $ before a quote")),
            Some('[') => return Err(Opaque("it uses arithmetic")),
            _ => {
                word.text.push('$');
                return Ok(());
            }
        }
        word.doubt(Certainty::Dynamic);
        Ok(())
    }

    /// The commands of `$(…)`, which follow; they become commands of the line.
    fn substitution(&mut self) -> Result<(), Opaque> {
        if !self.here.is_empty() {
            return Err(Opaque("a here-document is inside a substitution"));
        }
        self.out.substitution = true;
        let piped = std::mem::take(&mut self.piped);
        self.deeper(|reader| reader.list(&[]))?;
        self.piped = piped;
        if self.next()? != Token::Operator(")") || !self.here.is_empty() {
            return Err(Opaque("a substitution is not closed"));
        }
        Ok(())
    }

    fn backticks(&mut self, word: &mut RawWord) -> Result<(), Opaque> {
        self.rest = &self.rest[1..];
        let mut inside = String::new();
        let mut chars = self.rest.char_indices();
        loop {
            match chars.next().ok_or(Opaque("a backtick is not closed"))? {
                (at, '`') => {
                    self.rest = &self.rest[at + 1..];
                    break;
                }
                // What a backslash means here depends on the quotes around.
                (_, '\\') => return Err(Opaque("there is a backslash between backticks")),
                (_, c) => inside.push(c),
            }
        }
        word.doubt(Certainty::Dynamic);
        self.out.substitution = true;
        let inner = self.deeper(|reader| Reader::new(&inside, reader.depth).line())?;
        self.out.absorb(inner);
        Ok(())
    }

    fn here_documents(&mut self) -> Result<(), Opaque> {
        for document in std::mem::take(&mut self.here) {
            loop {
                let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
                let at_end = rest.is_empty() && !self.rest.ends_with('\n');
                let shown = if document.strip_tabs { line.trim_start_matches('\t') } else { line };
                self.rest = rest;
                if shown == document.end {
                    break;
                }
                if at_end {
                    return Err(Opaque("a here-document does not end"));
                }
                if !document.verbatim && (line.contains("$(") || line.contains("${") || line.contains(['`', '\\'])) {
                    return Err(Opaque("a here-document is expanded"));
                }
            }
        }
        Ok(())
    }
}

impl ShellLine {
    fn absorb(&mut self, inner: ShellLine) {
        self.commands.extend(inner.commands);
        self.background |= inner.background;
        self.pipeline |= inner.pipeline;
        self.structured |= inner.structured;
        self.comment |= inner.comment;
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
