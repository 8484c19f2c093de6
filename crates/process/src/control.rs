//! What the holder tells the daemon over the control socket, one JSON object per line.
//!
//! The other direction has a single meaning: a word means stop. So does closing it (or dying), unless the run may outlive
//! its daemon.

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
    /// It is gone, but its holder was killed before it could tell how.
    Unknown,
}

impl Exit {
    /// Whether the runtime itself said that all went well.
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
    /// To a daemon that came after the one before was lost.
    Adopted {
        runtime: Process,
        cgroup: Option<PathBuf>,
        pipes: Pipes,
        /// When the one before was lost, in milliseconds since 1970.
        alone_since: u64,
    },
    Gone {
        /// Pids that may not be signalled by us.
        left: Vec<u32>,
    },
}

/// The descriptors of the holder's from which the runtime's output can be read.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Pipes {
    pub(crate) stdout: RawFd,
    pub(crate) stderr: RawFd,
}
