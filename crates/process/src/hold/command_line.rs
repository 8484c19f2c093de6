//! The command line between [`crate::Holder`] and the holder: written and read in this one place.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::{fd::RawFd, unix::net::UnixStream},
    path::PathBuf,
    time::Duration,
};

use super::descriptors;
use crate::{Ladder, RunId};

/// Everything a holder must know; `write` and `parse` are each other's inverse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandLine {
    pub(crate) run: RunId,
    pub(crate) label: String,
    pub(crate) records: PathBuf,
    pub(crate) ladder: Ladder,
    /// How long the runtime may go on without its daemon; zero to end it with it.
    pub(crate) patience: Duration,
    pub(crate) cwd: PathBuf,
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<OsString>,
}

impl CommandLine {
    pub(crate) fn write(&self, control: RawFd) -> Vec<OsString> {
        let millis = |time: Duration| time.as_millis().to_string().into();
        let mut words: Vec<OsString> = vec![
            control.to_string().into(),
            self.run.as_str().into(),
            self.label.clone().into(),
            self.records.clone().into(),
            millis(self.ladder.grace),
            millis(self.ladder.term),
            millis(self.ladder.leftover),
            millis(self.patience),
            self.cwd.clone().into(),
            self.program.clone().into(),
        ];
        words.extend(self.args.iter().cloned());
        words
    }

    /// Also takes over the control socket, whose descriptor is the first word, and closes all others.
    pub(crate) fn parse(mut words: impl Iterator<Item = OsString>) -> io::Result<(Self, UnixStream)> {
        let control = descriptors::keep_only(number(words.next())?)?;
        Ok((Self::parse_rest(words)?, control))
    }

    fn parse_rest(mut words: impl Iterator<Item = OsString>) -> io::Result<Self> {
        let mut text = |name| words.next().ok_or_else(|| missing(name));
        let utf8 = |word: OsString| word.into_string().map_err(|_| missing("text"));
        Ok(Self {
            run: RunId::try_from(utf8(text("run")?)?).map_err(io::Error::other)?,
            label: utf8(text("label")?)?,
            records: text("records")?.into(),
            ladder: Ladder {
                grace: Duration::from_millis(number(Some(text("grace")?))?),
                term: Duration::from_millis(number(Some(text("term")?))?),
                leftover: Duration::from_millis(number(Some(text("leftover")?))?),
            },
            patience: Duration::from_millis(number(Some(text("patience")?))?),
            cwd: text("cwd")?.into(),
            program: text("program")?.into(),
            args: words.collect(),
        })
    }
}

fn missing(name: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("the argument `{name}` is missing or not readable"))
}

fn number<T: std::str::FromStr>(word: Option<OsString>) -> io::Result<T> {
    let parsed = word.as_deref().and_then(OsStr::to_str).and_then(|word| word.parse().ok());
    parsed.ok_or_else(|| missing("number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_command_line_is_read_back_the_same() {
        let line = CommandLine {
            run: RunId::fresh(),
            label: "a label".into(),
            records: "/records".into(),
            ladder: Ladder::default(),
            patience: Duration::from_secs(7),
            cwd: "/".into(),
            program: "/bin/agent".into(),
            args: vec!["--flag".into(), "".into(), "--".into()],
        };
        let words = line.write(7);
        assert_eq!(CommandLine::parse_rest(words.into_iter().skip(1)).unwrap(), line);
    }

    #[test]
    fn a_cut_or_foreign_command_line_is_an_error() {
        for words in [vec![], vec!["x"], vec!["1"], vec!["987654"]] {
            assert!(CommandLine::parse(words.into_iter().map(OsString::from)).is_err());
        }
    }
}
