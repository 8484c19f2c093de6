//! How much room the log takes, which costs the same however long it is.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use crate::error::{Error, Result};

/// Room on the disk of the log, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storage {
    /// What the log's files take: the database, and what is not in it yet.
    pub used: u64,
    /// What others may still write there.
    pub free: u64,
}

impl Storage {
    /// Measures the disk of the database at this path.
    pub(crate) fn measure(path: &Path) -> Result<Self> {
        let mut ahead = OsString::from(path);
        ahead.push("-wal");
        // The second file is absent while nothing was written.
        let used =
            [path, Path::new(&ahead)].into_iter().map(|file| fs::metadata(file).map_or(0, |data| data.len())).sum();
        let disk = rustix::fs::statvfs(path).map_err(|error| Error::io(path)(error.into()))?;
        Ok(Self { used, free: disk.f_bavail.saturating_mul(disk.f_frsize) })
    }
}
