//! Finds the processes of a run: in its cgroup, among descendants, and by `ROOST_RUN` in the environment.

use std::path::PathBuf;

use crate::{Process, RunId, cgroup::Cgroup};

/// The run whose processes are searched, and the hints where to find them.
#[derive(Debug)]
pub(crate) struct Target {
    // Without `/proc` there is no environment to look for it in.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    pub(crate) run: RunId,
    /// Processes that belong to the run together with all their descendants; the current process never does.
    pub(crate) roots: Vec<Process>,
    pub(crate) cgroup: Option<Cgroup>,
    /// The directory in which the scan of all processes is shared with other holders; `None` makes a scan of its own.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    pub(crate) records: Option<PathBuf>,
}

/// The pids of all running processes that carry this run's id in their environment.
///
/// Reads `/proc`, so call it outside the async runtime.
pub fn alive(run: &RunId) -> Vec<u32> {
    let target = Target { run: run.clone(), roots: Vec::new(), cgroup: None, records: None };
    target.members().iter().map(|process| process.pid).collect()
}

#[cfg(target_os = "linux")]
mod system {
    use std::collections::HashSet;

    use super::*;
    use crate::scan::{self, ProcessEntry};

    impl Target {
        /// Every running process of the run, never the current one.
        pub(crate) fn members(&self) -> Vec<Process> {
            let me = std::process::id();
            let table = self.records.as_deref().map_or_else(scan::scan, scan::shared);
            let is_marked =
                |seen: &ProcessEntry| seen.process.pid != me && seen.run.as_deref() == Some(self.run.as_str());
            let mut members: HashSet<u32> = table
                .iter()
                .filter(|seen| self.roots.contains(&seen.process) || is_marked(seen))
                .map(|seen| seen.process.pid)
                .chain(self.cgroup.iter().flat_map(Cgroup::pids))
                .collect();
            add_descendants(&table, &mut members);
            members.remove(&me);
            table.iter().map(|seen| seen.process).filter(|process| members.contains(&process.pid)).collect()
        }
    }

    fn add_descendants(table: &[ProcessEntry], members: &mut HashSet<u32>) {
        loop {
            let before = members.len();
            for seen in table {
                if members.contains(&seen.parent) {
                    members.insert(seen.process.pid);
                }
            }
            if members.len() == before {
                return;
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use rustix::process::test_kill_process_group;

    use super::*;

    impl Target {
        /// The leaders of the process groups that still have members.
        pub(crate) fn members(&self) -> Vec<Process> {
            let me = std::process::id();
            let has_group =
                |root: &&Process| root.rustix_pid().is_some_and(|group| test_kill_process_group(group).is_ok());
            self.roots.iter().filter(|root| root.pid != me).filter(has_group).copied().collect()
        }
    }
}
