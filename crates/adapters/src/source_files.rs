//! Files that a runtime reads by itself, recorded by path and hash and never by their contents.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use roost_model::canonical;
use roost_model::sources::{ImplicitSource, SourceKind};
use serde::de::DeserializeOwned;

/// A longer file is recorded without a hash.
const MAX_BYTES: u64 = 1024 * 1024;
/// How many files are recorded for a task; more than anybody has.
pub(crate) const MAX_FILES: usize = 256;

/// The files of projects that a person has agreed to: their absolute paths, and the hashes of what was in them then. A
/// file that has changed since is as any other.
#[derive(Clone, Debug, Default)]
pub struct TrustedFiles(BTreeMap<PathBuf, String>);

impl TrustedFiles {
    /// Trusts these files with these hashes (`sha256:…`).
    pub fn new(files: BTreeMap<PathBuf, String>) -> Self {
        Self(files)
    }

    /// Whether a person has agreed to this file with exactly these contents.
    pub(crate) fn covers(&self, path: &Path, contents: &[u8]) -> bool {
        self.0.get(path).is_some_and(|hash| *hash == canonical::hash_bytes(contents))
    }
}

/// How to agree to a file as it is now: the line for `roost.toml`.
pub(crate) fn how_to_trust(path: &Path, contents: &[u8]) -> String {
    let hash = canonical::hash_bytes(contents);
    let path = path.display();
    format!("put \"{path}\" = \"{hash}\" under [security.trusted_files] in roost.toml to agree to it as it is now")
}

/// The contents of a regular file; `None` if it is missing, something else, or longer than [`MAX_BYTES`]. Blocks on the
/// disk.
pub(crate) fn read_small(path: &Path) -> Option<Vec<u8>> {
    let is_small = |size: u64| size <= MAX_BYTES;
    fs::metadata(path).ok().filter(|metadata| metadata.is_file() && is_small(metadata.len()))?;
    fs::read(path).ok().filter(|contents| is_small(contents.len() as u64))
}

/// Parses JSON that may begin with a byte order mark, as the runtimes do.
pub(crate) fn parse_json<T: DeserializeOwned>(contents: &[u8]) -> Option<T> {
    serde_json::from_slice(contents.strip_prefix(b"\xef\xbb\xbf").unwrap_or(contents)).ok()
}

/// Records a file; `None` if it is missing or no regular file. Blocks on the disk.
pub(crate) fn source(path: &Path, kind: SourceKind) -> Option<ImplicitSource> {
    let size = fs::metadata(path).ok().filter(fs::Metadata::is_file)?.len();
    let bytes = (size <= MAX_BYTES).then(|| fs::read(path).ok()).flatten();
    Some(ImplicitSource {
        path: path.display().to_string(),
        kind,
        redacted: bytes.is_none().then_some(true),
        hash: bytes.map(|bytes| canonical::hash_bytes(&bytes)),
        disabled: None,
    })
}

/// How deep folders are searched for files; a link to a parent would never end otherwise.
const MAX_DEPTH: usize = 8;

/// The files with this extension in a folder and the folders below it, sorted and at most [`MAX_FILES`]; none if the
/// folder cannot be read. Blocks on the disk.
pub(crate) fn files_below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![(folder.to_owned(), 0)]);
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && depth < MAX_DEPTH {
                folders.push((path, depth + 1));
            } else if path.extension().is_some_and(|own| own == extension) && files.len() < MAX_FILES {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The files of a folder with this extension, sorted; none if the folder cannot be read. Blocks on the disk.
pub(crate) fn files_with_extension(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|own| own == extension));
    files.sort();
    files
}
