//! Whether anything can have happened in a workspace since a moment before.
//!
//! The system tells of a change before the write that made it returns, but whoever is told reads it later. So who wants to
//! know whether something changed until now makes a mark that the watchers are told of as well: they are told in order, and
//! have seen everything before it once they have seen the mark. It lies in a folder of its own, never in the workspace.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use notify::Event;
use parking_lot::{Mutex, MutexGuard};
use tempfile::TempDir;
use tokio::sync::watch;

/// How long nothing must have happened: what is being made (a folder, a nested repository) is not watched wholly yet.
const STILL: Duration = Duration::from_millis(200);

/// How long the watchers may take to see a mark; they are behind by much if they take longer.
const PATIENCE: Duration = Duration::from_millis(250);

/// What the watchers of a workspace have seen.
#[derive(Debug, Default)]
pub(crate) struct Barrier {
    /// Touches of files that the system told, and those of them that were handed on.
    told: AtomicU64,
    handed_on: AtomicU64,
    /// So many of them led to folders being watched.
    settled: AtomicU64,
    /// Touches of git's folders.
    git: AtomicU64,
    last: Mutex<Option<Instant>>,
    /// Some folder is not watched.
    passed_over: AtomicBool,
    /// The folders that are watched.
    pub(super) folders: Folders,
    /// Git's folders as they were when they were begun to be watched.
    watched_git: Mutex<Vec<FileIdentity>>,
    marks: Mutex<Option<TempDir>>,
    next_mark: AtomicU64,
    files_saw: watch::Sender<u64>,
    git_saw: watch::Sender<u64>,
}

/// A moment: as long as it is the present one, nothing has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    files: u64,
    git: u64,
}

/// What is at a path: nothing, or something that can be told from what comes after it.
type FileIdentity = (PathBuf, Option<(u64, u64)>);

fn at(path: PathBuf) -> FileIdentity {
    let found = path.metadata().ok().map(|found| (found.dev(), found.ino()));
    (path, found)
}

impl Barrier {
    /// The folder of the marks, which both watchers watch; absent if it would lie in the workspace. Waits for the disk.
    pub(super) fn marks(&self, root: &Path) -> Option<PathBuf> {
        let mut marks = lock(&self.marks);
        if marks.is_none() {
            *marks = tempfile::Builder::new().prefix("roost-marks-").tempdir().ok();
        }
        // What is told are paths without links.
        let folder =
            marks.as_ref().and_then(|marks| marks.path().canonicalize().ok()).filter(|it| !it.starts_with(root));
        if folder.is_none() {
            *marks = None;
        }
        folder
    }

    /// Marks would not be seen.
    pub(super) fn without_marks(&self) {
        *lock(&self.marks) = None;
    }

    /// A folder cannot be named, so it is not watched.
    pub(super) fn pass_over(&self) {
        self.passed_over.store(true, Ordering::SeqCst);
    }

    /// The files of a workspace are begun to be watched: what was before is not known.
    pub(super) fn begin_files(&self) {
        self.folders.clear();
        self.passed_over.store(false, Ordering::SeqCst);
        // A watcher that ends may see marks for a while.
        *lock(&self.last) = Some(Instant::now());
        self.told.fetch_add(1, Ordering::SeqCst);
        self.handed_on.fetch_add(1, Ordering::SeqCst);
    }

    /// These folders of git are begun to be watched. Waits for the disk.
    pub(super) fn begin_git(&self, folders: Vec<PathBuf>) {
        *lock(&self.watched_git) = folders.into_iter().map(at).collect();
        self.touch_git();
    }

    /// It is watched no more.
    pub(crate) fn end(&self) {
        lock(&self.watched_git).clear();
    }

    /// The system told of files; they are handed on by `hand_on`.
    pub(super) fn touch_files(&self, hand_on: impl FnOnce()) {
        self.told.fetch_add(1, Ordering::SeqCst);
        *lock(&self.last) = Some(Instant::now());
        hand_on();
        self.handed_on.fetch_add(1, Ordering::SeqCst);
    }

    /// The system told of git's folders.
    pub(super) fn touch_git(&self) {
        self.git.fetch_add(1, Ordering::SeqCst);
        *lock(&self.last) = Some(Instant::now());
    }

    /// Every touch that was handed on and is not waiting led to its folders being watched.
    pub(super) fn settle(&self, is_waiting: impl FnOnce() -> bool) {
        let handed_on = self.handed_on.load(Ordering::SeqCst);
        if !is_waiting() {
            self.settled.store(handed_on, Ordering::SeqCst);
        }
    }

    /// Takes an event that is about a mark; tells whether it was.
    pub(super) fn saw_mark(&self, whose: Whose, marks: Option<&Path>, event: &notify::Result<Event>) -> bool {
        let (Some(marks), Ok(event)) = (marks, event) else { return false };
        let Some(path) = event.paths.first().filter(|path| path.starts_with(marks)) else { return false };
        let number = path.file_name().and_then(|name| name.to_str()?.parse().ok()).unwrap_or(0);
        let saw = match whose {
            Whose::Files => &self.files_saw,
            Whose::Git => &self.git_saw,
        };
        saw.send_if_modified(|seen| number > std::mem::replace(seen, number.max(*seen)));
        true
    }

    /// The present moment, if everything is watched by now and it is still; what happens later makes it a past one.
    pub(crate) fn moment(&self) -> Option<Moment> {
        let moment = self.present();
        let is_still = lock(&self.last).is_none_or(|last| last.elapsed() > STILL);
        let is_settled = self.settled.load(Ordering::SeqCst) == moment.files;
        (is_still && is_settled && self.watches_git()).then_some(moment)
    }

    fn watches_git(&self) -> bool {
        !lock(&self.watched_git).is_empty()
    }

    fn present(&self) -> Moment {
        Moment { files: self.told.load(Ordering::SeqCst), git: self.git.load(Ordering::SeqCst) }
    }

    /// Whether nothing has happened since a moment until now, and what is not watched still holds.
    pub(crate) async fn is_present(
        self: &Arc<Self>,
        moment: Moment,
        holds: impl FnOnce() -> bool + Send + 'static,
    ) -> bool {
        // What is known without asking need not be asked.
        if self.present() != moment || !self.watches_git() {
            return false;
        }
        let this = self.clone();
        let marked = tokio::task::spawn_blocking(move || {
            let is_same = lock(&this.watched_git).iter().all(|place| at(place.0.clone()) == *place) && holds();
            is_same.then(|| this.mark().ok()).flatten()
        });
        let Ok(Some(mark)) = marked.await else { return false };
        let (mut files, mut git) = (self.files_saw.subscribe(), self.git_saw.subscribe());
        let seen = async {
            let files = files.wait_for(|seen| *seen >= mark).await.is_ok();
            files && git.wait_for(|seen| *seen >= mark).await.is_ok()
        };
        tokio::time::timeout(PATIENCE, seen).await == Ok(true) && self.present() == moment
    }

    /// Makes a mark. Waits for the disk.
    fn mark(&self) -> io::Result<u64> {
        let number = self.next_mark.fetch_add(1, Ordering::SeqCst) + 1;
        let folder = lock(&self.marks).as_ref().map(|marks| marks.path().to_owned());
        let file = folder.ok_or(io::ErrorKind::NotFound)?.join(number.to_string());
        File::create(&file)?;
        std::fs::remove_file(file)?;
        Ok(number)
    }

    /// Every folder that was found is watched.
    pub(crate) fn is_whole(&self) -> bool {
        !self.passed_over.load(Ordering::SeqCst)
    }

    /// The folders that are watched.
    pub(crate) fn watched(&self) -> BTreeSet<String> {
        lock(&self.folders.0).clone()
    }
}

/// Who saw a mark.
#[derive(Clone, Copy, Debug)]
pub(super) enum Whose {
    Files,
    Git,
}

/// The folders that are watched.
#[derive(Debug, Default)]
pub(super) struct Folders(Mutex<BTreeSet<String>>);

impl Folders {
    pub(super) fn contains(&self, folder: &str) -> bool {
        lock(&self.0).contains(folder)
    }

    pub(super) fn insert(&self, folder: String) {
        lock(&self.0).insert(folder);
    }

    pub(super) fn clear(&self) {
        lock(&self.0).clear();
    }

    /// Takes out a folder and those beneath it.
    pub(super) fn take_beneath(&self, folder: &str) -> Vec<String> {
        let is_its = |path: &str| {
            folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        lock(&self.0).extract_if(.., |path| is_its(path)).collect()
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock()
}
