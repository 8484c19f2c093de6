//! The command line by which [`crate::Holder`] starts the holder process: written and parsed here only.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::{fd::RawFd, unix::net::UnixStream},
    path::PathBuf,
    time::Duration,
};

use super::descriptors;
use crate::{Ladder, Raise, RunId, Wall};

/// The parameters of a holder. `parse` is the inverse of `write`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandLine {
    pub(crate) run: RunId,
    pub(crate) label: String,
    pub(crate) records: PathBuf,
    pub(crate) ladder: Ladder,
    /// How long the runtime may run without a daemon; zero ends it together with its daemon.
    pub(crate) orphan_timeout: Duration,
    /// What is hidden from the runtime.
    pub(crate) wall: Option<Wall>,
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
            millis(self.orphan_timeout),
        ];
        words.extend(write_wall(self.wall.as_ref()));
        words.extend([self.cwd.clone().into(), self.program.clone().into()]);
        words.extend(self.args.iter().cloned());
        words
    }

    /// Parses the arguments, takes over the control socket, whose descriptor is the first one, and closes all others.
    pub(crate) fn parse(mut words: impl Iterator<Item = OsString>) -> io::Result<(Self, UnixStream)> {
        let control = descriptors::keep_only(number(words.next())?)?;
        Ok((Self::parse_rest(words)?, control))
    }

    fn parse_rest(mut words: impl Iterator<Item = OsString>) -> io::Result<Self> {
        let mut text = |name: &str| words.next().ok_or_else(|| missing(name));
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
            orphan_timeout: Duration::from_millis(number(Some(text("patience")?))?),
            wall: parse_wall(&mut text)?,
            cwd: text("cwd")?.into(),
            program: text("program")?.into(),
            args: words.collect(),
        })
    }
}

const NO_WALL: &str = "none";
const WHERE_FREE: &str = "where-free";
const ALWAYS: &str = "always";

/// Writes when the wall is raised, what it hides, and how many and which paths stay visible.
fn write_wall(wall: Option<&Wall>) -> Vec<OsString> {
    let Some(wall) = wall else { return vec![NO_WALL.into()] };
    let raise = match wall.raise {
        Raise::WhereFree => WHERE_FREE,
        Raise::Always => ALWAYS,
    };
    let mut words = vec![raise.into(), wall.hidden.clone().into(), wall.shown.len().to_string().into()];
    words.extend(wall.shown.iter().map(|path| path.clone().into()));
    words
}

fn parse_wall(text: &mut impl FnMut(&str) -> io::Result<OsString>) -> io::Result<Option<Wall>> {
    let raise = match text("wall")?.to_str() {
        Some(NO_WALL) => return Ok(None),
        Some(WHERE_FREE) => Raise::WhereFree,
        Some(ALWAYS) => Raise::Always,
        _ => return Err(missing("wall")),
    };
    let hidden = text("hidden")?.into();
    let count: usize = number(Some(text("shown")?))?;
    let shown = (0..count).map(|_| Ok(text("shown")?.into())).collect::<io::Result<_>>()?;
    Ok(Some(Wall { raise, hidden, shown }))
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
        let wall =
            Wall { raise: Raise::Always, hidden: "/state".into(), shown: vec!["/state/a b".into(), "/state/c".into()] };
        let line = CommandLine {
            run: RunId::fresh(),
            label: "a label".into(),
            records: "/records".into(),
            ladder: Ladder::default(),
            orphan_timeout: Duration::from_secs(7),
            wall: Some(wall),
            cwd: "/".into(),
            program: "/bin/agent".into(),
            args: vec!["--flag".into(), "".into(), "--".into()],
        };
        let words = line.write(7);
        assert_eq!(CommandLine::parse_rest(words.into_iter().skip(1)).unwrap(), line);
        let open = CommandLine { wall: None, ..line };
        assert_eq!(CommandLine::parse_rest(open.write(7).into_iter().skip(1)).unwrap(), open);
    }

    #[test]
    fn a_cut_or_foreign_command_line_is_an_error() {
        for words in [vec![], vec!["x"], vec!["1"], vec!["987654"]] {
            assert!(CommandLine::parse(words.into_iter().map(OsString::from)).is_err());
        }
    }
}
