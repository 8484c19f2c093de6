//! The position from which a client resumes: after an event, or after some of its notifications.

use std::fmt;
use std::str::FromStr;

use roost_log::{Cursor, Start};
use roost_rpc::Fault;

/// The text of [`ResumePoint::Beginning`].
const BEGINNING: &str = "beginning";
/// The prefix of a cursor whose holder was told that some events after it are gone.
const SURVIVING: char = '!';

/// The position from which a client resumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResumePoint {
    /// At the oldest event that is still stored.
    Beginning,
    /// After this event, or after some of its notifications.
    After {
        cursor: Cursor,
        /// How many notifications of that event the client has seen; `None` means all.
        seen: Option<usize>,
        /// The client was told that events after the cursor are gone, so they are skipped without an error.
        surviving: bool,
    },
}

impl ResumePoint {
    /// The position in the log: before the event if some of its notifications were not seen.
    pub(crate) fn start(self) -> Start {
        match self {
            Self::Beginning => Start::Beginning,
            Self::After { cursor, seen, surviving } => {
                let cursor = if seen.is_some() { cursor.just_before() } else { cursor };
                if surviving { Start::Surviving(cursor) } else { Start::After(cursor) }
            }
        }
    }

    /// How many notifications of this event the client has seen.
    pub(crate) fn seen_notifications(self, event: Cursor) -> usize {
        match self {
            Self::After { cursor, seen: Some(seen), .. } if cursor == event => seen,
            _ => 0,
        }
    }

    /// The same position for a client that was told that events are missing.
    pub(crate) fn surviving(self) -> Self {
        match self {
            Self::After { cursor, seen, .. } => Self::After { cursor, seen, surviving: true },
            Self::Beginning => self,
        }
    }
}

impl fmt::Display for ResumePoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Beginning => f.write_str(BEGINNING),
            Self::After { cursor, seen, surviving } => {
                if *surviving {
                    write!(f, "{SURVIVING}")?;
                }
                match seen {
                    Some(seen) => write!(f, "{cursor}~{seen}"),
                    None => write!(f, "{cursor}"),
                }
            }
        }
    }
}

impl FromStr for ResumePoint {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        if text == BEGINNING {
            return Ok(Self::Beginning);
        }
        let bad = || Fault::params(format_args!("\"{text}\" is not a cursor; send one that came with an event"));
        let (rest, surviving) = text.strip_prefix(SURVIVING).map_or((text, false), |rest| (rest, true));
        let (cursor, seen) = match rest.split_once('~') {
            Some((cursor, seen)) => (cursor, Some(seen.parse().map_err(|_| bad())?)),
            None => (rest, None),
        };
        Ok(Self::After { cursor: cursor.parse().map_err(|_| bad())?, seen, surviving })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_survives_being_text() {
        for text in ["beginning", "b12.345", "b7", "b12.345~2", "!b12.345", "!b12.345~1"] {
            assert_eq!(text.parse::<ResumePoint>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn text_that_is_no_place_is_refused() {
        for text in ["", "12", "b12.345~", "b12.345~x", "~1", "!!b1", "b1~-1"] {
            assert!(text.parse::<ResumePoint>().is_err(), "{text}");
        }
    }
}
