//! Saves the index to disk, so that it can be searched right after a restart.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::{Content, Facts, Index};

/// The first bytes of the file. The last one is the version; another version is not read.
const MAGIC: &[u8; 8] = b"roostix\x01";

/// The bytes of an entry before its path: size, time, lines, length of the path, flags.
const HEAD: usize = 8 + 8 + 4 + 2 + 1;

const TRACKED: u8 = 1;
const LINK: u8 = 1 << 1;
const LINES: u8 = 1 << 2;
const BINARY: u8 = 1 << 3;

impl Index {
    /// Writes the index to a file, atomically. Waits for the disk.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut file = BufWriter::new(tempfile::NamedTempFile::new_in(folder)?);
        file.write_all(MAGIC)?;
        for entry in self.files() {
            let facts = entry.facts();
            let (lines, content) = match facts.content {
                Some(Content::Lines(lines)) => (lines, LINES),
                Some(Content::Binary) => (0, BINARY),
                None => (0, 0),
            };
            let kind = content | if facts.tracked { TRACKED } else { 0 } | if facts.link { LINK } else { 0 };
            file.write_all(&facts.size.to_le_bytes())?;
            file.write_all(&facts.modified_ms.to_le_bytes())?;
            file.write_all(&lines.to_le_bytes())?;
            // No longer path is ever kept.
            file.write_all(&(entry.path().len() as u16).to_le_bytes())?;
            file.write_all(&[kind])?;
            file.write_all(entry.path().as_bytes())?;
        }
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.persist(path).map_err(|failed| failed.error)?;
        Ok(())
    }

    /// Reads an index from a file; `None` if the file is missing, damaged or of another version. Waits for the disk.
    pub fn load(path: &Path) -> Option<Self> {
        let bytes = fs::read(path).ok()?;
        let mut rest = bytes.strip_prefix(MAGIC)?;
        let mut index = Self::default();
        let mut last = "";
        while !rest.is_empty() {
            let (head, behind) = rest.split_at_checked(HEAD)?;
            let length = usize::from(u16::from_le_bytes(head[20..22].try_into().ok()?));
            let (path, behind) = behind.split_at_checked(length)?;
            let path = std::str::from_utf8(path).ok().filter(|path| *path > last)?;
            let kind = head[22];
            let content = match kind & (LINES | BINARY) {
                LINES => Some(Content::Lines(u32::from_le_bytes(head[16..20].try_into().ok()?))),
                BINARY => Some(Content::Binary),
                _ => None,
            };
            let facts = Facts {
                size: u64::from_le_bytes(head[..8].try_into().ok()?),
                modified_ms: i64::from_le_bytes(head[8..16].try_into().ok()?),
                tracked: kind & TRACKED != 0,
                link: kind & LINK != 0,
                content,
            };
            index.push(path, facts);
            (last, rest) = (path, behind);
        }
        index.shrink();
        Some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_saved_is_read_back_and_what_is_broken_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/index");
        assert!(Index::load(&path).is_none());
        let mut index = super::super::tests::from_paths(&["a\nb", "a/ö.png", "z"]);
        let read = Facts { content: Some(Content::Lines(7)), size: 3, modified_ms: -5, ..Facts::default() };
        index.apply(&[("y".to_owned(), Some(read))].into());
        index.save(&path).unwrap();
        let facts =
            |index: &Index| index.files().map(|file| (file.path().to_owned(), file.facts())).collect::<Vec<_>>();
        assert_eq!(facts(&Index::load(&path).unwrap()), facts(&index));

        let whole = fs::read(&path).unwrap();
        for end in [0, 5, 9, whole.len() - 1] {
            fs::write(&path, &whole[..end]).unwrap();
            assert!(Index::load(&path).is_none(), "cut at {end}");
        }
        let mut other = whole.clone();
        other[7] += 1;
        fs::write(&path, other).unwrap();
        assert!(Index::load(&path).is_none(), "another version");
    }
}
