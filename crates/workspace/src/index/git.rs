//! Reads git's index: which files are tracked, with their sizes and times, without a `stat` of each.

use std::collections::{HashMap, HashSet};
use std::fs;

use gix_index::entry::Mode;
use gix_index::hash::Kind;

use super::Facts;
use crate::gitdir::GitDir;

/// Git's index cannot be read, so it is unknown which files are tracked.
#[derive(Clone, Debug, thiserror::Error)]
#[error("git's index cannot be read ({0}): `git status` in the workspace says more")]
pub struct GitError(String);

/// The tracked files of a folder, in the order of their paths.
#[derive(Debug, Default)]
pub(crate) struct TrackedFiles {
    paths: String,
    files: Vec<(std::ops::Range<usize>, Facts)>,
    /// How many names were left out because they are not UTF-8.
    pub(super) unnamed: usize,
}

impl TrackedFiles {
    /// Reads git's index; empty where nothing was ever added. Waits for the disk.
    pub(crate) fn read(git: &GitDir) -> Result<Self, GitError> {
        let path = git.index();
        if !path.exists() {
            // Nothing was ever added.
            return Ok(Self::default());
        }
        let file = gix_index::File::at(path, hash(git), true, gix_index::decode::Options::default())
            .map_err(|error| GitError(error.to_string()))?;
        let mut tracked = Self::default();
        tracked.files.reserve(file.entries().len());
        for entry in file.entries() {
            // Folders of a sparse checkout and submodules are no files.
            if entry.mode == Mode::DIR || entry.mode == Mode::COMMIT {
                continue;
            }
            let Some(beneath) = entry.path(&file).strip_prefix(git.prefix.as_bytes()) else { continue };
            let Ok(path) = std::str::from_utf8(beneath) else {
                tracked.unnamed += 1;
                continue;
            };
            // A file in conflict is there once for each side.
            if tracked.last() == Some(path) {
                continue;
            }
            let modified = entry.stat.mtime;
            let facts = Facts {
                size: u64::from(entry.stat.size),
                modified_ms: i64::from(modified.secs) * 1000 + i64::from(modified.nsecs / 1_000_000),
                tracked: true,
                link: entry.mode == Mode::SYMLINK,
                content: None,
            };
            let start = tracked.paths.len();
            tracked.paths.push_str(path);
            tracked.files.push((start..tracked.paths.len(), facts));
        }
        Ok(tracked)
    }

    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    /// Each path with the facts that git remembers of its file.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, Facts)> {
        self.files.iter().map(|(path, facts)| (&self.paths[path.clone()], *facts))
    }

    /// The position of each path.
    pub(super) fn places(&self) -> HashMap<&[u8], u32> {
        self.files().enumerate().map(|(place, (path, _))| (path.as_bytes(), place as u32)).collect()
    }

    /// Whether every tracked name is UTF-8, so that none was left out.
    pub(crate) fn is_named(&self) -> bool {
        self.unnamed == 0
    }

    /// The tracked paths, from the workspace's folder.
    pub(crate) fn paths(&self) -> HashSet<&str> {
        self.files().map(|(path, _)| path).collect()
    }

    fn last(&self) -> Option<&str> {
        self.files.last().map(|(path, _)| &self.paths[path.clone()])
    }
}

/// The hash of the repository's object ids, which decides how its index is read.
fn hash(git: &GitDir) -> Kind {
    let config = fs::read_to_string(git.common.join("config")).unwrap_or_default().to_ascii_lowercase();
    let is_sha256 = config.lines().any(|line| {
        line.split_once('=').is_some_and(|(key, value)| key.trim() == "objectformat" && value.trim() == "sha256")
    });
    if is_sha256 { Kind::Sha256 } else { Kind::Sha1 }
}
