//! Colours, where they help and nobody objects.

use std::fmt;

use crate::screen;

/// Whether text is painted; decided once for each stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    colours: bool,
}

impl Style {
    /// For files and tests: no text is painted.
    pub(crate) const PLAIN: Self = Self { colours: false };
    /// For tests: text is painted.
    #[cfg(test)]
    pub(crate) const COLOURED: Self = Self { colours: true };

    /// For stdout: colours on a terminal, unless `NO_COLOR` is set.
    pub(crate) fn for_stdout() -> Self {
        Self::for_stream(screen::stdout_is_terminal())
    }

    /// For stderr: colours on a terminal, unless `NO_COLOR` is set.
    pub(crate) fn for_stderr() -> Self {
        Self::for_stream(screen::stderr_is_terminal())
    }

    fn for_stream(is_terminal: bool) -> Self {
        // Read here and not handed in: these variables belong to the terminal, as the stream itself.
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self { colours: is_terminal && !refused && !dumb }
    }

    /// True if text is painted, for libraries that paint by themselves.
    pub(crate) fn colours(self) -> bool {
        self.colours
    }

    pub(crate) fn dim<T>(self, text: T) -> PaintedText<T> {
        self.paint("2", text)
    }

    pub(crate) fn bold<T>(self, text: T) -> PaintedText<T> {
        self.paint("1", text)
    }

    pub(crate) fn red<T>(self, text: T) -> PaintedText<T> {
        self.paint("31", text)
    }

    pub(crate) fn green<T>(self, text: T) -> PaintedText<T> {
        self.paint("32", text)
    }

    pub(crate) fn yellow<T>(self, text: T) -> PaintedText<T> {
        self.paint("33", text)
    }

    /// A text with several of the codes at once, such as bold and underlined.
    pub(crate) fn painted(self, codes: &[&str], text: &str) -> String {
        match self.colours && !codes.is_empty() {
            true => format!("{}{text}\x1b[0m", codes.iter().map(|code| format!("\x1b[{code}m")).collect::<String>()),
            false => text.to_owned(),
        }
    }

    fn paint<T>(self, code: &'static str, text: T) -> PaintedText<T> {
        PaintedText { code: self.colours.then_some(code), text }
    }
}

/// A text that displays with its escape sequences, or plainly.
pub(crate) struct PaintedText<T> {
    code: Option<&'static str>,
    text: T,
}

impl<T: fmt::Display> fmt::Display for PaintedText<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => {
                write!(f, "\x1b[{code}m")?;
                self.text.fmt(f)?;
                f.write_str("\x1b[0m")
            }
            None => self.text.fmt(f),
        }
    }
}
