//! One file per running holder, so that the next start finds what a crash of daemon and holder left.

use std::{
    fs::{self, DirBuilder, OpenOptions},
    io::{self, Write},
    os::{
        fd::AsRawFd,
        unix::fs::{DirBuilderExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::{fs::OFlags, process::Signal};
use serde::{Deserialize, Serialize};

use crate::{
    Error, Ladder, Process, RunId,
    cgroup::Cgroup,
    descent::Descent,
    process::{self, boot_id},
    tree::Target,
};

/// How long a holder that outlived its daemon may take to end its tree by itself.
const HOLDER_PATIENCE: Duration = Duration::from_secs(5);

/// How often [`settled`] looks.
const SETTLE_POLL: Duration = Duration::from_millis(10);

/// What is on disk about one held runtime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The run, which all descendants of the runtime carry in their environment.
    pub run: RunId,
    /// Whatever the launch was labelled with, such as a session id.
    pub label: String,
    /// The boot of the machine in which the pids have a meaning.
    pub boot: String,
    /// The holder.
    pub holder: Process,
    /// The runtime.
    pub runtime: Process,
    /// The run's cgroup, if it has one.
    pub cgroup: Option<PathBuf>,
}

/// What [`reap`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reaped {
    /// The machine has been restarted since (or does not tell), so the pids mean nothing any more.
    OtherBoot,
    /// Nothing of the run is alive, except these pids, which we may not signal.
    Gone {
        /// Usually empty.
        left: Vec<u32>,
    },
}

impl Record {
    /// Writes the record so that a reader sees all of it or nothing.
    pub(crate) fn write(&self, directory: &Path) -> Result<(), Error> {
        let path = path(directory, &self.run);
        let write = || {
            DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
            let unfinished = path.with_extension("tmp");
            let mut file = OpenOptions::new();
            let flags = OFlags::NOFOLLOW.bits().cast_signed();
            file.write(true).create(true).truncate(true).mode(0o600).custom_flags(flags);
            file.open(&unfinished)?.write_all(&serde_json::to_vec(self)?)?;
            fs::rename(&unfinished, &path)
        };
        write().map_err(|source| Error::Storage { path: path.clone(), source })
    }

    pub(crate) fn remove(&self, directory: &Path) {
        remove(directory, &self.run);
    }
}

pub(crate) fn remove(directory: &Path, run: &RunId) {
    let _ = fs::remove_dir_all(folder(directory, run));
    let _ = fs::remove_file(path(directory, run));
}

/// What belongs to a run and goes with it.
pub(crate) fn folder(directory: &Path, run: &RunId) -> PathBuf {
    directory.join(format!("{run}.d"))
}

fn path(directory: &Path, run: &RunId) -> PathBuf {
    directory.join(format!("{run}.json"))
}

/// Where a holder that lost its daemon waits for the next, given its run's open folder: short, however deep that is.
pub(crate) fn door(folder: &fs::File) -> PathBuf {
    format!("/proc/self/fd/{}/hold.sock", folder.as_raw_fd()).into()
}

/// All records in the directory; one that cannot be read is removed, as nothing can be done with it.
pub async fn load(directory: PathBuf) -> Result<Vec<Record>, Error> {
    let read = move || {
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => {
                return Err(Error::Storage { path: directory, source });
            }
        };
        let paths = entries.flatten().map(|entry| entry.path());
        let records = paths.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
        Ok(records.filter_map(|path| read_one(&path)).collect())
    };
    tokio::task::spawn_blocking(read).await.map_err(|_| Error::ShuttingDown)?
}

/// Returns when no holder is left that wrote a record here. Holders remove theirs when their run is gone.
pub async fn settled(directory: &Path) {
    loop {
        let Ok(records) = load(directory.to_owned()).await else { return };
        let mut none_lived = true;
        // One after the other, so that a thousand of them are not all looked at again and again.
        for record in records {
            while record.holder.is_alive() {
                none_lived = false;
                tokio::time::sleep(SETTLE_POLL).await;
            }
        }
        if none_lived {
            return;
        }
    }
}

fn read_one(path: &Path) -> Option<Record> {
    let text = fs::read(path).ok()?;
    match serde_json::from_slice(&text) {
        Ok(record) => Some(record),
        Err(error) => {
            tracing::warn!(path = %path.display(), %error, "An unreadable process record is removed.");
            let _ = fs::remove_file(path);
            None
        }
    }
}

/// Ends what is left of a recorded run and removes its record; a recycled pid is never touched.
pub async fn reap(directory: &Path, record: Record) -> Result<Reaped, Error> {
    let boot = boot_id();
    if boot.is_empty() || record.boot != boot {
        record.remove(directory);
        return Ok(Reaped::OtherBoot);
    }
    end_holder(record.holder).await;
    let target = Target {
        roots: vec![record.runtime],
        cgroup: record.cgroup.as_deref().and_then(|path| Cgroup::recorded(path, &record.run)),
        run: record.run.clone(),
        records: None,
    };
    let left = Descent::new(target, Ladder::default().leftover).run().await?;
    record.remove(directory);
    Ok(Reaped::Gone { left })
}

/// A living holder ends its tree best, as it alone is the parent of all orphans.
async fn end_holder(holder: Process) {
    if process::signal(&holder, Signal::TERM).is_err() {
        return;
    }
    let gone = async {
        while holder.is_alive() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    if tokio::time::timeout(HOLDER_PATIENCE, gone).await.is_err() {
        let _ = process::signal(&holder, Signal::KILL);
    }
}
