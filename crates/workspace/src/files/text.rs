//! Text files as an agent's client reads and writes them: whole or by lines, and nothing beyond the root.

use std::io::{Read, Write};

use crate::{Error, RelPath, Root};

/// The largest file that is read, in bytes.
const MAX_FILE: u64 = 10 << 20;

/// Reads lines of a text file: from `line` on (the first is 1), at most `limit` of them. Bytes that are no UTF-8 become
/// replacement characters. Waits for the disk.
pub fn read_text(root: &Root, path: &RelPath, line: Option<u32>, limit: Option<u32>) -> Result<String, Error> {
    let (file, metadata) = root.open_file(path)?;
    if metadata.len() > MAX_FILE {
        return Err(Error::TooLarge { path: path.to_string(), size: metadata.len(), limit: MAX_FILE });
    }
    let mut bytes = Vec::new();
    // The file may have grown since.
    file.take(MAX_FILE).read_to_end(&mut bytes).map_err(|source| Error::io(path.as_str(), source))?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if line.is_none() && limit.is_none() {
        return Ok(text);
    }
    let skipped = line.map_or(0, |line| line.saturating_sub(1) as usize);
    let wanted = limit.map_or(usize::MAX, |limit| limit as usize);
    Ok(text.split_inclusive('\n').skip(skipped).take(wanted).collect())
}

/// Replaces or creates a text file, with the folders that it needs. The file keeps its permissions. Waits for the disk.
pub fn write_text(root: &Root, path: &RelPath, content: &str) -> Result<(), Error> {
    let mut file = root.create_file(path)?;
    let written = file.set_len(0).and_then(|()| file.write_all(content.as_bytes()));
    written.map_err(|source| Error::io(path.as_str(), source))
}
