//! All files of a folder: what git tracks, and what the walk finds besides.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, Metadata};
use ignore::{DirEntry, WalkBuilder, WalkState};
use parking_lot::Mutex;

use super::git::Tracked;
use super::{Facts, GitError, Index};
use crate::gitdir::GitDir;
use crate::parallel::threads;
use crate::{Error, RelPath, Root};

/// A folder as it was found.
#[derive(Debug)]
pub struct Scan {
    /// The files that were found.
    pub index: Index,
    /// Files whose names are no text, which are left out.
    pub unnamed: usize,
    /// Why it is not known what git tracks, if git's index cannot be read.
    pub git_error: Option<GitError>,
}

/// All files of a workspace that git does not ignore. Sizes and times of tracked files are those that git remembers:
/// [`Index::outdated`] looks whether they still hold. Waits for the disk.
pub fn scan(root: &Root) -> Result<Scan, Error> {
    // Whoever removed the folder is told so, instead of that it is empty.
    root.open_dir(&RelPath::root()).map_err(Error::of_folder)?;
    let (tracked, git_error) = match GitDir::find(root.path()).map(|git| Tracked::read(&git)) {
        Some(Ok(tracked)) => (tracked, None),
        Some(Err(error)) => (Tracked::default(), Some(error)),
        None => (Tracked::default(), None),
    };
    let places = tracked.places();
    let walked = Mutex::new(Walked::default());
    walker(root.path(), "").0.build_parallel().run(|| {
        let mut part = Part { found: Walked::default(), all: &walked };
        let mut beneath = Beneath { root, folder: None };
        let places = &places;
        Box::new(move |entry| match entry {
            Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_dir()) => {
                // The walk goes by paths: where it was led out of the root by a link it goes no further.
                if beneath.enter(entry.path()) { WalkState::Continue } else { WalkState::Skip }
            }
            Ok(entry) => {
                part.found.take(&mut beneath, &entry, places);
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
        let facts = if is_there { Some(facts) } else { look(root, path).map(|now| Facts { tracked: true, ..now }) };
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

/// What is at a path, if it is a file or a link.
pub(crate) fn look(root: &Root, path: &str) -> Option<Facts> {
    facts(&root.look(&RelPath::parse(path).ok()?).ok()?)
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

/// The walk over all of a folder that git does not ignore, and the depth at which it comes to the folder itself; `.git` is
/// left out. Where there is no repository, the rules of the workspace count and none from above it.
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

/// What is directly in a folder and not ignored: the same walk that builds the index, so both always agree.
pub(crate) fn kept_in(top: &Path, folder: &str) -> impl Iterator<Item = String> {
    let (mut walker, depth) = walker(top, folder);
    let entries = walker.max_depth(Some(depth + 1)).build().flatten().filter(move |entry| entry.depth() == depth + 1);
    entries.filter_map(move |entry| Some(entry.path().strip_prefix(top).ok()?.to_string_lossy().into_owned()))
}

/// What one thread of the walk found.
#[derive(Default)]
struct Walked {
    /// Places of tracked files.
    tracked: Vec<u32>,
    others: Vec<(String, Facts)>,
    unnamed: usize,
}

impl Walked {
    fn take(&mut self, beneath: &mut Beneath<'_>, entry: &DirEntry, places: &HashMap<&[u8], u32>) {
        if !entry.file_type().is_some_and(|kind| kind.is_file() || kind.is_symlink()) {
            return;
        }
        let Ok(path) = entry.path().strip_prefix(beneath.root.path()) else { return };
        if let Some(&place) = places.get(path.as_os_str().as_bytes()) {
            return self.tracked.push(place);
        }
        let Some(path) = path.to_str() else {
            self.unnamed += 1;
            return;
        };
        // Gone between the two looks, or never in the workspace.
        let Some(facts) = beneath.look(entry.path()) else { return };
        self.others.push((path.to_owned(), facts));
    }
}

/// What the walk found by its path, looked at beneath the root: a folder may have been swapped for a link out of it while
/// it was read, and then its names are not the workspace's.
struct Beneath<'a> {
    root: &'a Root,
    /// The folder that was looked into last, held open: mostly the next file is in it too.
    folder: Option<(PathBuf, Dir)>,
}

impl Beneath<'_> {
    /// Opens a folder; tells whether it is beneath the root.
    fn enter(&mut self, folder: &Path) -> bool {
        if self.folder.as_ref().is_some_and(|(open, _)| open == folder) {
            return true;
        }
        let named = folder.strip_prefix(self.root.path()).ok();
        self.folder = named.and_then(|named| Some((folder.to_owned(), self.root.enter(named).ok()?)));
        self.folder.is_some()
    }

    /// What is there, if it is a file or a link.
    fn look(&mut self, path: &Path) -> Option<Facts> {
        if !self.enter(path.parent()?) {
            return None;
        }
        let (_, folder) = self.folder.as_ref()?;
        facts(&folder.symlink_metadata(path.file_name()?).ok()?)
    }
}

/// One thread's findings on their way to all.
struct Part<'a> {
    found: Walked,
    all: &'a Mutex<Walked>,
}

impl Drop for Part<'_> {
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
