//! Finds out which files of a folder git tracks and ignores.

use std::collections::HashSet;

use crate::gitdir::GitDir;
use crate::index::{TrackedFiles, unignored_in};
use crate::{RelPath, Root};

/// Which files of a folder git tracks and which it ignores.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    tracked: HashSet<String>,
    /// The paths that git does not ignore; absent without a repository, where nothing is ignored.
    unignored: Option<HashSet<String>>,
}

impl Marks {
    /// Reads the marks of the files directly in a folder. If git's index cannot be read, nothing counts as tracked.
    /// Waits for the disk.
    pub fn read(root: &Root, folder: &RelPath) -> Self {
        let Some(git) = GitDir::find(root.path()) else { return Self::default() };
        let is_in = |path: &str| path.rsplit_once('/').map_or("", |(parent, _)| parent) == folder.as_str();
        let tracked = TrackedFiles::read(&git).unwrap_or_default();
        let tracked = tracked.files().filter(|(path, _)| is_in(path)).map(|(path, _)| path.to_owned()).collect();
        // Whatever is in an ignored folder is ignored, though no rule may name it.
        let mut ancestor = folder.clone();
        while !ancestor.is_root() {
            let parent = ancestor.parent();
            if !unignored_in(root.path(), parent.as_str()).any(|path| path == ancestor.as_str()) {
                return Self { tracked, unignored: Some(HashSet::new()) };
            }
            ancestor = parent;
        }
        Self { tracked, unignored: Some(unignored_in(root.path(), folder.as_str()).collect()) }
    }

    /// Git tracks the file at this path.
    pub fn is_tracked(&self, path: &str) -> bool {
        self.tracked.contains(path)
    }

    /// Git ignores the file at this path.
    pub fn is_ignored(&self, path: &str) -> bool {
        !self.is_tracked(path) && self.unignored.as_ref().is_some_and(|unignored| !unignored.contains(path))
    }
}
