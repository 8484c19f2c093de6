//! The log's errors. Their messages say what to do.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::ErrorCode;

use crate::cursor::Cursor;
use crate::lock::Holder;
use crate::stream::{Seq, StreamId};

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation of the log failed. Cheap to clone, because one failed commit answers many callers.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// There is no database yet.
    #[error("no session has been run here yet: {} does not exist", path.display())]
    NotFound {
        /// Where the database would be.
        path: PathBuf,
    },
    /// A newer Roost wrote the database.
    #[error(
        "{} was written by a newer Roost (version {found} of its tables, this one knows up to {supported}); upgrade Roost",
        path.display()
    )]
    Newer {
        /// The file of the database.
        path: PathBuf,
        /// The version of the schema that it has.
        found: u32,
        /// The newest version that this Roost reads.
        supported: u32,
    },
    /// Others on this machine can look into the state directory.
    #[error(
        "other users of this machine can look into {} (its mode is {mode:o}); run `chmod 700 {}` and try again",
        dir.display(), quoted(dir)
    )]
    Exposed {
        /// The state directory that must be made private.
        dir: PathBuf,
        /// Its present permission bits, such as `0o755`.
        mode: u32,
    },
    /// The state directory, or something in it, is another user's.
    #[error("{} belongs to another user (uid {owner}); choose another directory with `--state`", path.display())]
    Foreign {
        /// The directory or file that another user owns.
        path: PathBuf,
        /// The user id of its owner.
        owner: u32,
    },
    /// Something in the state directory is a link.
    #[error("{} is a link, and Roost follows none in its state directory; run `rm {}` and try again", path.display(), quoted(path))]
    Link {
        /// The symbolic link, which may have been planted by another program.
        path: PathBuf,
    },
    /// The file is damaged, or not a database at all.
    #[error(
        "{} is damaged or not a Roost database ({reason}); run `roost check` to see what can be saved, or move the file aside to start anew",
        path.display()
    )]
    Corrupt {
        /// The damaged file.
        path: PathBuf,
        /// SQLite's own message.
        reason: String,
    },
    /// The file, or the file system that it is on, takes no writes.
    #[error(
        "{} is read-only; make it and its directory writable, or choose another directory with `--state`",
        path.display()
    )]
    ReadOnlyFile {
        /// The file of the database.
        path: PathBuf,
    },
    /// A stored event that this version cannot read.
    #[error("event {seq} of stream {stream} cannot be read ({reason}); run `roost check`")]
    Unreadable {
        /// The stream that it belongs to.
        stream: StreamId,
        /// Its number in the stream.
        seq: Seq,
        /// What was wrong with it.
        reason: Arc<str>,
    },
    /// Retention removed events after the asked position.
    #[error("the events of stream {stream} before {resume_at} were removed by retention; resume at {resume_at}")]
    Truncated {
        /// The stream that was read.
        stream: StreamId,
        /// Its first event that is still stored.
        resume_at: Seq,
    },
    /// The requested position lies after the stream's end.
    #[error(
        "stream {stream} ends at {last_seq}, there is no event {seq} to continue after; read it again from the start"
    )]
    Ahead {
        /// The stream that was read.
        stream: StreamId,
        /// The position that the caller asked for.
        seq: Seq,
        /// The stream's last event.
        last_seq: Seq,
    },
    /// The cursor is not of this log, or lies after its end.
    #[error("cursor {0} is not a position in this log; start again from the beginning")]
    UnknownCursor(Cursor),
    /// The text is not a cursor.
    #[error("\"{0}\" is not a cursor")]
    BadCursor(String),
    /// One event is too big to store.
    #[error("an event of {bytes} bytes is too big for the log (at most {max}); store it as an artifact")]
    TooBig {
        /// How many bytes it has.
        bytes: usize,
        /// How many it may have.
        max: usize,
    },
    /// The log was opened for reading.
    #[error("the log is open for reading only, because another process holds the state directory")]
    ReadOnly,
    /// The log was closed.
    #[error("the log is closed")]
    Closed,
    /// The writer gave up, and every later append fails.
    #[error("the log can no longer be written: {reason}; restart Roost, and run `roost check` if it stays")]
    Failed {
        /// Why the writer gave up.
        reason: Arc<str>,
    },
    /// Another process uses the state directory.
    #[error("{} is in use by {}", dir.display(), holder.as_ref().map_or_else(|| "another Roost".to_owned(), Holder::to_string))]
    Held {
        /// The state directory that is locked.
        dir: PathBuf,
        /// The process that holds it; `None` if the lock file does not say.
        holder: Option<Holder>,
    },
    /// A file could not be used.
    #[error("cannot use {}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: Arc<std::io::Error>,
    },
    /// SQLite failed in a way that is none of the above.
    #[error("the log's database failed: {0}")]
    Store(Arc<rusqlite::Error>),
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(Arc::new(error))
    }
}

/// A path quoted for a shell, so that the suggested command can be copied.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+,@%".contains(&byte);
    if text.bytes().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

impl Error {
    /// Adds the file's path to SQLite's report that the file is damaged or cannot be written.
    pub(crate) fn at(self, path: &Path) -> Self {
        let Self::Store(error) = &self else { return self };
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                Self::Corrupt { path: path.into(), reason: error.to_string() }
            }
            Some(ErrorCode::ReadOnly) => Self::ReadOnlyFile { path: path.into() },
            _ => self,
        }
    }

    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { path: path.into(), source: Arc::new(source) }
    }

    /// Whether the failure may go away by itself: a full disk, a failing device, or a lock of another process.
    pub(crate) fn is_transient(&self) -> bool {
        let Self::Store(error) = self else { return false };
        matches!(
            error.sqlite_error_code(),
            Some(
                ErrorCode::DiskFull
                    | ErrorCode::SystemIoFailure
                    | ErrorCode::CannotOpen
                    | ErrorCode::DatabaseBusy
                    | ErrorCode::DatabaseLocked
            )
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_that_cannot_be_written_says_which_file_and_what_to_do() {
        let sqlite = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_READONLY), None);
        let said = Error::from(sqlite).at(Path::new("/state/roost.db")).to_string();
        assert!(said.starts_with("/state/roost.db is read-only; make it"), "{said}");
    }
}
