//! The watcher of one workspace as it runs.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{broadcast, mpsc, watch};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{Instant, sleep_until};

use super::burst::{Burst, Touch};
use super::files::FileWatcher;
use super::git::GitWatcher;
use super::pace::Pace;
use super::{Error, Live, State, Why};
use crate::GitDir;
use crate::repository::Repository;

/// Touches that wait at most. Beyond that the kernel keeps them, and says so when it cannot.
const WAITING: usize = 4096;

/// How often a workspace is looked at that cannot be watched as a whole.
pub(super) const POLL: Duration = Duration::from_secs(10);

/// The watcher of one workspace.
pub(super) struct Run {
    repository: Arc<Repository>,
    events: broadcast::Sender<Live>,
    state: watch::Sender<State>,
    touches: mpsc::Receiver<Touch>,
    touch: mpsc::Sender<Touch>,
    burst: Burst,
    pace: Pace,
    git: Option<GitTouches>,
    /// Why git's folder is not watched.
    git_trouble: Option<Error>,
}

type GitTouches = (GitWatcher, watch::Receiver<u64>);

/// What a burst came to.
struct Happened {
    files: FileWatcher,
    events: Vec<Live>,
    /// What became of the wish to watch git's folder too, if there was one.
    new_git: Option<Result<Option<GitTouches>, Error>>,
}

/// Says that the index is kept fresh no more.
struct Fresh(Arc<Repository>);

impl Drop for Fresh {
    fn drop(&mut self) {
        self.0.set_fresh(false);
        let repository = self.0.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            // It is owned by the pool of threads, which waits for it at the end.
            runtime.spawn_blocking(move || repository.save());
        }
    }
}

impl Run {
    pub(super) fn new(
        repository: Arc<Repository>,
        events: broadcast::Sender<Live>,
        state: watch::Sender<State>,
    ) -> Self {
        let (touch, touches) = mpsc::channel(WAITING);
        let (burst, pace) = (Burst::default(), Pace::new(Instant::now()));
        Self { repository, events, state, touches, touch, burst, pace, git: None, git_trouble: None }
    }

    pub(super) async fn run(mut self) {
        let (repository, touch) = (self.repository.clone(), self.touch.clone());
        let work = spawn_blocking(move || {
            let git = watch_git(&repository);
            (FileWatcher::start(repository.root().clone(), repository.barrier().clone(), touch), git)
        });
        let Some((mut files, git)) = self.taking(work).await else { return };
        self.take_git(git);
        // Only what happens from now on is told, so what was before must be known.
        let _fresh = Fresh(self.repository.clone());
        let repository = self.repository.clone();
        // A folder that is gone has no files; that is what the index then says.
        let work = spawn_blocking(move || _ = repository.rebuild());
        if self.taking(work).await.is_none() {
            return;
        }
        self.know(&files);
        self.see();
        self.state.send_modify(|state| state.is_ready = true);

        let mut look = Instant::now() + POLL;
        loop {
            let is_blind = self.state.borrow().trouble.is_some();
            tokio::select! {
                Some(touch) = self.touches.recv() => self.burst.add(touch, Instant::now()),
                () = at(self.burst.due()) => {
                    let burst = std::mem::take(&mut self.burst);
                    let Some(back) = self.settle(files, burst, Why::Lost).await else { return };
                    files = back;
                }
                () = sleep_until(look), if is_blind => {
                    let Some(back) = self.settle(files, Burst::lost(), Why::Blind).await else { return };
                    files = back;
                    // What git does may not be told either.
                    self.pace.touch(Instant::now());
                    look = Instant::now() + POLL;
                }
                () = changed(&mut self.git) => self.pace.touch(Instant::now()),
                () = at(self.pace.due()) => {
                    self.pace.told(Instant::now());
                    let repository = self.repository.clone();
                    if self.taking(spawn_blocking(move || repository.retrack())).await.is_none() {
                        return;
                    }
                    self.tell(Live::Git);
                }
            }
        }
    }

    /// Waits for work that waits for the disk, and takes touches meanwhile: the thread that tells them also begins and
    /// ends to watch, so it must not wait for those who wait for it.
    async fn taking<T>(&mut self, mut work: JoinHandle<T>) -> Option<T> {
        loop {
            tokio::select! {
                done = &mut work => return done.ok(),
                Some(touch) = self.touches.recv() => self.burst.add(touch, Instant::now()),
            }
        }
    }

    /// Brings the index up to date after a burst and tells what it came to.
    async fn settle(&mut self, files: FileWatcher, burst: Burst, why: Why) -> Option<FileWatcher> {
        // One that was replaced is another repository, and must be watched anew.
        let is_git_new = burst.touched.contains_key(".git") || (self.git.is_none() && burst.is_lost);
        let repository = self.repository.clone();
        let work = spawn_blocking(move || settle(&repository, files, burst, why, is_git_new));
        let Happened { files, events, new_git } = self.taking(work).await?;
        if let Some(git) = new_git {
            self.take_git(git);
        }
        if !events.is_empty() || (is_git_new && self.git.is_some()) {
            self.pace.touch(Instant::now());
        }
        events.into_iter().for_each(|event| self.tell(event));
        self.know(&files);
        self.see();
        Some(files)
    }

    /// What was told so far and does not wait has led to its folders being watched.
    fn see(&self) {
        self.repository.barrier().settle(|| !self.touches.is_empty() || self.burst.due().is_some());
    }

    fn take_git(&mut self, git: Result<Option<GitTouches>, Error>) {
        (self.git, self.git_trouble) = match git {
            Ok(git) => (git, None),
            Err(error) => (None, Some(error)),
        };
    }

    /// Knows whether everything is watched, and tells it when it is no more.
    fn know(&self, files: &FileWatcher) {
        let trouble = files.blind().or(self.git_trouble.as_ref()).cloned();
        self.repository.set_fresh(trouble.is_none());
        let is_new = trouble.is_some() && self.state.borrow().trouble.is_none();
        self.state.send_modify(|state| state.trouble.clone_from(&trouble));
        if is_new {
            trouble.into_iter().for_each(|error| self.tell(Live::Failed(error)));
        }
    }

    fn tell(&self, event: Live) {
        // Nobody to hear it is no reason to stop: whoever comes next shares this watcher.
        let _ = self.events.send(event);
    }
}

fn watch_git(repository: &Repository) -> Result<Option<GitTouches>, Error> {
    let root = repository.root().path();
    GitDir::find(root).map(|git| GitWatcher::start(&git, root, repository.barrier())).transpose()
}

/// What a burst came to, with the index brought up to date.
fn settle(repository: &Repository, mut files: FileWatcher, burst: Burst, why: Why, is_git_new: bool) -> Happened {
    let new_git = is_git_new.then(|| watch_git(repository));
    let mut events = Vec::new();
    if burst.is_lost {
        match why {
            Why::Blind => files.watch_more(),
            _ => files.watch_again(),
        }
        let changed = look_at_all(repository);
        // Somebody who looks from time to time need not tell that there was nothing.
        if why == Why::Lost || changed > 0 {
            events.push(Live::Rescanned(changed, why));
        }
    } else {
        let settled = files.settle(burst, &repository.index());
        repository.apply(&settled.facts);
        if !settled.changes.is_empty() {
            events.push(Live::Files(settled.changes.into()));
        }
        if settled.rules_changed {
            files.watch_again();
            events.push(Live::Rescanned(look_at_all(repository), Why::Rules));
        }
    }
    Happened { files, events, new_git }
}

/// Looks at all files and tells how many are other than before.
fn look_at_all(repository: &Repository) -> usize {
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
