//! Why something in a workspace could not be done.

use std::io;

use crate::git::GitKind;

/// Why something in a workspace could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The path leads out of the workspace, or would.
    #[error("{path:?} is not a path inside the workspace: name it relative to the workspace's folder, without \"..\"")]
    PathTraversal {
        /// As it was named.
        path: String,
    },
    /// There is nothing at the path.
    #[error("there is no {path:?} in the workspace")]
    NotFound {
        /// As it was named.
        path: String,
    },
    /// It is a folder, a pipe, a device: nothing that can be read as a file.
    #[error("{path:?} is {kind}, not a file")]
    NotAFile {
        /// As it was named.
        path: String,
        /// What it is.
        kind: &'static str,
    },
    /// It is bigger than may be read at once.
    #[error("{path:?} has {size} bytes, and {limit} may be read at once: ask for a part of it, or for more")]
    TooLarge {
        /// As it was named.
        path: String,
        /// How big it is.
        size: u64,
        /// How much may be read.
        limit: u64,
    },
    /// It is no folder, or there is nothing at all.
    #[error("there is no folder {path:?} in the workspace")]
    NotADirectory {
        /// As it was named.
        path: String,
    },
    /// The user who runs Roost may not do that.
    #[error("{path:?}: permission denied to the user who runs Roost")]
    Denied {
        /// As it was named.
        path: String,
    },
    /// The workspace's folder cannot be used.
    #[error("the workspace's folder {folder:?} cannot be opened: {source}")]
    NoRoot {
        /// Where it should be.
        folder: String,
        /// What the system said.
        source: io::Error,
    },
    /// What is searched for is no regular expression.
    #[error("the pattern is no regular expression: {message}")]
    BadPattern {
        /// What is wrong with it.
        message: String,
    },
    /// The system failed.
    #[error("{path:?}: {source}")]
    Io {
        /// As it was named.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// git could not do it.
    #[error("git {operation} failed: {message}")]
    Git {
        /// What was to be done, such as `push`.
        operation: &'static str,
        /// What git said, and what can be done about it.
        message: String,
        /// Which failure it is.
        kind: GitKind,
    },
}

impl Error {
    /// The same where a folder was wanted: what is not there is none.
    #[must_use]
    pub fn of_folder(self) -> Self {
        match self {
            Self::NotFound { path } => Self::NotADirectory { path },
            other => other,
        }
    }

    /// The same, but of the operation that a part of it failed for.
    pub fn during(self, operation: &'static str) -> Self {
        match self {
            Self::Git { message, kind, .. } => Self::Git { operation, message, kind },
            other => other,
        }
    }

    /// What the system's answer about a path means.
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
