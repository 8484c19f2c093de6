//! Files that a runtime reads by itself, recorded by path and hash and never by their contents.

use std::fs;
use std::path::{Path, PathBuf};

use roost_model::canonical;
use roost_model::sources::{ImplicitSource, SourceKind};

/// A longer file is recorded without a hash.
const MAX_BYTES: u64 = 1024 * 1024;
/// How many files are recorded for a task; more than anybody has.
pub(crate) const MAX_FILES: usize = 256;

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

/// The files of a folder with this extension, sorted; none if the folder cannot be read. Blocks on the disk.
pub(crate) fn files_with_extension(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|own| own == extension));
    files.sort();
    files
}
