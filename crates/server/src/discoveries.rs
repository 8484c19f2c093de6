//! Caches searches for repositories by their root folders, each for an hour (`FRESH`). A caller gets an older result
//! too, at once, and a new search is started in the background.
//!
//! All who wait for the same roots share one search, which is cancelled with the last of them. A cancelled search is
//! not cached, because it is incomplete.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use roost_workspace::discover::{DiscoverLimits, Discovery, discover};
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

/// How long a finished search is not repeated.
const FRESH: Duration = Duration::from_hours(1);
/// How many sets of roots are cached; beyond it, all finished ones are dropped.
const KEPT: usize = 16;
/// How often a running search reports its progress.
const OFTEN: Duration = Duration::from_millis(100);

/// Searches below the roots. Before each folder it calls back with what it found so far, and stops when that returns
/// false.
type DiscoverFn = Arc<dyn Fn(&[PathBuf], &mut dyn FnMut(&Discovery) -> bool) -> Discovery + Send + Sync>;

/// A search that ran to its end, or was cut short by its client.
#[derive(Clone, Debug)]
pub(crate) struct FinishedSearch {
    pub(crate) found: Arc<Discovery>,
    pub(crate) at: Instant,
    pub(crate) took: Duration,
}

/// The answer to a request for the repositories below some roots.
pub(crate) enum Lookup {
    /// The last finished search, and whether a newer one runs.
    Cached(FinishedSearch, bool),
    /// Nothing is cached, or a fresh search was asked for: wait for this one.
    Running(SearchHandle),
}

/// The progress of a running search, which its task writes and waiters read.
#[derive(Debug, Default)]
struct SearchProgress {
    found: Discovery,
    over: Option<FinishedSearch>,
}

impl SearchProgress {
    fn take(&mut self, found: &Discovery) {
        let known = self.found.repositories.len();
        self.found.repositories.extend_from_slice(found.repositories.get(known..).unwrap_or_default());
        (self.found.scanned, self.found.skipped) = (found.scanned, found.skipped);
    }
}

/// A waiter of a running search. The search is cancelled when its last handle is dropped.
pub(crate) struct SearchHandle {
    progress: watch::Receiver<SearchProgress>,
    began: Instant,
    _wanted: Option<Arc<DropGuard>>,
}

impl SearchHandle {
    /// How many folders were read so far, and how many repositories were found.
    pub(crate) fn so_far(&self) -> (u64, usize) {
        let progress = self.progress.borrow();
        (progress.found.scanned, progress.found.repositories.len())
    }

    /// The time since the search began, for however many waiters.
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Waits for the next progress; returns the result once the search has finished. An error if it was cancelled.
    pub(crate) async fn next(&mut self) -> Result<Option<FinishedSearch>, watch::error::RecvError> {
        self.progress.changed().await?;
        Ok(self.progress.borrow_and_update().over.clone())
    }

    /// Gives up waiting and returns what was found until now.
    pub(crate) fn cut(self) -> FinishedSearch {
        let found = self.progress.borrow().found.clone().in_order();
        FinishedSearch { found: Arc::new(found), at: Instant::now(), took: self.began.elapsed() }
    }
}

/// The cache of searches, by their root folders.
pub(crate) struct Discoveries {
    discover: DiscoverFn,
    entries: Mutex<HashMap<Vec<PathBuf>, CacheEntry>>,
}

#[derive(Default)]
struct CacheEntry {
    last: Option<FinishedSearch>,
    running: Option<RunningSearch>,
}

/// A search whose task runs.
struct RunningSearch {
    progress: watch::Receiver<SearchProgress>,
    began: Instant,
    /// The guard that its waiters hold; absent for a refresh in the background, which runs to its end.
    wanted: Option<Weak<DropGuard>>,
}

impl RunningSearch {
    /// One more handle; `None` if the last waiter has just cancelled the search.
    fn join(&self) -> Option<SearchHandle> {
        let wanted = match &self.wanted {
            Some(wanted) => Some(wanted.upgrade()?),
            None => None,
        };
        Some(SearchHandle { progress: self.progress.clone(), began: self.began, _wanted: wanted })
    }
}

impl Default for Discoveries {
    fn default() -> Self {
        Self::new(Arc::new(|roots, goes_on| discover(roots, DiscoverLimits::default(), goes_on)))
    }
}

impl Discoveries {
    fn new(discover: DiscoverFn) -> Self {
        Self { discover, entries: Mutex::default() }
    }

    /// The repositories below these roots: from the cache unless `fresh`, else from a search that is joined or started.
    pub(crate) fn search(
        self: &Arc<Self>,
        roots: &[PathBuf],
        fresh: bool,
        tasks: &TaskTracker,
        closing: &CancellationToken,
    ) -> Lookup {
        let mut all = self.entries();
        if all.len() >= KEPT && !all.contains_key(roots) {
            all.retain(|_, entry| entry.running.is_some());
        }
        let entry = all.entry(roots.to_vec()).or_default();
        if let Some(last) = entry.last.clone().filter(|_| !fresh) {
            if entry.running.is_none() && last.at.elapsed() >= FRESH {
                entry.running = Some(self.start(roots, tasks, closing.child_token(), None));
            }
            return Lookup::Cached(last, entry.running.is_some());
        }
        if let Some(search) = entry.running.as_ref().and_then(RunningSearch::join) {
            return Lookup::Running(search);
        }
        let cancel = closing.child_token();
        let wanted = Arc::new(cancel.clone().drop_guard());
        let running = self.start(roots, tasks, cancel, Some(Arc::downgrade(&wanted)));
        let search = SearchHandle { progress: running.progress.clone(), began: running.began, _wanted: Some(wanted) };
        entry.running = Some(running);
        Lookup::Running(search)
    }

    /// Drops every finished search, so that the next caller starts a new one. Searches that run are not cancelled.
    pub(crate) fn forget(&self) {
        self.entries().values_mut().for_each(|entry| entry.last = None);
    }

    fn start(
        self: &Arc<Self>,
        roots: &[PathBuf],
        tasks: &TaskTracker,
        cancel: CancellationToken,
        wanted: Option<Weak<DropGuard>>,
    ) -> RunningSearch {
        let (sender, progress) = watch::channel(SearchProgress::default());
        let began = Instant::now();
        let (this, roots, mine) = (self.clone(), roots.to_vec(), progress.clone());
        tasks.spawn_blocking(move || {
            let mut last = began;
            let found = (this.discover)(&roots, &mut |found| {
                if last.elapsed() >= OFTEN {
                    last = Instant::now();
                    sender.send_modify(|progress| progress.take(found));
                }
                !cancel.is_cancelled()
            });
            let searched = FinishedSearch { found: Arc::new(found), at: Instant::now(), took: began.elapsed() };
            let is_whole = !cancel.is_cancelled();
            if let Some(entry) = this.entries().get_mut(&roots) {
                // Another one may have begun since this one was ended.
                entry.running.take_if(|running| running.progress.same_channel(&mine));
                if is_whole {
                    entry.last = Some(searched.clone());
                }
            }
            if is_whole {
                sender.send_modify(|progress| {
                    progress.found = Discovery::clone(&searched.found);
                    progress.over = Some(searched);
                });
            }
        });
        RunningSearch { progress, began, wanted }
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<Vec<PathBuf>, CacheEntry>> {
        self.entries.lock()
    }
}

#[cfg(test)]
#[path = "discoveries_tests.rs"]
mod tests;
