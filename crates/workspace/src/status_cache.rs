//! Caches `git status` for as long as the watcher saw no change, and for at most 30 s (`AGE`).
//!
//! Only for a workspace that is followed: its watcher sees the files that git does not ignore and git's own folders, and
//! [`Barrier`](crate::watch::Barrier) tells whether it has seen anything until now. What it cannot see is looked at (settings
//! outside the repository) or makes an answer unfit to be cached (a repository in the repository, a tracked file in an ignored
//! folder, a network's file system). In doubt git is asked.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;
use tokio::task::spawn_blocking;

use crate::git::{Git, GitStatus};
use crate::index::TrackedFiles;
use crate::repository::Repository;
use crate::watch::{Barrier, Moment};
use crate::{Error, GitDir, Root};

/// The most that a status is reused: it bounds how long a change can be missed that nobody thought of.
const AGE: Duration = Duration::from_secs(30);

/// A settings file must be older than this when git starts, else it may have changed while git ran.
const JUST_NOW: Duration = Duration::from_secs(1);

/// File systems that other machines change without this one being told: NFS, SMB (three), FUSE, 9P, Ceph, AFS.
const DISTANT: [u64; 8] =
    [0x6969, 0x517B, 0xFE53_4D42, 0xFF53_4D42, 0x6573_5546, 0x0102_1997, 0x00C3_6400, 0x5346_414F];

/// The last status of one working copy, and the conditions under which it may be reused.
#[derive(Debug, Default)]
pub(crate) struct StatusCache(Mutex<Option<CachedStatus>>);

#[derive(Clone, Debug)]
struct CachedStatus {
    status: Arc<GitStatus>,
    moment: Moment,
    began: SystemTime,
    since: Instant,
    fitness: Fitness,
}

/// Whether a status may be reused. Found out at its first reuse, because most are never asked for again.
#[derive(Clone, Debug)]
enum Fitness {
    Unknown,
    /// It may be, as long as these files outside the workspace do not change.
    Fit(Arc<Vec<OutsideFile>>),
    Unfit,
}

/// A file outside the workspace that git reads, with its inode, size and change time; `None` if it does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
struct OutsideFile(PathBuf, Option<(u64, u64, i64, i64)>);

impl OutsideFile {
    fn at(path: PathBuf) -> Self {
        let found = path.metadata().ok();
        let found = found.map(|found| (found.ino(), found.size(), found.ctime(), found.ctime_nsec()));
        Self(path, found)
    }

    fn is_older_than(&self, time: SystemTime) -> bool {
        let time = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        self.1.is_none_or(|(_, _, seconds, _)| u64::try_from(seconds).unwrap_or_default() < time.as_secs())
    }
}

impl StatusCache {
    fn get(&self) -> Option<CachedStatus> {
        self.0.lock().clone()
    }

    fn set(&self, answer: Option<CachedStatus>) {
        *self.0.lock() = answer;
    }
}

impl Repository {
    /// The status of the working copy with line counts, like [`Git::status`]; from the cache if nothing happened since
    /// the last one.
    pub async fn git_status(&self) -> Result<Arc<GitStatus>, Error> {
        if let Some(status) = self.known_status().await {
            return Ok(status);
        }
        let (began, since) = (SystemTime::now(), Instant::now());
        let moment = self.barrier().moment().filter(|_| self.is_fresh());
        let status = Arc::new(Git::new(self.root().clone()).status().await?);
        if let Some(moment) = moment
            // What is unfit stays so until something happens.
            && self.status_cache().get().is_none_or(|last| last.moment != moment || !matches!(last.fitness, Fitness::Unfit))
        {
            let fitness = Fitness::Unknown;
            self.status_cache().set(Some(CachedStatus { status: status.clone(), moment, began, since, fitness }));
        }
        Ok(status)
    }

    /// Whether a status is cached that is fit to be reused. For tests.
    pub fn has_cached_status(&self) -> bool {
        self.status_cache().get().is_some_and(|answer| matches!(answer.fitness, Fitness::Fit(_)))
    }

    async fn known_status(&self) -> Option<Arc<GitStatus>> {
        let answer = self.status_cache().get().filter(|answer| self.is_fresh() && answer.since.elapsed() < AGE)?;
        let outside = match &answer.fitness {
            Fitness::Unfit => return None,
            Fitness::Unknown => None,
            Fitness::Fit(outside) => Some(outside.clone()),
        };
        let holds =
            move || outside.is_none_or(|files| files.iter().all(|file| OutsideFile::at(file.0.clone()) == *file));
        if !self.barrier().is_present(answer.moment, holds).await {
            self.status_cache().set(None);
            return None;
        }
        if matches!(answer.fitness, Fitness::Unknown) {
            let fitness = self.fitness(answer.began).await;
            let is_fit = matches!(fitness, Fitness::Fit(_));
            self.status_cache().set(Some(CachedStatus { fitness, ..answer.clone() }));
            if !is_fit {
                return None;
            }
        }
        Some(answer.status)
    }

    async fn fitness(&self, began: SystemTime) -> Fitness {
        let Ok(settings) = Git::new(self.root().clone()).settings().await else { return Fitness::Unfit };
        let (root, barrier) = (self.root().clone(), self.barrier().clone());
        let work = move || {
            let outside: Vec<_> = outside(root.path(), &settings).into_iter().map(OutsideFile::at).collect();
            match () {
                () if !outside.iter().all(|file| file.is_older_than(began - JUST_NOW)) => Fitness::Unknown,
                () if is_near(&root) && is_watched(&root, &barrier) => Fitness::Fit(Arc::new(outside)),
                () => Fitness::Unfit,
            }
        };
        spawn_blocking(work).await.unwrap_or(Fitness::Unfit)
    }
}

/// The files outside the repository that git reads for a status: those of its settings, those that the settings name,
/// and those that it would read if they existed.
fn outside(root: &Path, settings: &[(PathBuf, String, String)]) -> BTreeSet<PathBuf> {
    let home = std::env::home_dir().unwrap_or_default();
    let config = std::env::var_os("XDG_CONFIG_HOME").filter(|path| !path.is_empty());
    let config = config.map_or_else(|| home.join(".config"), PathBuf::from).join("git");
    let mut files = BTreeSet::from([home.join(".gitconfig"), "/etc/gitconfig".into(), "/etc/gitattributes".into()]);
    files.extend(["config", "ignore", "attributes"].map(|name| config.join(name)));
    for (origin, key, value) in settings {
        // The repository's own are watched.
        files.extend(Some(origin).filter(|origin| origin.is_absolute()).cloned());
        if key == "core.excludesfile" || key == "core.attributesfile" {
            files.insert(value.strip_prefix("~/").map_or_else(|| root.join(value), |rest| home.join(rest)));
        }
    }
    files
}

/// Whether the folder lies on a local file system, of which this machine's kernel reports every change.
fn is_near(root: &Root) -> bool {
    rustix::fs::statfs(root.path()).is_ok_and(|system| !DISTANT.contains(&(system.f_type as u64 & 0xFFFF_FFFF)))
}

/// Whether the whole repository is watched: no folder of a tracked file is ignored, and no other repository lies in it.
fn is_watched(root: &Root, barrier: &Barrier) -> bool {
    let Some(Ok(tracked)) = GitDir::find(root.path()).map(|git| TrackedFiles::read(&git)) else { return false };
    if !barrier.is_complete() || !tracked.is_named() {
        return false;
    }
    let watched = barrier.watched();
    let parent = |path: &str| path.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned());
    let is_seen = |folder: &str| {
        let mut folder = folder.to_owned();
        // What is gone is seen when it comes back, by whoever watches the folder that it was in.
        while !folder.is_empty() && !watched.contains(&folder) && !root.path().join(&folder).exists() {
            folder = parent(&folder);
        }
        watched.contains(&folder)
    };
    let folders: BTreeSet<_> = tracked.paths().into_iter().map(parent).collect();
    let holds_repository = |folder: &String| !folder.is_empty() && root.path().join(folder).join(".git").exists();
    folders.iter().all(|folder| is_seen(folder)) && !watched.iter().any(holds_repository)
}
