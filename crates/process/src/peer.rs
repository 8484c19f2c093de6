//! Identifies the process at the other end of a local socket: does it belong to one of our runtimes?
//!
//! A runtime's processes are found by their parents: the holder is the subreaper of everything that it starts, so an
//! orphan, a daemon or a process in a session of its own still descends from it, whatever its environment says.
//! `ROOST_RUN` and the cgroup reveal processes that lost their holder, or that another daemon hosts.

/// The origin of the process that connected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peer {
    /// No runtime started it.
    Outside,
    /// A runtime, or this very process, started it.
    Inside {
        /// The label of its launch, such as a session id; `None` if it descends from no holder of this process.
        label: Option<String>,
    },
    /// It ended before it could be identified.
    Unknown,
}

#[cfg(target_os = "linux")]
pub use system::{peer_of, peers_are_pinned};

#[cfg(target_os = "linux")]
mod system {
    #![allow(unsafe_code)]

    use std::{
        fs, io,
        os::{
            fd::{AsFd, AsRawFd, FromRawFd, OwnedFd},
            unix::net::UnixStream,
        },
    };

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use uuid::Uuid;

    use super::Peer;
    use crate::{Process, cgroup, holder_registry, process::Stat, run::RUN_VARIABLE};

    /// The most parents that are followed; a chain is rarely longer than twenty.
    const GENERATIONS: usize = 4096;

    /// Whether the kernel identifies the connecting process reliably, even if its pid is reused (Linux 6.5 and later).
    pub fn peers_are_pinned() -> bool {
        UnixStream::pair().is_ok_and(|(socket, _)| pin(&socket).is_ok())
    }

    /// Identifies the process that connected to this socket. Reads `/proc`, so call it outside the async runtime.
    pub fn peer_of(socket: impl AsFd) -> Peer {
        let Ok(pid) = pid_of(&socket) else { return Peer::Unknown };
        // Pins the pid, so that the process which is looked at is the one that connected.
        let pinned = match pin(&socket) {
            Ok(pinned) => Some(pinned),
            Err(error) if error.raw_os_error() == Some(libc::ENOPROTOOPT) => None,
            Err(_) => return Peer::Unknown,
        };
        let Some(peer) = Stat::read(pid).filter(Stat::runs) else { return Peer::Unknown };
        let found = place_of(&peer);
        let still_runs = match &pinned {
            Some(pinned) => !has_ended(pinned),
            // A kernel before 6.5: a recycled pid shows by its start time, unless it was recycled before the first
            // look.
            None => peer.process.is_alive(),
        };
        match found {
            Some(found) if still_runs || found != Peer::Outside => found,
            _ => Peer::Unknown,
        }
    }

    /// A descriptor of the process that connected (`SO_PEERPIDFD`); fails if it is gone or the kernel is too old.
    fn pin(socket: &impl AsFd) -> io::Result<OwnedFd> {
        let mut fd: libc::c_int = -1;
        // SAFETY: the kernel answers this option with an integer.
        unsafe { ask(socket, libc::SO_PEERPIDFD, &mut fd) }?;
        // SAFETY: the kernel has just opened it for this process, so nobody else owns it.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }

    /// The pid of the process that connected: 0 if it lives in a namespace that cannot be seen from here.
    fn pid_of(socket: &impl AsFd) -> io::Result<u32> {
        let mut credentials = libc::ucred { pid: 0, uid: 0, gid: 0 };
        // SAFETY: the kernel answers this option with these credentials.
        unsafe { ask(socket, libc::SO_PEERCRED, &mut credentials) }?;
        Ok(u32::try_from(credentials.pid).unwrap_or(0))
    }

    /// Asks the kernel about a socket.
    ///
    /// # Safety
    /// Whatever the kernel answers this option with must be a value of `T`.
    unsafe fn ask<T>(socket: &impl AsFd, option: libc::c_int, answer: &mut T) -> io::Result<()> {
        let mut length = size_of::<T>() as libc::socklen_t;
        let fd = socket.as_fd().as_raw_fd();
        // SAFETY: the kernel writes at most `length` bytes to `answer`, and both live until the call returns.
        let done =
            unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, option, (&raw mut *answer).cast(), &raw mut length) };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    fn has_ended(pinned: &OwnedFd) -> bool {
        let mut fds = [PollFd::new(pinned, PollFlags::IN)];
        // A descriptor of a process is readable once it has ended; one that cannot be asked tells nothing good.
        poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).map_or(true, |ready| ready > 0)
    }

    /// The origin of a process, by its parents first, because only they tell whose it is. `None` if they cannot be
    /// followed.
    fn place_of(peer: &Stat) -> Option<Peer> {
        let me = Process::current();
        if peer.process == me {
            return Some(Peer::Outside);
        }
        let chain = parents(peer)?;
        if let Some(label) = chain.iter().find_map(holder_registry::label_of) {
            return Some(Peer::Inside { label: Some(label) });
        }
        // As the init of a container, we are the parent of every orphan there.
        let ours = me.pid != 1 && chain.contains(&me);
        let own = RunMarks::read(me.pid);
        let marked = || chain.iter().any(|process| !RunMarks::read(process.pid).within(&own));
        Some(if ours || marked() { Peer::Inside { label: None } } else { Peer::Outside })
    }

    /// The process and all its visible parents. `None` if it ended meanwhile.
    fn parents(peer: &Stat) -> Option<Vec<Process>> {
        let mut chain = vec![peer.process];
        let mut child = *peer;
        while child.parent != 0 && chain.len() < GENERATIONS {
            match Stat::read(child.parent) {
                // One that is younger than its child took over the pid of a parent that has ended.
                Some(parent) if parent.process.start_time <= child.process.start_time => {
                    chain.push(parent.process);
                    child = parent;
                }
                _ => {
                    let again = Stat::read(child.process.pid).filter(|again| again.process == child.process)?;
                    // The same parent that cannot be seen is another user's (`hidepid`), and so none of ours.
                    if again.parent == child.parent {
                        break;
                    }
                    child = again;
                }
            }
        }
        Some(chain)
    }

    /// The runs that a process carries in its environment and in the names of its cgroups.
    #[derive(Default)]
    struct RunMarks(Vec<String>);

    impl RunMarks {
        fn read(pid: u32) -> Self {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let prefix = format!("{RUN_VARIABLE}=");
            let variable = environment.split(|byte| *byte == 0).find_map(|entry| entry.strip_prefix(prefix.as_bytes()));
            let cgroups = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
            let named = cgroups.split(['/', '\n']).filter_map(|name| name.strip_prefix(cgroup::PREFIX));
            let named = named.filter(|run| Uuid::try_parse(run).is_ok()).map(str::to_owned);
            Self(variable.map(|run| String::from_utf8_lossy(run).into_owned()).into_iter().chain(named).collect())
        }

        /// Whether the other process carries all of these marks too. If an agent started this daemon, the marks that
        /// both inherited from that agent prove nothing.
        fn within(&self, other: &Self) -> bool {
            self.0.iter().all(|run| other.0.contains(run))
        }
    }
}

/// Always `Outside`: without `/proc` the parents of a process are unknown. `roost doctor` reports that.
#[cfg(not(target_os = "linux"))]
pub fn peer_of(_socket: impl std::os::fd::AsFd) -> Peer {
    Peer::Outside
}

/// Always `false`: this system has no pid descriptors for peers.
#[cfg(not(target_os = "linux"))]
pub fn peers_are_pinned() -> bool {
    false
}
