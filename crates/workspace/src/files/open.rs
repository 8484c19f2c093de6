//! Opens a file for streaming.

use std::io::{Read, Seek};

use super::sniff::{HEAD, sniff};
use crate::{Error, RelPath, Root};

/// An open file, with its size and type.
#[derive(Debug)]
pub struct OpenFile {
    /// The file, at its beginning.
    pub file: std::fs::File,
    /// Its size in bytes when it was opened.
    pub size: u64,
    /// The media type that its first bytes tell.
    pub media_type: &'static str,
}

/// Opens a file beneath the root. Waits for the disk.
pub fn open(root: &Root, path: &RelPath) -> Result<OpenFile, Error> {
    let (file, metadata) = root.open_file(path)?;
    let failed = |source| Error::io(path.as_str(), source);
    let (mut file, mut head) = (file.into_std(), Vec::new());
    (&mut file).take(HEAD as u64).read_to_end(&mut head).map_err(failed)?;
    file.rewind().map_err(failed)?;
    Ok(OpenFile { file, size: metadata.len(), media_type: sniff(path.name(), &head).media_type })
}
