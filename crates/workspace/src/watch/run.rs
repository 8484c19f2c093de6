//! The task that watches one workspace.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{broadcast, mpsc, watch};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{Instant, sleep_until};

use super::burst::{Burst, Touch};
use super::files::FileWatcher;
use super::git::GitWatcher;
use super::throttle::GitThrottle;
use super::{Error, RescanReason, WatchState, WorkspaceEvent};
use crate::GitDir;
use crate::repository::Repository;

/// File events that may wait for the task. Beyond that the kernel queues them, and reports when it drops some.
const WAITING: usize = 4096;

/// How often a workspace is rescanned that cannot be watched completely.
pub(super) const POLL: Duration = Duration::from_secs(10);

/// The state of the task that watches one workspace.
pub(super) struct WatchTask {
    repository: Arc<Repository>,
    events: broadcast::Sender<WorkspaceEvent>,
    state: watch::Sender<WatchState>,
    touches: mpsc::Receiver<Touch>,
    touch: mpsc::Sender<Touch>,
    burst: Burst,
    throttle: GitThrottle,
    git: Option<GitTouches>,
    /// Why git's directory is not watched; absent if it is, or if there is no repository.
    git_trouble: Option<Error>,
}

type GitTouches = (GitWatcher, watch::Receiver<u64>);

/// The outcome of processing a burst.
struct BurstOutcome {
    files: FileWatcher,
    events: Vec<WorkspaceEvent>,
    /// The new watcher of git's directory; absent if none was needed.
    new_git: Option<Result<Option<GitTouches>, Error>>,
}

/// Marks the index as no longer fresh, and saves it, when the task ends.
struct FreshGuard(Arc<Repository>);

impl Drop for FreshGuard {
    fn drop(&mut self) {
        self.0.set_fresh(false);
        let repository = self.0.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            // It is owned by the pool of threads, which waits for it at the end.
            runtime.spawn_blocking(move || repository.save());
        }
    }
}

impl WatchTask {
    pub(super) fn new(
        repository: Arc<Repository>,
        events: broadcast::Sender<WorkspaceEvent>,
        state: watch::Sender<WatchState>,
    ) -> Self {
        let (touch, touches) = mpsc::channel(WAITING);
        let (burst, throttle) = (Burst::default(), GitThrottle::new(Instant::now()));
        Self { repository, events, state, touches, touch, burst, throttle, git: None, git_trouble: None }
    }

    pub(super) async fn run(mut self) {
        let (repository, touch) = (self.repository.clone(), self.touch.clone());
        let work = spawn_blocking(move || {
            let git = watch_git(&repository);
            (FileWatcher::start(repository.root().clone(), repository.barrier().clone(), touch), git)
        });
        let Some((mut files, git)) = self.wait_collecting(work).await else { return };
        self.take_git(git);
        // Only what happens from now on is told, so what was before must be known.
        let _fresh = FreshGuard(self.repository.clone());
        let repository = self.repository.clone();
        // A folder that is gone has no files; that is what the index then says.
        let work = spawn_blocking(move || _ = repository.rebuild());
        if self.wait_collecting(work).await.is_none() {
            return;
        }
        self.update_trouble(&files);
        self.advance_barrier();
        self.state.send_modify(|state| state.is_ready = true);

        let mut look = Instant::now() + POLL;
        loop {
            let is_blind = self.state.borrow().trouble.is_some();
            tokio::select! {
                Some(touch) = self.touches.recv() => self.burst.add(touch, Instant::now()),
                () = at(self.burst.due()) => {
                    let burst = std::mem::take(&mut self.burst);
                    let Some(back) = self.settle(files, burst, RescanReason::Lost).await else { return };
                    files = back;
                }
                () = sleep_until(look), if is_blind => {
                    let Some(back) = self.settle(files, Burst::lost(), RescanReason::Blind).await else { return };
                    files = back;
                    // What git does may not be told either.
                    self.throttle.touch(Instant::now());
                    look = Instant::now() + POLL;
                }
                () = changed(&mut self.git) => self.throttle.touch(Instant::now()),
                () = at(self.throttle.due()) => {
                    self.throttle.mark_sent(Instant::now());
                    let repository = self.repository.clone();
                    if self.wait_collecting(spawn_blocking(move || repository.retrack())).await.is_none() {
                        return;
                    }
                    self.send(WorkspaceEvent::Git);
                }
            }
        }
    }

    /// Waits for blocking work and receives events meanwhile. The notify thread that sends them also adds and removes
    /// watches, so work that waits for that thread must not keep it waiting.
    async fn wait_collecting<T>(&mut self, mut work: JoinHandle<T>) -> Option<T> {
        loop {
            tokio::select! {
                done = &mut work => return done.ok(),
                Some(touch) = self.touches.recv() => self.burst.add(touch, Instant::now()),
            }
        }
    }

    /// Processes a burst: brings the index up to date and sends the changes. `None` if the work panicked.
    async fn settle(&mut self, files: FileWatcher, burst: Burst, why: RescanReason) -> Option<FileWatcher> {
        // One that was replaced is another repository, and must be watched anew.
        let is_git_new = burst.touched.contains_key(".git") || (self.git.is_none() && burst.is_lost);
        let repository = self.repository.clone();
        let work = spawn_blocking(move || settle(&repository, files, burst, why, is_git_new));
        let BurstOutcome { files, events, new_git } = self.wait_collecting(work).await?;
        if let Some(git) = new_git {
            self.take_git(git);
        }
        if !events.is_empty() || (is_git_new && self.git.is_some()) {
            self.throttle.touch(Instant::now());
        }
        events.into_iter().for_each(|event| self.send(event));
        self.update_trouble(&files);
        self.advance_barrier();
        Some(files)
    }

    /// Tells the barrier that all events so far are processed, unless some still wait.
    fn advance_barrier(&self) {
        self.repository.barrier().settle(|| !self.touches.is_empty() || self.burst.due().is_some());
    }

    fn take_git(&mut self, git: Result<Option<GitTouches>, Error>) {
        (self.git, self.git_trouble) = match git {
            Ok(git) => (git, None),
            Err(error) => (None, Some(error)),
        };
    }

    /// Updates whether everything is watched, and sends `Failed` when that ceases to be so.
    fn update_trouble(&self, files: &FileWatcher) {
        let trouble = files.blind().or(self.git_trouble.as_ref()).cloned();
        self.repository.set_fresh(trouble.is_none());
        let is_new = trouble.is_some() && self.state.borrow().trouble.is_none();
        self.state.send_modify(|state| state.trouble.clone_from(&trouble));
        if is_new {
            trouble.into_iter().for_each(|error| self.send(WorkspaceEvent::Failed(error)));
        }
    }

    fn send(&self, event: WorkspaceEvent) {
        // Nobody to hear it is no reason to stop: whoever comes next shares this watcher.
        let _ = self.events.send(event);
    }
}

fn watch_git(repository: &Repository) -> Result<Option<GitTouches>, Error> {
    let root = repository.root().path();
    GitDir::find(root).map(|git| GitWatcher::start(&git, root, repository.barrier())).transpose()
}

/// Brings the index up to date after a burst; returns the events to send.
fn settle(
    repository: &Repository,
    mut files: FileWatcher,
    burst: Burst,
    why: RescanReason,
    is_git_new: bool,
) -> BurstOutcome {
    let new_git = is_git_new.then(|| watch_git(repository));
    let mut events = Vec::new();
    if burst.is_lost {
        match why {
            RescanReason::Blind => files.watch_more(),
            _ => files.watch_again(),
        }
        let changed = rescan(repository);
        // Somebody who looks from time to time need not tell that there was nothing.
        if why == RescanReason::Lost || changed > 0 {
            events.push(WorkspaceEvent::Rescanned(changed, why));
        }
    } else {
        let settled = files.settle(burst, &repository.index());
        repository.apply(&settled.facts);
        if !settled.changes.is_empty() {
            events.push(WorkspaceEvent::Files(settled.changes.into()));
        }
        if settled.rules_changed {
            files.watch_again();
            events.push(WorkspaceEvent::Rescanned(rescan(repository), RescanReason::Rules));
        }
    }
    BurstOutcome { files, events, new_git }
}

/// Scans all files and returns how many changed.
fn rescan(repository: &Repository) -> usize {
    let known = repository.index().len();
    // A folder that cannot be read any more has lost every file.
    repository.rebuild().unwrap_or(known)
}

async fn at(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}

async fn changed(git: &mut Option<GitTouches>) {
    if let Some((_, touches)) = git
        && touches.changed().await.is_ok()
    {
        return;
    }
    std::future::pending().await
}
