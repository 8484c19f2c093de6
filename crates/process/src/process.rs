//! The identity of a process: its pid and its start time, so that a reused pid is never mistaken for it.

use rustix::process::{Pid, Signal};
use serde::{Deserialize, Serialize};

/// One process, told apart from a later one with the same pid by its start time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Process {
    /// As in `/proc`; the kernel may reuse it when the process is gone.
    pub pid: u32,
    /// In the kernel's clock ticks since boot; 0 on systems that do not tell it.
    pub start_time: u64,
}

impl Process {
    /// The running process with this pid; a zombie is not running.
    pub fn from_pid(pid: u32) -> Option<Self> {
        Stat::read(pid).filter(Stat::runs).map(|stat| stat.process)
    }

    /// Whether this very process still runs.
    pub fn is_alive(&self) -> bool {
        Self::from_pid(self.pid) == Some(*self)
    }

    pub(crate) fn current() -> Self {
        let pid = std::process::id();
        Self::from_pid(pid).unwrap_or(Self { pid, start_time: 0 })
    }

    pub(crate) fn rustix_pid(&self) -> Option<Pid> {
        i32::try_from(self.pid).ok().and_then(Pid::from_raw)
    }
}

/// The parts of `/proc/<pid>/stat` that are needed here.
#[derive(Clone, Copy)]
pub(crate) struct Stat {
    pub(crate) process: Process,
    #[cfg(target_os = "linux")]
    pub(crate) parent: u32,
    state: u8,
}

impl Stat {
    pub(crate) fn runs(&self) -> bool {
        !matches!(self.state, b'Z' | b'X' | b'x')
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs;

    use rustix::{
        io::Errno,
        process::{PidfdFlags, kill_process, pidfd_open, pidfd_send_signal},
    };

    use super::*;

    impl Stat {
        /// Reads the state of a process; a zombie has one too.
        pub(crate) fn read(pid: u32) -> Option<Self> {
            Self::parse(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
        }

        fn parse(pid: u32, stat: &[u8]) -> Option<Self> {
            // The command name may hold spaces and brackets; only the last bracket ends it.
            let rest = &stat[memchr::memrchr(b')', stat)? + 1..];
            let mut fields = std::str::from_utf8(rest).ok()?.split_ascii_whitespace();
            let state = *fields.next()?.as_bytes().first()?;
            let parent = fields.next()?.parse().ok()?;
            let start_time = fields.nth(17)?.parse().ok()?;
            Some(Self { process: Process { pid, start_time }, parent, state })
        }
    }

    /// Sends the signal, unless the process is gone, which is fine too.
    pub(crate) fn signal(process: &Process, signal: Signal) -> rustix::io::Result<()> {
        let Some(pid) = process.rustix_pid() else {
            return Ok(());
        };
        let sent = match pidfd_open(pid, PidfdFlags::empty()) {
            // The descriptor pins the pid, so the identity cannot change after this check.
            Ok(pinned) if process.is_alive() => pidfd_send_signal(pinned, signal),
            Ok(_) => return Ok(()),
            Err(Errno::NOSYS) if process.is_alive() => kill_process(pid, signal),
            Err(error) => Err(error),
        };
        match sent {
            Err(Errno::SRCH) => Ok(()),
            other => other,
        }
    }

    /// The id of the machine's current boot; empty if it is unknown.
    pub(crate) fn boot_id() -> String {
        fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_command_name_with_brackets_and_spaces_does_not_shift_the_fields() {
            let line = b"7 (a) b (c)) S 3 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4242 1 1";
            let stat = Stat::parse(7, line).unwrap();
            assert_eq!((stat.parent, stat.process.start_time, stat.state), (3, 4242, b'S'));
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use rustix::{
        io::Errno,
        process::{kill_process_group, test_kill_process},
    };

    use super::*;

    impl Stat {
        pub(crate) fn read(pid: u32) -> Option<Self> {
            let process = Process { pid, start_time: 0 };
            test_kill_process(process.rustix_pid()?).ok()?;
            Some(Self { process, state: b'R' })
        }
    }

    /// Signals the whole process group that the runtime leads.
    pub(crate) fn signal(process: &Process, signal: Signal) -> rustix::io::Result<()> {
        let Some(group) = process.rustix_pid() else {
            return Ok(());
        };
        match kill_process_group(group, signal) {
            Err(Errno::SRCH) => Ok(()),
            other => other,
        }
    }

    /// Always empty here, so that nothing is ever killed because of a record.
    pub(crate) fn boot_id() -> String {
        String::new()
    }
}

pub(crate) use system::{boot_id, signal};
