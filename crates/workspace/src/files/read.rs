//! Reads a file, or a range of it.

use std::io::{Read, Seek, SeekFrom};

use super::sniff::{HEAD, sniff};
use crate::{Error, RelPath, Root};

/// The range of a file to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteRange {
    /// The first byte; absent means that the whole file is wanted.
    pub offset: Option<u64>,
    /// The most bytes to read.
    pub limit: u64,
}

/// A range of a file, with what is known of the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// The bytes that were read.
    pub bytes: Vec<u8>,
    /// The position of the first byte in the file; after the requested one where that cut a character.
    pub offset: u64,
    /// The size of the whole file, in bytes.
    pub size: u64,
    /// The bytes are text in UTF-8, cut between two characters.
    pub is_text: bool,
    /// The media type that the file's first bytes tell, such as `image/png`.
    pub media_type: &'static str,
}

impl Content {
    /// Whether the file goes on after these bytes.
    pub fn is_truncated(&self) -> bool {
        self.offset + (self.bytes.len() as u64) < self.size
    }
}

/// Reads a range of a file. A long text is cut, because its beginning is a useful preview. A binary file that is wanted
/// as a whole must fit the limit, because half a picture shows nothing. Waits for the disk.
pub fn read(root: &Root, path: &RelPath, part: ByteRange) -> Result<Content, Error> {
    let failed = |source| Error::io(path.as_str(), source);
    let (mut file, metadata) = root.open_file(path)?;
    let mut head = Vec::new();
    (&mut file).take(HEAD as u64).read_to_end(&mut head).map_err(failed)?;
    let sniffed = sniff(path.name(), &head);
    if !sniffed.is_text && part.offset.is_none() && metadata.len() > part.limit {
        return Err(Error::TooLarge { path: path.to_string(), size: metadata.len(), limit: part.limit });
    }
    let mut offset = part.offset.unwrap_or(0);
    file.seek(SeekFrom::Start(offset)).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(part.limit).read_to_end(&mut bytes).map_err(failed)?;
    // Somebody may be writing: what was read counts for more than what the file said before.
    let size = metadata.len().max(offset + bytes.len() as u64);
    let mut is_text = sniffed.is_text;
    if is_text {
        match whole_characters(&bytes) {
            Some(range) => {
                offset += range.start as u64;
                bytes.truncate(range.end);
                bytes.drain(..range.start);
            }
            None => is_text = false,
        }
    }
    let media_type = if sniffed.is_text && !is_text { "application/octet-stream" } else { sniffed.media_type };
    Ok(Content { bytes, offset, size, is_text, media_type })
}

/// The range of complete UTF-8 characters; only the first and the last may be cut off. `None` if the bytes are not
/// UTF-8.
fn whole_characters(bytes: &[u8]) -> Option<std::ops::Range<usize>> {
    let start = bytes.iter().take(3).take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count();
    match std::str::from_utf8(&bytes[start..]) {
        Ok(_) => Some(start..bytes.len()),
        Err(error) if error.error_len().is_none() => Some(start..start + error.valid_up_to()),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters() {
        let text = "aä€b".as_bytes();
        let cases =
            [(0..7, Some(0..7)), (0..2, Some(0..1)), (2..7, Some(1..5)), (4..6, Some(2..2)), (0..5, Some(0..3))];
        for (part, expected) in cases {
            assert_eq!(whole_characters(&text[part.clone()]), expected, "{part:?}");
        }
        assert_eq!(whole_characters(b"a\xffb"), None);
    }
}
