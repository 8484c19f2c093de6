//! The parser: turns words and operators into commands.

use super::lexer::{HereDocument, RawWord, Reader, Token};
use super::{Opaque, Redirect, ShellLine, SimpleCommand};

/// Words that begin or end a structure where a command could begin.
const KEYWORDS: [&str; 19] = [
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "function", "select",
    "coproc", "[[", "{", "}", "!",
];

pub(super) fn is_keyword(text: &str) -> bool {
    KEYWORDS.contains(&text)
}

const UNEXPECTED: Opaque = Opaque("its syntax is not understood");

impl Reader<'_> {
    /// Parses the whole text as one line.
    pub(super) fn line(mut self) -> Result<ShellLine, Opaque> {
        self.list(&[])?;
        if self.next()? == Token::End { Ok(self.out) } else { Err(UNEXPECTED) }
    }

    /// Commands up to one of these keywords, a closing parenthesis, `;;` or the end, none of which is taken.
    pub(super) fn list(&mut self, until: &[&str]) -> Result<(), Opaque> {
        loop {
            self.newlines()?;
            if self.at_end_of_list(until)? {
                return Ok(());
            }
            self.pipelines()?;
            match self.peek()? {
                Token::Operator("&") => {
                    self.out.background = true;
                    self.next()?;
                }
                Token::Operator(";") | Token::Newline => {
                    self.next()?;
                }
                _ => return if self.at_end_of_list(until)? { Ok(()) } else { Err(UNEXPECTED) },
            }
        }
    }

    fn at_end_of_list(&mut self, until: &[&str]) -> Result<bool, Opaque> {
        Ok(match self.peek()? {
            Token::End | Token::Operator(")" | ";;") => true,
            Token::Word(word) => until.iter().any(|keyword| word.is(keyword)),
            _ => false,
        })
    }

    /// Pipelines joined by `&&` and `||`.
    fn pipelines(&mut self) -> Result<(), Opaque> {
        loop {
            self.pipeline()?;
            if !matches!(self.peek()?, Token::Operator("&&" | "||")) {
                return Ok(());
            }
            self.next()?;
            self.newlines()?;
        }
    }

    fn pipeline(&mut self) -> Result<(), Opaque> {
        while matches!(self.peek()?, Token::Word(word) if word.is("!")) {
            self.out.structured = true;
            self.next()?;
        }
        let outside = self.piped;
        loop {
            self.deeper(Self::command)?;
            match self.peek()? {
                Token::Operator("|") => {}
                Token::Redirect("|&") => self.out.structured = true,
                _ => break,
            }
            self.next()?;
            self.newlines()?;
            self.out.pipeline = true;
            self.piped = true;
        }
        self.piped = outside;
        Ok(())
    }

    fn command(&mut self) -> Result<(), Opaque> {
        let keyword = match self.peek()? {
            Token::Operator("(") => "(",
            Token::Word(word) if !word.quoted => {
                KEYWORDS.iter().find(|keyword| word.is(keyword)).copied().unwrap_or("")
            }
            _ => "",
        };
        if keyword.is_empty() {
            return self.simple();
        }
        self.next()?;
        self.out.structured = true;
        match keyword {
            "(" if *self.peek()? == Token::Operator("(") => return Err(Opaque("it uses arithmetic")),
            "(" => {
                self.list(&[])?;
                self.operator(")")?;
            }
            "{" => self.body("}")?,
            "if" => {
                self.body("then")?;
                loop {
                    self.list(&["elif", "else", "fi"])?;
                    match self.next()? {
                        Token::Word(word) if word.is("elif") => self.body("then")?,
                        Token::Word(word) if word.is("else") => {
                            self.body("fi")?;
                            break;
                        }
                        Token::Word(word) if word.is("fi") => break,
                        _ => return Err(UNEXPECTED),
                    }
                }
            }
            "while" | "until" => {
                self.body("do")?;
                self.body("done")?;
            }
            "for" => self.each()?,
            "case" => self.case()?,
            "function" => {
                self.plain_word()?;
                if *self.peek()? == Token::Operator("(") {
                    self.next()?;
                    self.operator(")")?;
                }
                self.newlines()?;
                return self.deeper(Self::command);
            }
            _ => return Err(UNEXPECTED),
        }
        let mut around = SimpleCommand { piped: self.piped, ..SimpleCommand::default() };
        while let Token::Redirect(_) = self.peek()? {
            around.redirects.push(self.redirection()?);
        }
        if !around.redirects.is_empty() {
            self.out.commands.push(around);
        }
        Ok(())
    }

    /// Commands up to this keyword, which is taken.
    fn body(&mut self, end: &str) -> Result<(), Opaque> {
        self.list(&[end])?;
        self.keyword(end)
    }

    /// `for name in words; do …; done`, after the `for`.
    fn each(&mut self) -> Result<(), Opaque> {
        self.plain_word()?;
        self.newlines()?;
        if matches!(self.peek()?, Token::Word(word) if word.is("in")) {
            self.next()?;
            while matches!(self.peek()?, Token::Word(_)) {
                self.next()?;
            }
        }
        if *self.peek()? == Token::Operator(";") {
            self.next()?;
        }
        self.newlines()?;
        self.keyword("do")?;
        self.body("done")
    }

    /// `case word in pattern) …;; esac`, after the `case`.
    fn case(&mut self) -> Result<(), Opaque> {
        let Token::Word(_) = self.next()? else { return Err(UNEXPECTED) };
        self.newlines()?;
        self.keyword("in")?;
        loop {
            self.newlines()?;
            match self.next()? {
                Token::Word(word) if word.is("esac") => return Ok(()),
                Token::Operator("(") => {
                    let Token::Word(_) = self.next()? else { return Err(UNEXPECTED) };
                }
                Token::Word(_) => {}
                _ => return Err(UNEXPECTED),
            }
            while *self.peek()? == Token::Operator("|") {
                self.next()?;
                let Token::Word(_) = self.next()? else { return Err(UNEXPECTED) };
            }
            self.operator(")")?;
            self.list(&["esac"])?;
            if *self.peek()? == Token::Operator(";;") {
                self.next()?;
            }
        }
    }

    fn simple(&mut self) -> Result<(), Opaque> {
        let mut command = SimpleCommand { piped: self.piped, ..SimpleCommand::default() };
        loop {
            match self.peek()? {
                Token::Redirect("|&") => break,
                Token::Redirect(_) => command.redirects.push(self.redirection()?),
                Token::Word(_) => {
                    let Token::Word(word) = self.next()? else { return Err(UNEXPECTED) };
                    if command.argv.is_empty() && word.assignment {
                        command.assigns = true;
                    } else {
                        command.argv.push(word.into_word());
                    }
                }
                Token::Operator("(") => {
                    if command.argv.len() != 1 || !command.redirects.is_empty() || command.assigns {
                        return Err(UNEXPECTED);
                    }
                    self.next()?;
                    self.operator(")")?;
                    self.newlines()?;
                    self.out.structured = true;
                    return self.deeper(Self::command);
                }
                _ => break,
            }
        }
        if command.argv.is_empty() && command.redirects.is_empty() && !command.assigns {
            return Err(UNEXPECTED);
        }
        self.out.commands.push(command);
        Ok(())
    }

    fn redirection(&mut self) -> Result<Redirect, Opaque> {
        let Token::Redirect(operator) = self.next()? else { return Err(UNEXPECTED) };
        let Token::Word(target) = self.next()? else { return Err(UNEXPECTED) };
        if let "<<" | "<<-" = operator {
            if !target.certain() {
                return Err(UNEXPECTED);
            }
            let (end, verbatim, strip_tabs) = (target.text.clone(), target.quoted, operator == "<<-");
            self.here.push(HereDocument { end, verbatim, strip_tabs });
        }
        // Without `&>` in a shell's syntax, it puts the command in the background.
        self.out.background |= operator.starts_with('&');
        Ok(Redirect { writes: operator.contains('>'), is_text: operator.starts_with("<<"), target: target.into_word() })
    }

    fn plain_word(&mut self) -> Result<RawWord, Opaque> {
        match self.next()? {
            Token::Word(word) if !word.quoted && word.certain() => Ok(word),
            _ => Err(UNEXPECTED),
        }
    }

    fn keyword(&mut self, text: &str) -> Result<(), Opaque> {
        match self.next()? {
            Token::Word(word) if word.is(text) => Ok(()),
            _ => Err(UNEXPECTED),
        }
    }

    fn operator(&mut self, text: &'static str) -> Result<(), Opaque> {
        if self.next()? == Token::Operator(text) { Ok(()) } else { Err(UNEXPECTED) }
    }

    fn newlines(&mut self) -> Result<(), Opaque> {
        while *self.peek()? == Token::Newline {
            self.next()?;
        }
        Ok(())
    }
}
