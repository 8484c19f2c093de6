//! What a search for repositories found, kept for an hour: whoever asks gets it at once, and what is older is looked up
//! again meanwhile.
//!
//! All who wait for the same folders share one search, and it ends with the last of them. What was found by a search
//! that somebody ended is not kept, since it is not all.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use roost_workspace::discover::{Discovery, Reach, discover};
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

/// How long a search is as good as new.
const FRESH: Duration = Duration::from_hours(1);
/// Searches that are kept, each for other folders.
const KEPT: usize = 16;
/// How often a search tells how far it is.
const OFTEN: Duration = Duration::from_millis(100);

/// Looks below folders; asks before each step, with what it found so far, whether to go on.
type Look = Arc<dyn Fn(&[PathBuf], &mut dyn FnMut(&Discovery) -> bool) -> Discovery + Send + Sync>;

/// A search that is over.
#[derive(Clone, Debug)]
pub(crate) struct Searched {
    pub(crate) found: Arc<Discovery>,
    pub(crate) at: Instant,
    pub(crate) took: Duration,
}

/// What is known of the repositories below some folders.
pub(crate) enum Known {
    /// This, and whether a newer search is under way.
    Before(Searched, bool),
    /// What a search will tell.
    Soon(Search),
}

/// A search as it goes.
#[derive(Debug, Default)]
struct Going {
    found: Discovery,
    over: Option<Searched>,
}

impl Going {
    fn take(&mut self, found: &Discovery) {
        let known = self.found.repositories.len();
        self.found.repositories.extend_from_slice(found.repositories.get(known..).unwrap_or_default());
        (self.found.scanned, self.found.skipped) = (found.scanned, found.skipped);
    }
}

/// One wait for a search; the last one that is dropped ends the search.
pub(crate) struct Search {
    going: watch::Receiver<Going>,
    began: Instant,
    _wanted: Option<Arc<DropGuard>>,
}

impl Search {
    /// Folders that were looked into so far, and repositories that were found.
    pub(crate) fn so_far(&self) -> (u64, usize) {
        let going = self.going.borrow();
        (going.found.scanned, going.found.repositories.len())
    }

    /// For how long it goes.
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Waits until there is more to tell; tells what came of it at the end. An error if it was ended.
    pub(crate) async fn next(&mut self) -> Result<Option<Searched>, watch::error::RecvError> {
        self.going.changed().await?;
        Ok(self.going.borrow_and_update().over.clone())
    }

    /// What was found until now.
    pub(crate) fn cut(self) -> Searched {
        let found = self.going.borrow().found.clone().in_order();
        Searched { found: Arc::new(found), at: Instant::now(), took: self.began.elapsed() }
    }
}

/// The searches, by the folders that they begin in.
pub(crate) struct Discoveries {
    look: Look,
    folders: Mutex<HashMap<Vec<PathBuf>, Folders>>,
}

#[derive(Default)]
struct Folders {
    last: Option<Searched>,
    running: Option<Running>,
}

/// A search that is under way.
struct Running {
    going: watch::Receiver<Going>,
    began: Instant,
    /// Held by all who wait for it; one that nobody waited for at its beginning goes on without them.
    wanted: Option<Weak<DropGuard>>,
}

impl Running {
    /// One more wait for it, unless the last one has just ended it.
    fn join(&self) -> Option<Search> {
        let wanted = match &self.wanted {
            Some(wanted) => Some(wanted.upgrade()?),
            None => None,
        };
        Some(Search { going: self.going.clone(), began: self.began, _wanted: wanted })
    }
}

impl Default for Discoveries {
    fn default() -> Self {
        Self::new(Arc::new(|roots, goes_on| discover(roots, Reach::default(), goes_on)))
    }
}

impl Discoveries {
    fn new(look: Look) -> Self {
        Self { look, folders: Mutex::default() }
    }

    /// What is below these folders: as it is known, or `fresh`ly looked up.
    pub(crate) fn search(
        self: &Arc<Self>,
        roots: &[PathBuf],
        fresh: bool,
        tasks: &TaskTracker,
        closing: &CancellationToken,
    ) -> Known {
        let mut all = self.folders();
        if all.len() >= KEPT && !all.contains_key(roots) {
            all.retain(|_, folders| folders.running.is_some());
        }
        let folders = all.entry(roots.to_vec()).or_default();
        if let Some(last) = folders.last.clone().filter(|_| !fresh) {
            if folders.running.is_none() && last.at.elapsed() >= FRESH {
                folders.running = Some(self.start(roots, tasks, closing.child_token(), None));
            }
            return Known::Before(last, folders.running.is_some());
        }
        if let Some(search) = folders.running.as_ref().and_then(Running::join) {
            return Known::Soon(search);
        }
        let cancel = closing.child_token();
        let wanted = Arc::new(cancel.clone().drop_guard());
        let running = self.start(roots, tasks, cancel, Some(Arc::downgrade(&wanted)));
        let search = Search { going: running.going.clone(), began: running.began, _wanted: Some(wanted) };
        folders.running = Some(running);
        Known::Soon(search)
    }

    /// Forgets what is known.
    pub(crate) fn forget(&self) {
        self.folders().values_mut().for_each(|folders| folders.last = None);
    }

    fn start(
        self: &Arc<Self>,
        roots: &[PathBuf],
        tasks: &TaskTracker,
        cancel: CancellationToken,
        wanted: Option<Weak<DropGuard>>,
    ) -> Running {
        let (told, going) = watch::channel(Going::default());
        let began = Instant::now();
        let (this, roots, mine) = (self.clone(), roots.to_vec(), going.clone());
        tasks.spawn_blocking(move || {
            let mut last = began;
            let found = (this.look)(&roots, &mut |found| {
                if last.elapsed() >= OFTEN {
                    last = Instant::now();
                    told.send_modify(|going| going.take(found));
                }
                !cancel.is_cancelled()
            });
            let searched = Searched { found: Arc::new(found), at: Instant::now(), took: began.elapsed() };
            let is_whole = !cancel.is_cancelled();
            if let Some(folders) = this.folders().get_mut(&roots) {
                // Another one may have begun since this one was ended.
                folders.running.take_if(|running| running.going.same_channel(&mine));
                if is_whole {
                    folders.last = Some(searched.clone());
                }
            }
            if is_whole {
                told.send_modify(|going| {
                    going.found = Discovery::clone(&searched.found);
                    going.over = Some(searched);
                });
            }
        });
        Running { going, began, wanted }
    }

    fn folders(&self) -> MutexGuard<'_, HashMap<Vec<PathBuf>, Folders>> {
        self.folders.lock()
    }
}

#[cfg(test)]
#[path = "discoveries_tests.rs"]
mod tests;
