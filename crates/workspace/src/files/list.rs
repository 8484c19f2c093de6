//! Lists a folder, from the file system.

use std::time::SystemTime;

use cap_std::fs::{Dir, Metadata};

use super::sniff::sniff;
use crate::{Error, RelPath, Root};

/// How deep folders are counted, and how many entries in one listing.
const DEEPEST: usize = 10;
const MOST: u64 = 10_000;

/// The content of a folder, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The folders in it, by name.
    pub folders: Vec<FolderEntry>,
    /// The files and links in it, by name.
    pub files: Vec<FileEntry>,
}

/// A file in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Its path from the workspace's folder, with `/` between names.
    pub path: String,
    /// Its last name, without the folders above it.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// The modification time; absent where the file system has none.
    pub modified: Option<SystemTime>,
    /// Whether it is a symbolic link; its size is then that of the target, if the target is inside.
    pub is_symlink: bool,
}

/// A folder in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderEntry {
    /// Its path from the workspace's folder, with `/` between names.
    pub path: String,
    /// Its last name, without the folders above it.
    pub name: String,
    /// How many entries are directly in it.
    pub entries: u64,
    /// How many folders are beneath it, as far as the limits allow to count.
    pub folders: u64,
    /// How many files are beneath it, as far as the limits allow to count.
    pub files: u64,
    /// The size of those files together, in bytes.
    pub bytes: u64,
    /// The modification time of the folder itself; absent where the file system has none.
    pub modified: Option<SystemTime>,
}

/// Lists a folder; hidden entries only if `hidden`. Waits for the disk.
pub fn list(root: &Root, path: &RelPath, hidden: bool) -> Result<Listing, Error> {
    let failed = |source| Error::io(path.as_str(), source);
    let folder = root.open_dir(path).map_err(Error::for_folder)?;
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

/// Whether a name begins with a dot. `.gitignore` and `.env.example` are meant to be seen all the same.
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
    /// Whether the file is binary, by its first bytes. Waits for the disk.
    pub fn is_binary(&self, root: &Root) -> bool {
        let Ok(path) = RelPath::parse(&self.path) else { return false };
        let head = super::read(root, &path, super::ByteRange { offset: Some(0), limit: super::sniff::HEAD as u64 });
        head.is_ok_and(|content| !sniff(&self.name, &content.bytes).is_text)
    }
}
