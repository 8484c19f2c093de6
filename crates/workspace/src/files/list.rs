//! What is in a folder.

use std::time::SystemTime;

use cap_std::fs::{Dir, Metadata};

use super::sniff::sniff;
use crate::{Error, RelPath, Root};

/// How far and how much is counted of what is in a folder.
const DEEPEST: usize = 10;
const MOST: u64 = 10_000;

/// What is in a folder, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The folders in it, by name.
    pub folders: Vec<FolderEntry>,
    /// Everything else that can be read, links too.
    pub files: Vec<FileEntry>,
}

/// A file in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Where it is.
    pub path: String,
    /// Its last name, without the folders above it.
    pub name: String,
    /// How many bytes it has.
    pub size: u64,
    /// When it last changed.
    pub modified: Option<SystemTime>,
    /// It is a link.
    pub is_symlink: bool,
}

/// A folder in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderEntry {
    /// Where it is.
    pub path: String,
    /// Its last name, without the folders above it.
    pub name: String,
    /// What lies directly in it.
    pub entries: u64,
    /// Folders in it, itself not counted, as far as it was counted.
    pub folders: u64,
    /// Files in it, as far as it was counted.
    pub files: u64,
    /// Bytes of those.
    pub bytes: u64,
    /// When it last changed.
    pub modified: Option<SystemTime>,
}

/// Lists a folder; what begins with a dot only if asked. Waits for the disk.
pub fn list(root: &Root, path: &RelPath, hidden: bool) -> Result<Listing, Error> {
    let failed = |source| Error::io(path.as_str(), source);
    let folder = root.open_dir(path).map_err(Error::of_folder)?;
    let mut listing = Listing::default();
    let mut left = MOST;
    for entry in folder.entries().map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        // What has gone meanwhile is not there.
        let Ok(metadata) = folder.symlink_metadata(&name) else { continue };
        let name = name.to_string_lossy().into_owned();
        if !hidden && is_hidden(&name) {
            continue;
        }
        let path = if path.is_root() { name.clone() } else { format!("{path}/{name}") };
        if metadata.is_dir() {
            let mut counted =
                FolderEntry { path, name, entries: 0, folders: 0, files: 0, bytes: 0, modified: changed(&metadata) };
            if let Ok(inner) = folder.open_dir(&counted.name) {
                counted.entries = inner.entries().map_or(0, Iterator::count) as u64;
                count(&inner, DEEPEST, &mut left, &mut counted);
            }
            listing.folders.push(counted);
        } else if metadata.is_file() || metadata.is_symlink() {
            let is_symlink = metadata.is_symlink();
            // A link is as big as what it leads to, if that is inside.
            let there = if is_symlink { folder.metadata(&name).ok() } else { None };
            let size = there.as_ref().unwrap_or(&metadata).len();
            listing.files.push(FileEntry { path, name, size, modified: changed(&metadata), is_symlink });
        }
    }
    listing.folders.sort_by(|one, other| one.name.cmp(&other.name));
    listing.files.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(listing)
}

/// The two files that people keep for others to see begin with a dot too.
fn is_hidden(name: &str) -> bool {
    name.starts_with('.') && !matches!(name, ".gitignore" | ".env.example")
}

fn count(folder: &Dir, deeper: usize, left: &mut u64, counted: &mut FolderEntry) {
    for entry in folder.entries().into_iter().flatten().flatten() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let Ok(metadata) = folder.symlink_metadata(entry.file_name()) else { continue };
        if metadata.is_dir() {
            counted.folders += 1;
            if deeper > 0
                && let Ok(inner) = folder.open_dir(entry.file_name())
            {
                count(&inner, deeper - 1, left, counted);
            }
        } else {
            counted.files += 1;
            counted.bytes += metadata.len();
        }
    }
}

fn changed(metadata: &Metadata) -> Option<SystemTime> {
    metadata.modified().ok().map(cap_std::time::SystemTime::into_std)
}

impl FileEntry {
    /// It holds no text, as far as its beginning tells. Waits for the disk.
    pub fn is_binary(&self, root: &Root) -> bool {
        let Ok(path) = RelPath::parse(&self.path) else { return false };
        let head = super::read(root, &path, super::Part { offset: Some(0), limit: super::sniff::HEAD as u64 });
        head.is_ok_and(|content| !sniff(&self.name, &content.bytes).is_text)
    }
}
