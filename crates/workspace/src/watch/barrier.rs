//! The watch barrier: tells whether anything has happened in a workspace since an earlier moment.
//!
//! The kernel queues an event before the write that caused it returns, but the watcher reads the queue later. So to
//! know whether something has changed until now, we write a marker file that the watchers see too. Events come in
//! order: once a watcher has seen the mark, it has seen everything before it. The marks lie in a folder of their own
//! beside the index snapshot, never in the workspace.

use std::collections::BTreeSet;
use std::ffi::OsStr;
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

/// How long nothing must have happened: a folder that is just being created may not be watched completely yet.
const STILL: Duration = Duration::from_millis(200);

/// How long the watchers may take to see a mark; if they take longer, they are far behind.
const PATIENCE: Duration = Duration::from_millis(250);

/// How the names of folders of marks begin.
const MARKS_PREFIX: &str = "marks-";

/// What the two watchers of a workspace, of its files and of git's folders, have seen.
#[derive(Debug, Default)]
pub(crate) struct Barrier {
    /// Events about files that the system reported, and those of them that were passed to the watch task.
    reported: AtomicU64,
    handed_on: AtomicU64,
    /// How many of the passed on events have been processed, so that new folders are watched.
    settled: AtomicU64,
    /// How many events the watcher of git's folders has reported.
    git: AtomicU64,
    last: Mutex<Option<Instant>>,
    /// Whether some folder is not watched.
    incomplete: AtomicBool,
    /// The watched folders, as paths from the workspace's folder.
    pub(super) folders: WatchedFolders,
    /// Git's folders with their identities when the watch began: one that was replaced is not watched any more.
    watched_git: Mutex<Vec<FileIdentity>>,
    /// The folder that folders of marks are made in; without one there are no marks.
    marks_parent: Option<PathBuf>,
    marks: Mutex<Option<TempDir>>,
    next_mark: AtomicU64,
    files_saw: watch::Sender<u64>,
    git_saw: watch::Sender<u64>,
}

/// The event counts at a moment. As long as they are the present ones, nothing has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    files: u64,
    git: u64,
}

/// A path with the device and inode of what is there; `None` if nothing is.
type FileIdentity = (PathBuf, Option<(u64, u64)>);

/// A new folder of marks, which is removed with the barrier. Each barrier has its own, because two of one workspace may
/// live for a while, and each counts its marks by itself.
fn new_marks(parent: &Path) -> io::Result<TempDir> {
    std::fs::create_dir_all(parent)?;
    tempfile::Builder::new().prefix(MARKS_PREFIX).tempdir_in(parent)
}

/// Removes the folders of marks that an earlier process left in this folder, because it was killed or ended while a
/// workspace was watched. Waits for the disk.
pub fn remove_old_marks(parent: &Path) {
    let Ok(entries) = parent.read_dir() else { return };
    let is_marks = |name: &OsStr| name.as_encoded_bytes().starts_with(MARKS_PREFIX.as_bytes());
    for entry in entries.flatten().filter(|entry| is_marks(&entry.file_name())) {
        if let Err(error) = std::fs::remove_dir_all(entry.path()) {
            tracing::debug!(folder = %entry.path().display(), %error, "Old marks cannot be removed.");
        }
    }
}

fn at(path: PathBuf) -> FileIdentity {
    let found = path.metadata().ok().map(|found| (found.dev(), found.ino()));
    (path, found)
}

impl Barrier {
    /// A barrier whose marks lie in a new folder in this one.
    pub(crate) fn new(marks_parent: Option<PathBuf>) -> Self {
        Self { marks_parent, ..Self::default() }
    }

    /// The folder of the marks, which both watchers watch; `None` if it would lie in the workspace. Waits for the disk.
    pub(super) fn marks(&self, root: &Path) -> Option<PathBuf> {
        let mut marks = lock(&self.marks);
        if marks.is_none() {
            *marks = self.marks_parent.as_deref().and_then(|parent| new_marks(parent).ok());
        }
        // What is told are paths without links.
        let folder =
            marks.as_ref().and_then(|marks| marks.path().canonicalize().ok()).filter(|it| !it.starts_with(root));
        if folder.is_none() {
            *marks = None;
        }
        folder
    }

    /// Gives up on marks, because a watcher would not see them.
    pub(super) fn without_marks(&self) {
        *lock(&self.marks) = None;
    }

    /// Notes that a folder is not watched, because its name is not UTF-8.
    pub(super) fn mark_incomplete(&self) {
        self.incomplete.store(true, Ordering::SeqCst);
    }

    /// A watcher of the files starts, so every earlier moment is past.
    pub(super) fn begin_files(&self) {
        self.folders.clear();
        self.incomplete.store(false, Ordering::SeqCst);
        // A watcher that ends may see marks for a while.
        *lock(&self.last) = Some(Instant::now());
        self.reported.fetch_add(1, Ordering::SeqCst);
        self.handed_on.fetch_add(1, Ordering::SeqCst);
    }

    /// A watcher of these git folders starts. Waits for the disk.
    pub(super) fn begin_git(&self, folders: Vec<PathBuf>) {
        *lock(&self.watched_git) = folders.into_iter().map(at).collect();
        self.touch_git();
    }

    /// The workspace is not watched any more, so no moment can be present.
    pub(crate) fn end(&self) {
        lock(&self.watched_git).clear();
    }

    /// Counts an event about files; `hand_on` passes it to the watch task.
    pub(super) fn touch_files(&self, hand_on: impl FnOnce()) {
        self.reported.fetch_add(1, Ordering::SeqCst);
        *lock(&self.last) = Some(Instant::now());
        hand_on();
        self.handed_on.fetch_add(1, Ordering::SeqCst);
    }

    /// Counts an event about git's folders.
    pub(super) fn touch_git(&self) {
        self.git.fetch_add(1, Ordering::SeqCst);
        *lock(&self.last) = Some(Instant::now());
    }

    /// Notes that all passed on events are processed, unless some still wait.
    pub(super) fn settle(&self, is_waiting: impl FnOnce() -> bool) {
        let handed_on = self.handed_on.load(Ordering::SeqCst);
        if !is_waiting() {
            self.settled.store(handed_on, Ordering::SeqCst);
        }
    }

    /// Handles an event about a mark; false if it is about something else.
    pub(super) fn saw_mark(&self, observer: MarkObserver, marks: Option<&Path>, event: &notify::Result<Event>) -> bool {
        let (Some(marks), Ok(event)) = (marks, event) else { return false };
        let Some(path) = event.paths.first().filter(|path| path.starts_with(marks)) else { return false };
        let number = path.file_name().and_then(|name| name.to_str()?.parse().ok()).unwrap_or(0);
        let saw = match observer {
            MarkObserver::Files => &self.files_saw,
            MarkObserver::Git => &self.git_saw,
        };
        saw.send_if_modified(|seen| number > std::mem::replace(seen, number.max(*seen)));
        true
    }

    /// The present moment; `None` while something happens or not everything is watched yet.
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
        Moment { files: self.reported.load(Ordering::SeqCst), git: self.git.load(Ordering::SeqCst) }
    }

    /// Whether nothing has happened since a moment, and `holds`, which checks what is not watched, returns true. Writes
    /// a mark and waits for it.
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

    /// Writes a mark and returns its number. Waits for the disk.
    fn mark(&self) -> io::Result<u64> {
        let number = self.next_mark.fetch_add(1, Ordering::SeqCst) + 1;
        let folder = lock(&self.marks).as_ref().map(|marks| marks.path().to_owned());
        let file = folder.ok_or(io::ErrorKind::NotFound)?.join(number.to_string());
        File::create(&file)?;
        std::fs::remove_file(file)?;
        Ok(number)
    }

    /// Whether every folder that was found is watched.
    pub(crate) fn is_complete(&self) -> bool {
        !self.incomplete.load(Ordering::SeqCst)
    }

    /// The watched folders, as paths from the workspace's folder.
    pub(crate) fn watched(&self) -> BTreeSet<String> {
        lock(&self.folders.0).clone()
    }
}

/// The two watchers, each of which has to see a mark.
#[derive(Clone, Copy, Debug)]
pub(super) enum MarkObserver {
    Files,
    Git,
}

/// The watched folders, as paths from the workspace's folder.
#[derive(Debug, Default)]
pub(super) struct WatchedFolders(Mutex<BTreeSet<String>>);

impl WatchedFolders {
    pub(super) fn contains(&self, folder: &str) -> bool {
        lock(&self.0).contains(folder)
    }

    pub(super) fn insert(&self, folder: String) {
        lock(&self.0).insert(folder);
    }

    pub(super) fn clear(&self) {
        lock(&self.0).clear();
    }

    /// Removes a folder and those beneath it, and returns them.
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
