//! Lists folders from the index.

use std::cmp::Ordering;

use crate::index::{FileEntry, Index};
use crate::search::Filter;

/// A folder, with totals of everything beneath it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderEntry {
    /// Its path from the workspace's folder, with `/` between names.
    pub path: String,
    /// How many files are beneath it, at any depth.
    pub files: usize,
    /// How many folders are directly in it.
    pub folders: usize,
    /// The size of those files together, in bytes.
    pub bytes: u64,
    /// The latest modification time of those files, in milliseconds since 1970.
    pub modified_ms: i64,
}

/// A direct child of a folder.
pub(crate) enum Child<'a> {
    /// A file, as the index has it.
    File(FileEntry<'a>),
    /// The path of a folder.
    Folder(&'a str),
}

impl Index {
    /// The direct children of a folder, in the order of their paths.
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

    /// A folder with its totals; all are 0 if the index has nothing beneath it.
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

/// The order of a listing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortBy {
    /// By the last name of the path, byte by byte.
    #[default]
    Name,
    /// By size in bytes, the smallest first.
    Size,
    /// By modification time, the oldest first.
    Modified,
    /// By the whole path, byte by byte.
    Path,
}

/// A request for a page of a folder's files.
#[derive(Clone, Debug, Default)]
pub struct ListQuery {
    /// The path of the folder; empty for the workspace's own.
    pub folder: String,
    /// Whether files in folders beneath it are listed too; the listing then has no folders.
    pub recursive: bool,
    /// Which files are listed; folders are not filtered.
    pub filter: Filter,
    /// What the files are sorted by.
    pub sort_by: SortBy,
    /// Reverses the order, also that of files which are equal by `sort_by`.
    pub descending: bool,
    /// How many files are skipped before the page.
    pub offset: usize,
    /// The most files on the page.
    pub limit: usize,
}

/// A page of a folder's files, and its folders.
#[derive(Clone, Debug)]
pub struct Listing<'a> {
    /// The page of files that `offset` and `limit` select.
    pub files: Vec<FileEntry<'a>>,
    /// Its direct folders, by name; a recursive listing has none.
    pub folders: Vec<FolderEntry>,
    /// How many files the filter lets through, on all pages.
    pub total: usize,
}

/// A page of a folder's files, and its folders.
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
    /// Compares two files; equal ones are in the order of their paths.
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
