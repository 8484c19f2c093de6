//! The errors of starting, reading and ending runtimes.

use std::{io, path::PathBuf};

/// Every failure of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The program is not in any directory of the launch environment's `PATH`, or not at its path.
    #[error("`{program}` was not found {searched}; install it, or give its full path")]
    NotFound {
        /// The program as asked for.
        program: String,
        /// Where it was looked for, as `in PATH`. The directories are not listed: one message for each agent would repeat
        /// them all.
        searched: String,
    },
    /// The program is there, but it is not an executable file.
    #[error(
        "`{path}` is not an executable file; check its permissions (chmod +x), or give the path of the program itself"
    )]
    NotExecutable {
        /// The file that was found.
        path: PathBuf,
    },
    /// The working directory cannot be entered.
    #[error("cannot work in `{cwd}`: {source}; choose an existing directory that this user may enter")]
    BadCwd {
        /// The directory of the launch.
        cwd: PathBuf,
        /// Not there, not a directory, or no permission.
        source: io::Error,
    },
    /// The system refused to execute the program.
    #[error(
        "`{program}` could not be started: {message}; for a script, check that the interpreter of its first line exists"
    )]
    Exec {
        /// The program's absolute path, after the lookup in `PATH`.
        program: PathBuf,
        /// The system's error, as the holder reports it.
        message: String,
    },
    /// A runtime cannot be taken over.
    #[error("run {run} cannot be taken over: {why}")]
    NotAdopted {
        /// The run of the earlier daemon.
        run: crate::RunId,
        /// The holder is gone or does not answer, or its files cannot be opened.
        why: String,
    },
    /// The holder process itself could not be started.
    #[error(
        "the holder `{program}` could not be started: {source}; check the installation and the process limits (ulimit -u, ulimit -n)"
    )]
    Holder {
        /// The program that was to be started as the holder.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The holder ended before it said whether the runtime started.
    #[error(
        "the holder `{program}` ended before the runtime started ({status}); check that it is this version of roost"
    )]
    HolderDied {
        /// The program that was started as the holder.
        program: PathBuf,
        /// Its exit status and what it wrote to stderr.
        status: String,
    },
    /// The text cannot be a run id.
    #[error("`{0}` is not a run id: use 1 to 64 of A-Z a-z 0-9 - _")]
    BadRunId(String),
    /// The runtime no longer reads its stdin.
    #[error("the runtime has closed its stdin: {0}")]
    StdinClosed(io::Error),
    /// The runtime's stdout could not be read.
    #[error("the runtime's stdout could not be read: {0}")]
    Read(io::Error),
    /// A file or directory in Roost's state could not be read, written or removed.
    #[error("cannot use `{path}`: {source}; check that it belongs to this user and that the disk is not full")]
    Storage {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The async runtime is shutting down, so the work was not done.
    #[error("roost is shutting down")]
    ShuttingDown,
}
