//! Why an operation in a workspace failed.

use std::io;

use crate::git::GitKind;

/// Why an operation in a workspace failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The path leads out of the workspace, by `..` or through a link.
    #[error("{path:?} is not a path inside the workspace: name it relative to the workspace's folder, without \"..\"")]
    PathTraversal {
        /// The path as the caller wrote it.
        path: String,
    },
    /// There is nothing at the path.
    #[error("there is no {path:?} in the workspace")]
    NotFound {
        /// The path as the caller wrote it.
        path: String,
    },
    /// The path is a folder, a pipe or a device, so it cannot be read as a file.
    #[error("{path:?} is {kind}, not a file")]
    NotAFile {
        /// The path as the caller wrote it.
        path: String,
        /// What is there instead, such as `a folder`.
        kind: &'static str,
    },
    /// The file is bigger than the limit, and is no text that could be cut.
    #[error("{path:?} has {size} bytes, and {limit} may be read at once: ask for a part of it, or for more")]
    TooLarge {
        /// The path as the caller wrote it.
        path: String,
        /// The file's size in bytes.
        size: u64,
        /// The limit, in bytes.
        limit: u64,
    },
    /// A folder was needed, and there is something else or nothing at the path.
    #[error("there is no folder {path:?} in the workspace")]
    NotADirectory {
        /// The path as the caller wrote it.
        path: String,
    },
    /// The file system denies this to the user who runs Roost.
    #[error("{path:?}: permission denied to the user who runs Roost")]
    Denied {
        /// The path as the caller wrote it.
        path: String,
    },
    /// The workspace's folder cannot be opened.
    #[error("the workspace's folder {folder:?} cannot be opened: {source}")]
    NoRoot {
        /// The path of the workspace's folder.
        folder: String,
        /// The operating system's error.
        source: io::Error,
    },
    /// The search pattern is not a valid regular expression.
    #[error("the pattern is no regular expression: {message}")]
    BadPattern {
        /// The parser's message.
        message: String,
    },
    /// Any other error of the operating system.
    #[error("{path:?}: {source}")]
    Io {
        /// The path as the caller wrote it.
        path: String,
        /// The operating system's error.
        source: io::Error,
    },
    /// A git operation failed.
    #[error("git {operation} failed: {message}")]
    Git {
        /// The operation's name on the wire, such as `push`.
        operation: &'static str,
        /// What git wrote, with advice where there is some.
        message: String,
        /// The cause, as far as git's message tells it; clients get its word.
        kind: GitKind,
    },
}

impl Error {
    /// Converts `NotFound` to `NotADirectory`, for operations that need a folder.
    #[must_use]
    pub fn for_folder(self) -> Self {
        match self {
            Self::NotFound { path } => Self::NotADirectory { path },
            other => other,
        }
    }

    /// Replaces the operation of a git error, for operations that consist of several git calls.
    pub fn during(self, operation: &'static str) -> Self {
        match self {
            Self::Git { message, kind, .. } => Self::Git { operation, message, kind },
            other => other,
        }
    }

    /// The error that an I/O error about a path means.
    pub(crate) fn io(path: &str, source: io::Error) -> Self {
        let path = path.to_owned();
        // What leads out of the root: cap-std says it in words, the kernel with EXDEV; a circle of links leads nowhere.
        let leads_out = source.raw_os_error() == Some(rustix::io::Errno::XDEV.raw_os_error())
            || source.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
            || (source.kind() == io::ErrorKind::PermissionDenied && source.raw_os_error().is_none());
        match source.kind() {
            _ if leads_out => Self::PathTraversal { path },
            // Nothing can have a name that is too long.
            io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename => Self::NotFound { path },
            io::ErrorKind::NotADirectory => Self::NotADirectory { path },
            io::ErrorKind::PermissionDenied => Self::Denied { path },
            _ => Self::Io { path, source },
        }
    }
}
