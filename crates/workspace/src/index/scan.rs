//! Builds an index: from what git tracks, and from a walk that finds the rest.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, Metadata};
use ignore::{DirEntry, WalkBuilder, WalkState};
use parking_lot::Mutex;

use super::git::TrackedFiles;
use super::{Facts, GitError, Index};
use crate::gitdir::GitDir;
use crate::parallel::threads;
use crate::{Error, RelPath, Root};

/// The result of a scan.
#[derive(Debug)]
pub struct Scan {
    /// The index of all files that were found.
    pub index: Index,
    /// How many files were left out because their names are not UTF-8.
    pub unnamed: usize,
    /// Why git's index could not be read; no file counts as tracked then.
    pub git_error: Option<GitError>,
}

/// Scans all files of a workspace that git does not ignore. Sizes and times of tracked files are those that git
/// remembers: [`Index::outdated`] finds those that have changed. Waits for the disk.
pub fn scan(root: &Root) -> Result<Scan, Error> {
    // Whoever removed the folder is told so, instead of that it is empty.
    root.open_dir(&RelPath::root()).map_err(Error::for_folder)?;
    let (tracked, git_error) = match GitDir::find(root.path()).map(|git| TrackedFiles::read(&git)) {
        Some(Ok(tracked)) => (tracked, None),
        Some(Err(error)) => (TrackedFiles::default(), Some(error)),
        None => (TrackedFiles::default(), None),
    };
    let places = tracked.places();
    let walked = Mutex::new(WalkFindings::default());
    walker(root.path(), "").0.build_parallel().run(|| {
        let mut worker = WalkWorker { found: WalkFindings::default(), all: &walked };
        let mut lookup = ConfinedLookup { root, folder: None };
        let places = &places;
        Box::new(move |entry| match entry {
            Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_dir()) => {
                // The walk goes by paths: where it was led out of the root by a link it goes no further.
                if lookup.enter(entry.path()) { WalkState::Continue } else { WalkState::Skip }
            }
            Ok(entry) => {
                worker.found.take(&mut lookup, &entry, places);
                WalkState::Continue
            }
            Err(_) => WalkState::Continue,
        })
    });
    let mut walked = walked.into_inner();
    walked.others.sort_unstable_by(|a, b| a.0.cmp(&b.0));

    let mut is_there = vec![false; tracked.len()];
    for place in walked.tracked {
        is_there[place as usize] = true;
    }
    let mut index = Index::default();
    let mut others = walked.others.into_iter().peekable();
    for ((path, facts), is_there) in tracked.files().zip(is_there) {
        // The walk does not see what is tracked and ignored all the same.
        let facts =
            if is_there { Some(facts) } else { stat_file(root, path).map(|now| Facts { tracked: true, ..now }) };
        let Some(facts) = facts else { continue };
        while let Some((other, found)) = others.next_if(|(other, _)| other.as_str() < path) {
            index.push(&other, found);
        }
        index.push(path, facts);
    }
    for (other, found) in others {
        index.push(&other, found);
    }
    index.shrink();
    Ok(Scan { index, unnamed: walked.unnamed + tracked.unnamed, git_error })
}

/// The facts of the file or link at a path; `None` if there is neither.
pub(crate) fn stat_file(root: &Root, path: &str) -> Option<Facts> {
    facts(&root.metadata(&RelPath::parse(path).ok()?).ok()?)
}

fn facts(metadata: &Metadata) -> Option<Facts> {
    let kind = metadata.file_type();
    let modified = metadata.modified().ok().map(cap_std::time::SystemTime::into_std);
    (kind.is_file() || kind.is_symlink()).then(|| Facts {
        size: metadata.len(),
        modified_ms: modified.map_or(0, milliseconds),
        link: kind.is_symlink(),
        ..Facts::default()
    })
}

/// A walk over everything in a folder that git does not ignore, without `.git`, and the depth at which the walk reaches
/// the folder itself. Without a repository only `.gitignore` files of the workspace count, not those above it.
pub(crate) fn walker(top: &Path, folder: &str) -> (WalkBuilder, usize) {
    let target = top.join(folder);
    let is_git = GitDir::find(top).is_some();
    let mut walker = WalkBuilder::new(if is_git { &target } else { top });
    walker
        .hidden(false)
        .ignore(false)
        .parents(is_git)
        .require_git(is_git)
        .follow_links(false)
        .threads(threads())
        .filter_entry(move |entry| {
            let is_on_the_way = target.starts_with(entry.path()) || entry.path().starts_with(&target);
            entry.file_name() != OsStr::new(".git") && is_on_the_way
        });
    let depth = if is_git { 0 } else { Path::new(folder).components().count() };
    (walker, depth)
}

/// The paths directly in a folder that are not ignored. It uses the walk that builds the index, so both always agree.
pub(crate) fn unignored_in(top: &Path, folder: &str) -> impl Iterator<Item = String> {
    let (mut walker, depth) = walker(top, folder);
    let entries = walker.max_depth(Some(depth + 1)).build().flatten().filter(move |entry| entry.depth() == depth + 1);
    entries.filter_map(move |entry| Some(entry.path().strip_prefix(top).ok()?.to_string_lossy().into_owned()))
}

/// The files that one thread of the walk found.
#[derive(Default)]
struct WalkFindings {
    /// The tracked files that the walk saw, as positions in `TrackedFiles`.
    tracked: Vec<u32>,
    others: Vec<(String, Facts)>,
    unnamed: usize,
}

impl WalkFindings {
    fn take(&mut self, lookup: &mut ConfinedLookup<'_>, entry: &DirEntry, places: &HashMap<&[u8], u32>) {
        if !entry.file_type().is_some_and(|kind| kind.is_file() || kind.is_symlink()) {
            return;
        }
        let Ok(path) = entry.path().strip_prefix(lookup.root.path()) else { return };
        if let Some(&place) = places.get(path.as_os_str().as_bytes()) {
            return self.tracked.push(place);
        }
        let Some(path) = path.to_str() else {
            self.unnamed += 1;
            return;
        };
        // Gone between the two looks, or never in the workspace.
        let Some(facts) = lookup.stat(entry.path()) else { return };
        self.others.push((path.to_owned(), facts));
    }
}

/// Stats what the walk found, but beneath the root: the walk goes by paths, and a folder may be swapped for a link out
/// of the workspace meanwhile.
struct ConfinedLookup<'a> {
    root: &'a Root,
    /// The folder of the last file, held open, because the next file is mostly in it too.
    folder: Option<(PathBuf, Dir)>,
}

impl ConfinedLookup<'_> {
    /// Opens a folder; false if it is not beneath the root.
    fn enter(&mut self, folder: &Path) -> bool {
        if self.folder.as_ref().is_some_and(|(open, _)| open == folder) {
            return true;
        }
        let named = folder.strip_prefix(self.root.path()).ok();
        self.folder = named.and_then(|named| Some((folder.to_owned(), self.root.enter(named).ok()?)));
        self.folder.is_some()
    }

    /// The facts of the file or link at a path; `None` if there is neither.
    fn stat(&mut self, path: &Path) -> Option<Facts> {
        if !self.enter(path.parent()?) {
            return None;
        }
        let (_, folder) = self.folder.as_ref()?;
        facts(&folder.symlink_metadata(path.file_name()?).ok()?)
    }
}

/// The findings of one thread; dropping it adds them to those of all.
struct WalkWorker<'a> {
    found: WalkFindings,
    all: &'a Mutex<WalkFindings>,
}

impl Drop for WalkWorker<'_> {
    fn drop(&mut self) {
        let found = mem::take(&mut self.found);
        let mut all = self.all.lock();
        all.tracked.extend(found.tracked);
        all.others.extend(found.others);
        all.unnamed += found.unnamed;
    }
}

fn milliseconds(time: std::time::SystemTime) -> i64 {
    let since = time.duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
