//! One record file per running holder, by which the next start finds what a crash of daemon and holder left behind.

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

/// How long a holder that outlived its daemon may take to end its process tree by itself.
const HOLDER_PATIENCE: Duration = Duration::from_secs(5);

/// The name of the socket in the folder of a run that may outlive its daemon.
const ADOPTION_SOCKET: &str = "hold.sock";

/// How often [`settled`] checks whether a holder is alive.
const SETTLE_POLL: Duration = Duration::from_millis(10);

/// The record of one held runtime, as stored on disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The run's id, which all descendants of the runtime have in their environment.
    pub run: RunId,
    /// The label of the launch, such as a session id.
    pub label: String,
    /// The boot id of the machine. The pids are only meaningful in this boot.
    pub boot: String,
    /// It ends the runtime's process tree when it gets SIGTERM.
    pub holder: Process,
    /// A child of the holder and the root of the run's process tree.
    pub runtime: Process,
    /// The directory of the run's cgroup; `None` if it has none.
    pub cgroup: Option<PathBuf>,
}

/// The result of [`reap`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reaped {
    /// The record is from another boot, or the boot is unknown, so its pids were not touched.
    OtherBoot,
    /// All processes of the run that this user may signal are gone.
    Gone {
        /// Processes of another user that are still alive; usually none.
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

/// The folder for the files of a run, which is removed with its record.
pub(crate) fn folder(directory: &Path, run: &RunId) -> PathBuf {
    directory.join(format!("{run}.d"))
}

fn path(directory: &Path, run: &RunId) -> PathBuf {
    directory.join(format!("{run}.json"))
}

/// Whether a run in this directory can outlive its daemon and still lives: the next daemon can take it over.
pub async fn any_adoptable(directory: &Path) -> bool {
    let records = load(directory.to_owned()).await.unwrap_or_default();
    let directory = directory.to_owned();
    let is_adoptable = move |record: &Record| {
        let socket = folder(&directory, &record.run).join(ADOPTION_SOCKET);
        record.boot == boot_id() && record.holder.is_alive() && socket.exists()
    };
    tokio::task::spawn_blocking(move || records.iter().any(is_adoptable)).await.unwrap_or(false)
}

/// The socket at which a holder without a daemon waits for the next one. The path goes through the open folder's
/// descriptor, because socket paths are limited to about 100 bytes.
pub(crate) fn adoption_socket(folder: &fs::File) -> PathBuf {
    format!("/proc/self/fd/{}/{ADOPTION_SOCKET}", folder.as_raw_fd()).into()
}

/// Reads all records in the directory. One that cannot be parsed is removed, because nothing can be done with it.
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

/// Returns when all holders with a record in this directory are gone. A holder ends when its run is gone.
pub async fn wait_for_holders(directory: &Path) {
    loop {
        let Ok(records) = load(directory.to_owned()).await else { return };
        let mut none_lived = true;
        // One after the other, so that a thousand of them are not all checked in every round.
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

/// Ends what is left of a recorded run and removes its record. A reused pid is never signalled.
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

/// Lets a living holder end its tree, because it is the parent of all orphans; kills it if it takes too long.
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
