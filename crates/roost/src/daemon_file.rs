//! `daemon.json`: the process and the addresses of the running daemon, for programs that do not speak its protocol.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use roost_process::Process;
use serde::Serialize;

/// The content of the file; removed when the daemon ends.
#[derive(Debug, Serialize)]
pub(crate) struct DaemonFile {
    /// The daemon's process; its start time tells a later process with the same id apart.
    #[serde(flatten)]
    pub(crate) process: Process,
    /// The TCP address; absent if the daemon listens on its socket only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) address: Option<String>,
    /// The URL of that address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) http: Option<String>,
    /// The path of the Unix socket, on which commands connect.
    pub(crate) socket: PathBuf,
    /// A command started it, so it leaves by itself.
    pub(crate) auto_started: bool,
    /// The version of the binary that runs.
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
