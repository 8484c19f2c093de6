//! A workspace's folder with its index, which is kept as fresh as its use needs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use parking_lot::{Mutex, MutexGuard, RwLock};
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use crate::index::{Facts, Index, TrackedFiles, scan};
use crate::status_cache::StatusCache;
use crate::watch::{Barrier, Watch, WorkspaceFollower};
use crate::{Error, GitDir, Root};

/// How long an index counts as up to date without a watcher.
const GOOD: Duration = Duration::from_secs(2);

/// The state of a workspace's index, as `repository/index/status` reports it.
#[derive(Clone, Debug, Default)]
pub struct IndexStatus {
    /// Whether it can be searched. While `is_building`, it may hold an older state.
    pub is_ready: bool,
    /// Whether a scan runs now.
    pub is_building: bool,
    /// Whether a watcher keeps it up to date.
    pub is_fresh: bool,
    /// When the last scan ended; absent until the first one.
    pub scanned_at: Option<SystemTime>,
    /// When an entry last changed; absent until the first scan.
    pub updated_at: Option<SystemTime>,
    /// Whether the folder is the top of a git working copy.
    pub is_git: bool,
    /// How many files are left out because their names are not UTF-8.
    pub unnamed: usize,
    /// Why the last scan failed, or why git's index could not be read; absent while all is well.
    pub error: Option<String>,
}

#[derive(Debug, Default)]
struct IndexState {
    status: IndexStatus,
    /// When the names of all files were last found, and when each file was last stat'ed, by the monotonic clock.
    named: Option<Instant>,
    scanned: Option<Instant>,
}

/// A workspace's folder with its index.
#[derive(Debug)]
pub struct Repository {
    root: Root,
    /// The file of the index snapshot, for the next start; absent in tests that need none.
    snapshot: Option<PathBuf>,
    /// Readers clone the `Arc` and release the lock; a change copies the index only while a reader holds it.
    index: RwLock<Arc<Index>>,
    state: Mutex<IndexState>,
    /// Held during a scan, so that only one runs.
    scanning: Mutex<()>,
    is_fresh: AtomicBool,
    /// Whether the index differs from its snapshot.
    is_unsaved: AtomicBool,
    watch: Watch,
    barrier: Arc<Barrier>,
    status_cache: StatusCache,
}

impl Repository {
    /// A repository of this folder; nothing is read yet.
    pub fn new(root: Root, snapshot: Option<PathBuf>) -> Self {
        let barrier = Barrier::new(snapshot.as_deref().and_then(Path::parent).map(ToOwned::to_owned));
        Self {
            root,
            snapshot,
            index: RwLock::default(),
            state: Mutex::default(),
            scanning: Mutex::default(),
            is_fresh: AtomicBool::new(false),
            is_unsaved: AtomicBool::new(false),
            watch: Watch::default(),
            barrier: Arc::new(barrier),
            status_cache: StatusCache::default(),
        }
    }

    /// The workspace's folder, held open.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// Follows what happens in the folder. Starts the watcher if there is none; must be called within a tokio runtime.
    pub fn follow(self: &Arc<Self>) -> WorkspaceFollower {
        self.watch.follow(self)
    }

    /// The index as it is, whether or not it is up to date.
    pub fn index(&self) -> Arc<Index> {
        self.index.read().clone()
    }

    /// The state of the index now.
    pub fn status(&self) -> IndexStatus {
        let mut status = self.state().status.clone();
        status.is_fresh = self.is_fresh.load(Ordering::Relaxed);
        status
    }

    /// The index, up to date. After a restart it is the snapshot at first, which is refreshed in the background.
    pub async fn current(self: &Arc<Self>) -> Result<Arc<Index>, Error> {
        self.refreshed(Self::refresh).await
    }

    /// The index with the right names. Sizes and times may be those that git remembers.
    pub async fn named(self: &Arc<Self>) -> Result<Arc<Index>, Error> {
        if self.has_names() {
            return Ok(self.index());
        }
        self.refreshed(Self::refresh_names).await
    }

    async fn refreshed(
        self: &Arc<Self>,
        refresh: impl FnOnce(&Self) -> Result<(), Error> + Send + 'static,
    ) -> Result<Arc<Index>, Error> {
        if self.is_good() {
            return Ok(self.index());
        }
        let this = self.clone();
        let joined = spawn_blocking(move || {
            if !this.load() {
                return refresh(&this);
            }
            // It is owned by the pool of threads, which waits for it at the end.
            spawn_blocking(move || {
                if let Err(error) = this.refresh() {
                    tracing::warn!(%error, "The index could not be brought up to date.");
                }
            });
            Ok(())
        });
        match joined.await {
            Ok(done) => done.map(|()| self.index()),
            Err(_) => Ok(self.index()),
        }
    }

    /// Scans all files, however fresh the index is, and returns how many changed. Waits for the disk.
    pub fn rebuild(&self) -> Result<usize, Error> {
        let _one = self.scanning.lock();
        self.scan()
    }

    /// Reads the files whose line counts are unknown, and returns the index with them. Waits for the disk.
    pub fn read_contents(&self, cancel: &CancellationToken) -> Arc<Index> {
        let read = self.index().unread(&self.root, cancel);
        let now = self.index();
        // What changed while it was read must be read again.
        let is_same = |path: &str, facts: &Facts| {
            now.get(path)
                .is_some_and(|file| Facts { content: None, ..*facts } == Facts { content: None, ..file.facts() })
        };
        let known = read.into_iter().filter(|(path, facts)| facts.is_some_and(|facts| is_same(path, &facts))).collect();
        self.apply(&known);
        self.save();
        self.index()
    }

    /// Applies changes to the index: facts of a file that is there, nothing for one that is gone.
    pub(crate) fn apply(&self, changes: &BTreeMap<String, Option<Facts>>) {
        if changes.is_empty() {
            return;
        }
        Arc::make_mut(&mut self.index.write()).apply(changes);
        self.state().status.updated_at = Some(SystemTime::now());
        self.is_unsaved.store(true, Ordering::Relaxed);
    }

    /// Reads again which files git tracks. Waits for the disk.
    pub(crate) fn retrack(&self) {
        let git = GitDir::find(self.root.path());
        self.state().status.is_git = git.as_ref().is_some_and(GitDir::is_top);
        let Some(Ok(tracked)) = git.map(|git| TrackedFiles::read(&git)) else { return };
        let paths = tracked.paths();
        let index = self.index();
        if index.files().any(|file| file.is_tracked() != paths.contains(file.path())) {
            drop(index);
            let mut index = self.index.write();
            Arc::make_mut(&mut index).set_tracked(|path| paths.contains(path));
        }
    }

    pub(crate) fn set_fresh(&self, is_fresh: bool) {
        let was_fresh = self.is_fresh.swap(is_fresh, Ordering::Relaxed);
        if !is_fresh {
            self.barrier.end();
        }
        if was_fresh && !is_fresh {
            // The watcher has seen everything until now; from here on the age of the index counts.
            self.state().scanned = Some(Instant::now());
        }
    }

    pub(crate) fn is_fresh(&self) -> bool {
        self.is_fresh.load(Ordering::Relaxed)
    }

    /// The barrier, which tells what the watchers have seen.
    pub(crate) fn barrier(&self) -> &Arc<Barrier> {
        &self.barrier
    }

    pub(crate) fn status_cache(&self) -> &StatusCache {
        &self.status_cache
    }

    fn is_good(&self) -> bool {
        let is_new = || self.state().scanned.is_some_and(|scanned| scanned.elapsed() < GOOD);
        self.is_fresh.load(Ordering::Relaxed) || is_new()
    }

    fn has_names(&self) -> bool {
        self.state().named.is_some_and(|named| named.elapsed() < GOOD)
    }

    /// Brings the index up to date, unless somebody else has done so meanwhile.
    fn refresh(&self) -> Result<(), Error> {
        let _one = self.scanning.lock();
        if !self.is_good() {
            if !self.has_names() {
                self.find_names()?;
            }
            self.stat_all();
        }
        Ok(())
    }

    /// Finds the names of all files, unless somebody else has done so meanwhile.
    fn refresh_names(&self) -> Result<(), Error> {
        let _one = self.scanning.lock();
        if self.is_good() || self.has_names() { Ok(()) } else { self.find_names().map(drop) }
    }

    /// Loads the snapshot of the last run; false if there is none, or if the index is ready.
    fn load(&self) -> bool {
        if self.state().status.is_ready {
            return false;
        }
        let Some(index) = self.snapshot.as_deref().and_then(Index::load) else { return false };
        let mut current = self.index.write();
        if current.is_empty() {
            *current = Arc::new(index);
        }
        self.state().status.is_ready = true;
        true
    }

    fn scan(&self) -> Result<usize, Error> {
        let mut changes = self.find_names()?;
        changes.extend(self.stat_all());
        Ok(changes.len())
    }

    /// Finds the names of all files, with the sizes and times that git remembers. Returns what changed.
    fn find_names(&self) -> Result<BTreeMap<String, Option<Facts>>, Error> {
        // What was read of files is known from the last run, and need not be read again.
        self.load();
        self.state().status.is_building = true;
        let scanned = scan(&self.root);
        let mut state = self.state();
        state.status.is_building = false;
        let scanned = match scanned {
            Ok(scanned) => scanned,
            Err(error) => {
                state.status.error = Some(error.to_string());
                return Err(error);
            }
        };
        let now = SystemTime::now();
        state.named = Some(Instant::now());
        let status = &mut state.status;
        status.is_git = GitDir::find(self.root.path()).is_some_and(|git| git.is_top());
        status.unnamed = scanned.unnamed;
        status.error = scanned.git_error.map(|error| error.to_string());
        status.scanned_at = Some(now);
        let is_first = !status.is_ready;
        status.is_ready = true;
        drop(state);

        let before = self.index();
        let changes = if is_first {
            *self.index.write() = Arc::new(scanned.index);
            self.state().status.updated_at = Some(now);
            self.is_unsaved.store(true, Ordering::Relaxed);
            BTreeMap::new()
        } else {
            before.changes_to(&scanned.index)
        };
        drop(before);
        self.apply(&changes);
        Ok(changes)
    }

    /// Stats each tracked file, because what git remembers may be outdated. Returns what changed.
    fn stat_all(&self) -> BTreeMap<String, Option<Facts>> {
        let outdated = self.index().outdated(&self.root);
        self.apply(&outdated);
        self.state().scanned = Some(Instant::now());
        self.save();
        outdated
    }

    /// Writes the snapshot if the index has changed. A failure only makes the next start slower. Waits for the disk.
    pub(crate) fn save(&self) {
        if let Some(path) = &self.snapshot
            && self.is_unsaved.swap(false, Ordering::Relaxed)
            && let Err(error) = self.index().save(path)
        {
            tracing::warn!(path = %path.display(), %error, "The index could not be kept for the next start.");
        }
    }

    fn state(&self) -> MutexGuard<'_, IndexState> {
        self.state.lock()
    }
}
