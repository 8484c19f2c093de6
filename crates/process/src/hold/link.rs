//! A holder's link to its daemon: the socket it was given and, for a run that may outlive its daemon, a door at which
//! the next one knocks.

use std::{
    fs::{DirBuilder, File},
    io::{self, Read, Write},
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd},
        unix::{
            fs::DirBuilderExt,
            net::{UnixListener, UnixStream},
        },
    },
    time::{Duration, Instant, SystemTime},
};

use super::CommandLine;
use crate::{
    control::{Pipes, Report},
    records::{self, Record},
};

pub(crate) struct Link {
    control: UnixStream,
    door: Option<Door>,
    alone: Option<Alone>,
}

/// Where the next daemon finds us, and what we keep for it.
struct Door {
    listener: UnixListener,
    patience: Duration,
    /// Held so that the runtime's output has a reader while there is no daemon.
    stdout: File,
    stderr: File,
}

/// The daemon is gone.
struct Alone {
    since: SystemTime,
    until: Instant,
}

impl Link {
    /// To be made while our own stdout and stderr are still the runtime's. Without a door, as where it cannot be opened,
    /// the run ends with its daemon.
    pub(crate) fn new(control: UnixStream, line: &CommandLine) -> Self {
        let door = (!line.patience.is_zero()).then(|| Door::open(line)).and_then(Result::ok);
        Self { control, door, alone: None }
    }

    pub(crate) fn report(&mut self, report: &Report) -> io::Result<()> {
        let mut line = serde_json::to_vec(report)?;
        line.push(b'\n');
        self.control.write_all(&line)
    }

    /// What speaks next: the daemon, or the one that takes its place.
    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        match (&self.alone, &self.door) {
            (Some(_), Some(door)) => door.listener.as_fd(),
            _ => self.control.as_fd(),
        }
    }

    /// When nobody is waited for any more.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.alone.as_ref().map(|alone| alone.until)
    }

    /// Listens to what has come; tells whether to stop.
    pub(crate) fn hear(&mut self, record: &Record) -> bool {
        match (&self.alone, &self.door) {
            (Some(alone), Some(door)) => {
                let Ok((control, _)) = door.listener.accept() else { return false };
                let pipes = Pipes { stdout: door.stdout.as_raw_fd(), stderr: door.stderr.as_raw_fd() };
                let alone_since = alone.since.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
                let alone_since = u64::try_from(alone_since).unwrap_or(u64::MAX);
                (self.control, self.alone) = (control, None);
                let (runtime, cgroup) = (record.runtime, record.cgroup.clone());
                // One that has left again is missed like the one before.
                let _ = self.report(&Report::Adopted { runtime, cgroup, pipes, alone_since });
                false
            }
            // Without a door, a word and the end of the stream mean the same.
            (_, None) => true,
            (_, Some(door)) => {
                let spoke = self.control.read(&mut [0; 16]).is_ok_and(|read| read > 0);
                if !spoke {
                    self.alone = Some(Alone { since: SystemTime::now(), until: Instant::now() + door.patience });
                }
                spoke
            }
        }
    }
}

impl Door {
    fn open(line: &CommandLine) -> io::Result<Self> {
        let folder = records::folder(&line.records, &line.run);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let folder = File::open(folder)?;
        let listener = UnixListener::bind(records::door(&folder))?;
        listener.set_nonblocking(true)?;
        let again = |fd: u8| File::open(format!("/proc/self/fd/{fd}"));
        Ok(Self { listener, patience: line.patience, stdout: again(1)?, stderr: again(2)? })
    }
}
