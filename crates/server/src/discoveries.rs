//! What a search for repositories found, kept for an hour: whoever asks gets it at once, and what is older is looked up
//! again meanwhile.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use roost_workspace::discover::{Discovery, Reach, discover};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long a search is as good as new.
const FRESH: Duration = Duration::from_hours(1);
/// Searches that are kept, each for other folders.
const KEPT: usize = 16;

/// A search that is over.
#[derive(Clone, Debug)]
pub(crate) struct Searched {
    pub(crate) found: Arc<Discovery>,
    pub(crate) at: Instant,
    pub(crate) took: Duration,
}

/// What is known of the repositories on this machine.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) searched: Searched,
    /// It was there before it was asked for.
    pub(crate) cached: bool,
    /// A newer search is under way.
    pub(crate) refreshing: bool,
}

/// The searches, by the folders that they begin in.
#[derive(Default)]
pub(crate) struct Discoveries {
    searches: Mutex<HashMap<Vec<PathBuf>, Search>>,
}

#[derive(Default)]
struct Search {
    last: Option<Searched>,
    /// Tells the result of the search that is under way.
    running: Option<watch::Receiver<Option<Searched>>>,
}

impl Discoveries {
    /// What is below these folders: as it is known, or `fresh`ly looked up. `None` if the daemon ends first.
    pub(crate) async fn of(
        self: &Arc<Self>,
        roots: Vec<PathBuf>,
        fresh: bool,
        tasks: &TaskTracker,
        closing: &CancellationToken,
    ) -> Option<Known> {
        let mut result = {
            let mut searches = self.searches();
            if searches.len() >= KEPT && !searches.contains_key(&roots) {
                searches.retain(|_, search| search.running.is_some());
            }
            let search = searches.entry(roots.clone()).or_default();
            let is_fresh = search.last.as_ref().is_some_and(|last| last.at.elapsed() < FRESH);
            if search.running.is_none() && (fresh || !is_fresh) {
                search.running = Some(self.start(roots, tasks, closing.clone()));
            }
            match (&search.last, &search.running) {
                (Some(last), running) if !fresh => {
                    return Some(Known { searched: last.clone(), cached: true, refreshing: running.is_some() });
                }
                (_, running) => running.clone()?,
            }
        };
        let searched = result.wait_for(Option::is_some).await.ok()?.clone()?;
        Some(Known { searched, cached: false, refreshing: false })
    }

    /// Forgets what is known.
    pub(crate) fn forget(&self) {
        self.searches().values_mut().for_each(|search| search.last = None);
    }

    fn start(
        self: &Arc<Self>,
        roots: Vec<PathBuf>,
        tasks: &TaskTracker,
        closing: CancellationToken,
    ) -> watch::Receiver<Option<Searched>> {
        let (told, result) = watch::channel(None);
        let searches = self.clone();
        tasks.spawn_blocking(move || {
            let began = Instant::now();
            let found = discover(&roots, Reach::default(), |_, _| !closing.is_cancelled());
            let searched = Searched { found: Arc::new(found), at: Instant::now(), took: began.elapsed() };
            if let Some(search) = searches.searches().get_mut(&roots) {
                search.last = Some(searched.clone());
                search.running = None;
            }
            told.send_replace(Some(searched));
        });
        result
    }

    fn searches(&self) -> MutexGuard<'_, HashMap<Vec<PathBuf>, Search>> {
        self.searches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
