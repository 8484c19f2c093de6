//! `daemon.json`: what a running daemon says of itself to those who cannot ask it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use roost_process::Process;
use serde::Serialize;

/// What is in the file.
#[derive(Debug, Serialize)]
pub(crate) struct DaemonFile {
    /// The daemon.
    #[serde(flatten)]
    pub(crate) process: Process,
    /// Where it listens; absent if only on the socket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) address: Option<String>,
    /// The same as a URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) http: Option<String>,
    /// The local socket.
    pub(crate) socket: PathBuf,
    /// A command started it, so it leaves by itself.
    pub(crate) auto_started: bool,
    /// Roost's version.
    pub(crate) version: String,
}

impl DaemonFile {
    /// Writes the file so that a reader sees all of it or nothing.
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        let unfinished = path.with_extension("new");
        let mut file = roost_log::private_file().write(true).create(true).truncate(true).open(&unfinished)?;
        file.write_all(&serde_json::to_vec_pretty(self)?)?;
        std::fs::rename(unfinished, path)
    }
}
