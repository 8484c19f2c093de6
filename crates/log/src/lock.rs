//! The right to write a state directory, held by one process at a time.

use std::fmt;
use std::fs::{DirBuilder, File, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use roost_model::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::private;

/// The process that holds a state directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Its process id.
    pub pid: u32,
    /// When it was started.
    pub started: Timestamp,
    /// What it was started as.
    pub command: String,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` (process {}, since {})", self.command, self.pid, self.started)
    }
}

/// The right to write a state directory; the kernel takes it back when the last clone or the process ends.
#[derive(Clone, Debug)]
#[must_use]
pub struct StateLock {
    dir: PathBuf,
    _file: Arc<File>,
}

impl StateLock {
    /// Takes the directory, made if it is not there; [`Error::Held`] if another process has it.
    pub fn acquire(dir: &Path, command: &str) -> Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(Error::io(dir))?;
        let path = dir.join("lock");
        let io = || Error::io(&path);
        let mut file =
            private::private_file().read(true).write(true).create(true).truncate(false).open(&path).map_err(io())?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                file.read_to_string(&mut text).map_err(io())?;
                return Err(Error::Held { dir: dir.into(), holder: serde_json::from_str(&text).ok() });
            }
            Err(TryLockError::Error(error)) => return Err(io()(error)),
        }
        let holder = Holder { pid: std::process::id(), started: Timestamp::now(), command: command.into() };
        file.set_len(0).and_then(|()| file.rewind()).map_err(io())?;
        serde_json::to_writer(&file, &holder).map_err(|error| io()(error.into()))?;
        file.flush().map_err(io())?;
        Ok(Self { dir: dir.into(), _file: Arc::new(file) })
    }

    /// The directory that is held.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}
