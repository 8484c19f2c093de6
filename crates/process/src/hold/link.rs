//! A holder's link to its daemon: the control socket it was given and, for a run that may outlive its daemon, a
//! listening socket to which the next daemon connects.

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

/// The connection to the present or the next daemon.
pub(crate) struct Link {
    control: UnixStream,
    /// `None` if the run ends together with its daemon.
    socket: Option<AdoptionSocket>,
    /// Set while there is no daemon.
    alone: Option<DaemonLoss>,
}

/// The listening socket for the next daemon, and what is kept open for it.
struct AdoptionSocket {
    listener: UnixListener,
    orphan_timeout: Duration,
    /// The reading ends of the runtime's output, kept open so that the runtime does not get SIGPIPE without a daemon.
    stdout: File,
    stderr: File,
}

/// When the daemon was lost, and until when the next one is waited for.
struct DaemonLoss {
    since: SystemTime,
    until: Instant,
}

impl Link {
    /// Must be called while the holder's own stdout and stderr are still the runtime's. If the listening socket cannot
    /// be opened, the run ends together with its daemon.
    pub(crate) fn new(control: UnixStream, line: &CommandLine) -> Self {
        let socket = (!line.orphan_timeout.is_zero()).then(|| AdoptionSocket::open(line)).and_then(Result::ok);
        Self { control, socket, alone: None }
    }

    pub(crate) fn report(&mut self, report: &Report) -> io::Result<()> {
        let mut line = serde_json::to_vec(report)?;
        line.push(b'\n');
        self.control.write_all(&line)
    }

    /// The descriptor to poll: the daemon's socket, or the listening socket while there is no daemon.
    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        match (&self.alone, &self.socket) {
            (Some(_), Some(socket)) => socket.listener.as_fd(),
            _ => self.control.as_fd(),
        }
    }

    /// When the run ends because no daemon has come; `None` while there is one.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.alone.as_ref().map(|alone| alone.until)
    }

    /// Handles what has arrived: a stop, the loss of the daemon, or the next daemon. Returns whether to stop.
    pub(crate) fn on_readable(&mut self, record: &Record) -> bool {
        match (&self.alone, &self.socket) {
            (Some(alone), Some(socket)) => {
                let Ok((control, _)) = socket.listener.accept() else { return false };
                let pipes = Pipes { stdout: socket.stdout.as_raw_fd(), stderr: socket.stderr.as_raw_fd() };
                let alone_since = alone.since.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
                let alone_since = u64::try_from(alone_since).unwrap_or(u64::MAX);
                (self.control, self.alone) = (control, None);
                let (runtime, cgroup) = (record.runtime, record.cgroup.clone());
                // If it has left again already, that is noticed like the loss of any daemon.
                let _ = self.report(&Report::Adopted { runtime, cgroup, pipes, alone_since });
                false
            }
            // Without a listening socket, a message and the end of the stream both mean stop.
            (_, None) => true,
            (_, Some(socket)) => {
                let spoke = self.control.read(&mut [0; 16]).is_ok_and(|read| read > 0);
                if !spoke {
                    self.alone =
                        Some(DaemonLoss { since: SystemTime::now(), until: Instant::now() + socket.orphan_timeout });
                }
                spoke
            }
        }
    }
}

impl AdoptionSocket {
    fn open(line: &CommandLine) -> io::Result<Self> {
        let folder = records::folder(&line.records, &line.run);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let folder = File::open(folder)?;
        let listener = UnixListener::bind(records::adoption_socket(&folder))?;
        listener.set_nonblocking(true)?;
        let again = |fd: u8| File::open(format!("/proc/self/fd/{fd}"));
        Ok(Self { listener, orphan_timeout: line.orphan_timeout, stdout: again(1)?, stderr: again(2)? })
    }
}
