//! The lock of a state directory: only one process at a time may write it.

use std::fmt;
use std::fs::{DirBuilder, File, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use roost_model::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::permissions;

/// The process that holds a state directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Only meaningful on this machine, and only while the lock is held.
    pub pid: u32,
    /// When the process took the lock.
    pub started: Timestamp,
    /// The command for people, such as `roost run`.
    pub command: String,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` (process {}, since {})", self.command, self.pid, self.started)
    }
}

/// The lock of a state directory. The kernel releases it when the last clone is dropped or the process ends.
#[derive(Clone, Debug)]
#[must_use]
pub struct StateLock {
    dir: PathBuf,
    _file: Arc<File>,
}

impl StateLock {
    /// Locks the directory, which is created if it is missing; [`Error::Held`] if another process has the lock.
    pub fn acquire(dir: &Path, command: &str) -> Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(Error::io(dir))?;
        let path = dir.join("lock");
        let io = || Error::io(&path);
        let mut file =
            permissions::private_file().read(true).write(true).create(true).truncate(false).open(&path).map_err(io())?;
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

    /// The directory that is locked.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}
