//! Checks a program's arguments against the table of its known options.

use crate::shell::PlainWord;

/// How many operands, and which, a program may have and still only read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operands {
    /// Any number. The program has no option that writes, so even a file that is named like an option does no harm.
    Any,
    /// Any number, but the program has options that write, so no operand may look like an option.
    Named,
    /// Like `Named`, but at most this many: a further one would be written to.
    AtMost(usize),
}

/// The options and operands with which a program only reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownOptions {
    /// Options of one letter without a value.
    pub(super) flags: &'static str,
    /// Options of one letter with a value.
    pub(super) valued: &'static str,
    /// Long options, apart by spaces: `name` without a value, `name=` with one, `name?` with one after `=` or none.
    pub(super) long: &'static str,
    /// `-5` is allowed and means a number of lines.
    pub(super) numeric: bool,
    pub(super) operands: Operands,
}

impl KnownOptions {
    /// Whether every argument is known, and the operands are few enough.
    pub(super) fn accepts(&self, args: &[PlainWord]) -> bool {
        self.operands_of(args).is_some_and(|operands| match self.operands {
            Operands::Any | Operands::Named => true,
            Operands::AtMost(most) => operands.len() <= most && operands.iter().all(|word| word.literal().is_some()),
        })
    }

    /// The operands, if every argument is known.
    pub(super) fn operands_of<'a>(&self, args: &'a [PlainWord]) -> Option<Vec<&'a PlainWord>> {
        let mut operands: Vec<&PlainWord> = Vec::new();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            // Where operands count, an option after one is an operand to some systems.
            let late = matches!(self.operands, Operands::AtMost(_)) && !operands.is_empty();
            match arg {
                PlainWord::Variable => return None,
                PlainWord::Files(pattern) if pattern.starts_with('-') => {
                    let (name, _) = pattern.strip_prefix("--")?.split_once('=')?;
                    if !self.has_long(name, '=') {
                        return None;
                    }
                }
                PlainWord::Files(_) if arg.may_be_option() && self.operands != Operands::Any => return None,
                PlainWord::Files(_) => operands.push(arg),
                PlainWord::Literal(text) if text == "--" => {
                    operands.extend(args.by_ref());
                    if operands.contains(&&PlainWord::Variable) {
                        return None;
                    }
                }
                PlainWord::Literal(text) if !text.starts_with('-') || text == "-" => operands.push(arg),
                PlainWord::Literal(_) if late => return None,
                PlainWord::Literal(text) => {
                    let takes_next = match text.strip_prefix("--") {
                        Some(long) => self.long_option(long)?,
                        None => self.short_options(&text[1..])?,
                    };
                    if takes_next && !args.next().is_some_and(is_value) {
                        return None;
                    }
                }
            }
        }
        Some(operands)
    }

    /// Whether a known long option takes the next argument as its value.
    fn long_option(&self, option: &str) -> Option<bool> {
        match option.split_once('=') {
            Some((name, _)) => (self.has_long(name, '=') || self.has_long(name, '?')).then_some(false),
            None if self.has_long(option, '=') => Some(true),
            None => (self.has_long(option, '?') || self.long.split(' ').any(|known| known == option)).then_some(false),
        }
    }

    fn has_long(&self, name: &str, value: char) -> bool {
        self.long.split(' ').any(|known| known.strip_suffix(value) == Some(name))
    }

    /// Whether the last of known one-letter options takes the next argument as its value.
    fn short_options(&self, letters: &str) -> Option<bool> {
        if self.numeric && letters.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(false);
        }
        for (at, letter) in letters.char_indices() {
            if self.valued.contains(letter) {
                return Some(at + letter.len_utf8() == letters.len());
            }
            if !self.flags.contains(letter) {
                return None;
            }
        }
        Some(false)
    }
}

/// Whether a word can only be the value of the option before it, also where that option takes none.
fn is_value(word: &PlainWord) -> bool {
    match word {
        PlainWord::Literal(text) => match text.strip_prefix('-') {
            Some(number) => number.bytes().all(|byte| byte.is_ascii_digit()),
            None => true,
        },
        // A pattern may become several words, of which only the first would be the value.
        PlainWord::Files(_) | PlainWord::Variable => false,
    }
}
