//! Every file of a workspace in memory: its path, size, time and kind.
//!
//! Decisions:
//! * The paths lie in one string and the records are sorted by path, so a folder is a range of records: it needs no table
//!   of its own, a lookup is a binary search, and every order is the same each time. About 32 bytes and the path per file.
//! * A path that is no text cannot be named by a client; such files are counted and left out.
//! * Whether a file is binary is guessed by its extension until its content was read for its lines.

mod apply;
mod entry;
mod git;
mod refresh;
mod scan;
mod snapshot;

use std::ops::Range;

pub(crate) use entry::extension;
pub use entry::{Content, Facts, FileEntry};
pub use git::GitError;
pub(crate) use git::TrackedFiles;
pub use scan::{Scan, scan};
pub(crate) use scan::{stat_file, unignored_in, walker};

use entry::Record;

/// The index: all files of a workspace that git does not ignore, sorted by path.
#[derive(Clone, Debug, Default)]
pub struct Index {
    paths: String,
    /// Sorted by path, byte by byte, so that a folder is a range.
    records: Vec<Record>,
    /// Bytes of `paths` that no record uses any more.
    wasted: usize,
}

impl Index {
    /// The number of files.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether the index holds no file.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The files, sorted by path.
    pub fn files(&self) -> impl ExactSizeIterator<Item = FileEntry<'_>> {
        self.range(0..self.len())
    }

    /// The files at these positions; panics if they are out of range.
    pub fn range(&self, range: Range<usize>) -> impl ExactSizeIterator<Item = FileEntry<'_>> {
        self.records[range].iter().map(|record| self.entry(record))
    }

    /// The file at a position; panics if it is out of range.
    pub fn at(&self, place: usize) -> FileEntry<'_> {
        self.entry(&self.records[place])
    }

    /// The file at a path; `None` if the index has none.
    pub fn get(&self, path: &str) -> Option<FileEntry<'_>> {
        self.find(path).ok().map(|place| self.at(place))
    }

    /// The positions of all files beneath a folder; an empty name is the workspace itself.
    pub fn beneath(&self, folder: &str) -> Range<usize> {
        if folder.is_empty() {
            return 0..self.len();
        }
        let folder = folder.as_bytes();
        // What is beneath `a` lies between `a/` and `a0`, which is the next after it.
        let bound = |last: u8| {
            self.records.partition_point(|record| {
                let path = self.path(record).as_bytes();
                path.iter().lt(folder.iter().chain([&last]))
            })
        };
        bound(b'/')..bound(b'/' + 1)
    }

    /// The memory that the index takes, in bytes.
    pub fn bytes(&self) -> usize {
        self.paths.capacity() + self.records.capacity() * size_of::<Record>()
    }

    fn path(&self, record: &Record) -> &str {
        &self.paths[record.path()]
    }

    fn entry<'a>(&'a self, record: &'a Record) -> FileEntry<'a> {
        FileEntry::new(self.path(record), record)
    }

    fn find(&self, path: &str) -> Result<usize, usize> {
        self.records.binary_search_by(|record| self.path(record).cmp(path))
    }

    /// Adds a file at the end; its path must be greater than all others.
    fn push(&mut self, path: &str, facts: Facts) {
        if let Some(record) = self.store(path, facts) {
            self.records.push(record);
        }
    }

    /// Stores a path and returns its record; `None` if the path, or all paths together, are too long.
    fn store(&mut self, path: &str, facts: Facts) -> Option<Record> {
        let record = Record::new(u32::try_from(self.paths.len()).ok()?, path, facts)?;
        self.paths.push_str(path);
        Some(record)
    }

    fn shrink(&mut self) {
        self.paths.shrink_to_fit();
        self.records.shrink_to_fit();
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An index of these paths; each file has as many bytes as its path.
    pub(crate) fn from_paths(paths: &[&str]) -> Index {
        let mut sorted = paths.to_vec();
        sorted.sort_unstable();
        let mut index = Index::default();
        for path in sorted {
            index.push(path, Facts { size: path.len() as u64, tracked: true, ..Facts::default() });
        }
        index
    }

    #[test]
    fn a_folder_is_a_range_even_beside_names_that_begin_like_it() {
        let index = from_paths(&["a", "a-b", "a.rs", "a/b", "a/c/d", "a0", "ab/c", "b"]);
        let beneath = |folder| index.range(index.beneath(folder)).map(|file| file.path()).collect::<Vec<_>>();
        assert_eq!(beneath("a"), ["a/b", "a/c/d"]);
        assert_eq!(beneath("a/c"), ["a/c/d"]);
        assert_eq!(beneath("a/b"), [""; 0]);
        assert_eq!(beneath("").len(), 8);
    }

    #[test]
    fn a_record_is_small() {
        assert_eq!(size_of::<Record>(), 32);
    }
}
