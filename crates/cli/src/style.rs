//! Colours, where they help and nobody objects.

use std::fmt;

use crate::screen;

/// Whether to paint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    colours: bool,
}

impl Style {
    /// Without colours.
    pub(crate) const PLAIN: Self = Self { colours: false };

    /// For stdout: colours on a terminal, unless `NO_COLOR` is set.
    pub(crate) fn of_stdout() -> Self {
        Self::of(screen::stdout_is_terminal())
    }

    /// The same for stderr.
    pub(crate) fn of_stderr() -> Self {
        Self::of(screen::stderr_is_terminal())
    }

    fn of(is_terminal: bool) -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self { colours: is_terminal && !refused && !dumb }
    }

    /// Whether to paint.
    pub(crate) fn colours(self) -> bool {
        self.colours
    }

    pub(crate) fn dim<T>(self, text: T) -> Painted<T> {
        self.paint("2", text)
    }

    pub(crate) fn bold<T>(self, text: T) -> Painted<T> {
        self.paint("1", text)
    }

    pub(crate) fn red<T>(self, text: T) -> Painted<T> {
        self.paint("31", text)
    }

    pub(crate) fn green<T>(self, text: T) -> Painted<T> {
        self.paint("32", text)
    }

    pub(crate) fn yellow<T>(self, text: T) -> Painted<T> {
        self.paint("33", text)
    }

    fn paint<T>(self, code: &'static str, text: T) -> Painted<T> {
        Painted { code: self.colours.then_some(code), text }
    }
}

/// A text with its colour.
pub(crate) struct Painted<T> {
    code: Option<&'static str>,
    text: T,
}

impl<T: fmt::Display> fmt::Display for Painted<T> {
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
