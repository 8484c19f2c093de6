//! All files of a folder: what git tracks, and what the walk finds besides.

use std::ffi::OsStr;
use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use ignore::{DirEntry, WalkBuilder, WalkState};

use super::git::Tracked;
use super::{Facts, GitError, Index};
use crate::gitdir::GitDir;
use crate::parallel::threads;
use crate::{Error, RelPath, Root};

/// A folder as it was found.
#[derive(Debug)]
pub struct Scan {
    /// Its files.
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
    root.open_dir(&RelPath::root())?;
    let (tracked, git_error) = match GitDir::of(root.path()).map(|git| Tracked::read(&git)) {
        Some(Ok(tracked)) => (tracked, None),
        Some(Err(error)) => (Tracked::default(), Some(error)),
        None => (Tracked::default(), None),
    };
    let places = tracked.places();
    let walked = Mutex::new(Walked::default());
    walker(root.path()).build_parallel().run(|| {
        let mut part = Part { found: Walked::default(), all: &walked };
        let places = &places;
        Box::new(move |entry| {
            if let Ok(entry) = entry {
                part.found.take(root.path(), &entry, places);
            }
            WalkState::Continue
        })
    });
    let mut walked = walked.into_inner().unwrap_or_else(PoisonError::into_inner);
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
    let metadata = root.look(&RelPath::parse(path).ok()?).ok()?;
    let kind = metadata.file_type();
    let modified = metadata.modified().ok().map(cap_std::time::SystemTime::into_std);
    (kind.is_file() || kind.is_symlink()).then(|| Facts {
        size: metadata.len(),
        modified_ms: modified.map_or(0, milliseconds),
        link: kind.is_symlink(),
        ..Facts::default()
    })
}

/// The walk over all that git does not ignore, also where there is no repository; `.git` itself is left out.
pub(crate) fn walker(folder: &Path) -> WalkBuilder {
    let mut walker = WalkBuilder::new(folder);
    walker
        .hidden(false)
        .ignore(false)
        .require_git(false)
        .follow_links(false)
        .threads(threads())
        .filter_entry(|entry| entry.file_name() != OsStr::new(".git"));
    walker
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
    fn take(&mut self, root: &Path, entry: &DirEntry, places: &std::collections::HashMap<&[u8], u32>) {
        let Some(kind) = entry.file_type().filter(|kind| kind.is_file() || kind.is_symlink()) else { return };
        let Ok(path) = entry.path().strip_prefix(root) else { return };
        if let Some(&place) = places.get(path.as_os_str().as_bytes()) {
            return self.tracked.push(place);
        }
        let Some(path) = path.to_str() else {
            self.unnamed += 1;
            return;
        };
        // Gone between the two looks.
        let Ok(metadata) = entry.metadata() else { return };
        let facts = Facts {
            size: metadata.len(),
            modified_ms: metadata.modified().map_or(0, milliseconds),
            link: kind.is_symlink(),
            ..Facts::default()
        };
        self.others.push((path.to_owned(), facts));
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
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.tracked.extend(found.tracked);
        all.others.extend(found.others);
        all.unnamed += found.unnamed;
    }
}

fn milliseconds(time: std::time::SystemTime) -> i64 {
    let since = time.duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
