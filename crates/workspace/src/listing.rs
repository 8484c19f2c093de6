//! What is in a folder, out of the index.

use std::cmp::Ordering;

use crate::index::{FileEntry, Index};
use crate::search::Filter;

/// A folder of the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderEntry {
    /// Its path, beneath the workspace.
    pub path: String,
    /// Files beneath it, at any depth.
    pub files: usize,
    /// Folders in it.
    pub folders: usize,
    /// Bytes of the files beneath it.
    pub bytes: u64,
    /// When the latest of them was changed, in milliseconds since 1970.
    pub modified_ms: i64,
}

/// What something is directly in a folder.
pub(crate) enum Child<'a> {
    /// A file, as the index has it.
    File(FileEntry<'a>),
    /// The path of a folder.
    Folder(&'a str),
}

impl Index {
    /// What is directly in a folder, by name.
    pub(crate) fn children<'a>(&'a self, folder: &str) -> impl Iterator<Item = Child<'a>> {
        let beneath = self.beneath(folder);
        let skip = if folder.is_empty() { 0 } else { folder.len() + 1 };
        let mut next = beneath.start;
        std::iter::from_fn(move || {
            if next >= beneath.end {
                return None;
            }
            let file = self.at(next);
            match file.path()[skip..].find('/') {
                None => {
                    next += 1;
                    Some(Child::File(file))
                }
                Some(slash) => {
                    let child = &file.path()[..skip + slash];
                    next = self.beneath(child).end;
                    Some(Child::Folder(child))
                }
            }
        })
    }

    /// A folder with what is beneath it.
    pub fn folder(&self, path: &str) -> FolderEntry {
        let mut entry = FolderEntry { path: path.to_owned(), ..FolderEntry::default() };
        for file in self.range(self.beneath(path)) {
            entry.files += 1;
            entry.bytes += file.size();
            entry.modified_ms = entry.modified_ms.max(file.modified_ms());
        }
        entry.folders = self.children(path).filter(|child| matches!(child, Child::Folder(_))).count();
        entry
    }
}

/// By what files are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortBy {
    /// By the last name of the path, byte by byte.
    #[default]
    Name,
    /// By size in bytes.
    Size,
    /// When they were changed.
    Modified,
    /// By the whole path, byte by byte.
    Path,
}

/// Which files of a folder are listed.
#[derive(Clone, Debug, Default)]
pub struct ListQuery {
    /// The folder; empty is the workspace's own.
    pub folder: String,
    /// Also what is in its folders.
    pub recursive: bool,
    /// Only these files.
    pub filter: Filter,
    /// What the files are sorted by.
    pub sort_by: SortBy,
    /// The other way round.
    pub descending: bool,
    /// Leave out so many of the files.
    pub offset: usize,
    /// Give so many at most.
    pub limit: usize,
}

/// What is in a folder.
#[derive(Clone, Debug)]
pub struct Listing<'a> {
    /// Some of its files.
    pub files: Vec<FileEntry<'a>>,
    /// Its folders, by name; a recursive listing has none.
    pub folders: Vec<FolderEntry>,
    /// How many files there are in all.
    pub total: usize,
}

/// What is in a folder.
pub fn list<'a>(index: &'a Index, query: &ListQuery) -> Listing<'a> {
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    if query.recursive {
        files.extend(index.range(index.beneath(&query.folder)));
    } else {
        for child in index.children(&query.folder) {
            match child {
                Child::File(file) => files.push(file),
                Child::Folder(path) => folders.push(index.folder(path)),
            }
        }
    }
    files.retain(|file| query.filter.takes(file));
    let total = files.len();
    let end = query.offset.saturating_add(query.limit).min(total);
    let order = |a: &FileEntry<'_>, b: &FileEntry<'_>| query.order(a, b);
    if 0 < end && end < total {
        // What comes behind the page need not be in order.
        files.select_nth_unstable_by(end - 1, order);
    }
    files.truncate(end);
    files.sort_unstable_by(order);
    files.drain(..query.offset.min(end));
    Listing { files, folders, total }
}

impl ListQuery {
    /// The order of two files; what is equal is in the order of the paths.
    fn order(&self, a: &FileEntry<'_>, b: &FileEntry<'_>) -> Ordering {
        let order = match self.sort_by {
            SortBy::Name => a.name().cmp(b.name()),
            SortBy::Size => a.size().cmp(&b.size()),
            SortBy::Modified => a.modified_ms().cmp(&b.modified_ms()),
            SortBy::Path => Ordering::Equal,
        };
        let order = order.then_with(|| a.path().cmp(b.path()));
        if self.descending { order.reverse() } else { order }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::tests::from_paths;

    #[test]
    fn a_folder_has_its_own_files_and_counts_of_all_beneath_its_folders() {
        let index = from_paths(&["a/b/c/d.rs", "a/b/e.rs", "a/f.md", "a-b", "g"]);
        let query = ListQuery { folder: "a".into(), limit: 10, ..ListQuery::default() };
        let listing = list(&index, &query);
        assert_eq!(listing.files.iter().map(FileEntry::path).collect::<Vec<_>>(), ["a/f.md"]);
        let folder = FolderEntry { path: "a/b".into(), files: 2, folders: 1, bytes: 18, modified_ms: 0 };
        assert_eq!(listing.folders, [folder]);
    }

    #[test]
    fn files_are_sorted_filtered_and_paged() {
        let index = from_paths(&["x/a.rs", "x/bbb.rs", "x/cc.md", "y/dd.rs"]);
        let all = ListQuery { recursive: true, limit: 10, ..ListQuery::default() };
        let paths =
            |query: &ListQuery| list(&index, query).files.iter().map(|file| file.name().to_owned()).collect::<Vec<_>>();
        assert_eq!(paths(&ListQuery { sort_by: SortBy::Size, descending: true, ..all.clone() })[0], "bbb.rs");
        assert_eq!(paths(&ListQuery { offset: 1, limit: 2, ..all.clone() }), ["bbb.rs", "cc.md"]);
        assert_eq!(paths(&ListQuery { offset: 1, limit: 2, descending: true, ..all.clone() }), ["cc.md", "bbb.rs"]);
        assert_eq!(paths(&ListQuery { limit: 0, ..all.clone() }), [""; 0]);
        assert_eq!(paths(&ListQuery { offset: 9, ..all.clone() }), [""; 0]);
        let rust = ListQuery { filter: Filter::default().with_extensions(["rs"]), folder: "x".into(), ..all };
        assert_eq!((paths(&rust).len(), list(&index, &rust).total), (2, 2));
    }
}
