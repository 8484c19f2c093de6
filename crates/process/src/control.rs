//! The protocol of the control socket. The holder sends reports to the daemon, one JSON object per line.
//!
//! The daemon sends only one message, which means stop. Closing the socket, or dying, means the same, unless the run
//! may outlive its daemon.

use std::{fmt, os::fd::RawFd, path::PathBuf};

use serde::{Deserialize, Serialize};

use crate::Process;

/// How the runtime ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// It is gone, but its holder was killed before it could report how.
    Unknown,
}

impl Exit {
    /// Whether the runtime exited with the code 0.
    pub fn success(self) -> bool {
        self == Self::Code(0)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::Unknown => f.write_str("unknown exit status"),
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "report", rename_all = "snake_case")]
pub(crate) enum Report {
    Started {
        runtime: Process,
        cgroup: Option<PathBuf>,
        /// A full disk must not keep a runtime from starting, but the daemon should know.
        record_error: Option<String>,
    },
    Failed {
        message: String,
    },
    Exited {
        exit: Exit,
    },
    /// The first report to a daemon that takes the run over.
    Adopted {
        runtime: Process,
        cgroup: Option<PathBuf>,
        pipes: Pipes,
        /// When the earlier daemon was lost, in milliseconds since 1970.
        alone_since: u64,
    },
    Gone {
        /// Processes that could not be ended, because they belong to another user.
        left: Vec<u32>,
    },
}

/// The holder's file descriptors from which the runtime's output can be read, through `/proc/<pid>/fd`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Pipes {
    pub(crate) stdout: RawFd,
    pub(crate) stderr: RawFd,
}
