//! Finds the processes of a run: in its cgroup, among descendants, and by `ROOST_RUN` in the environment.

use crate::{Process, RunId, cgroup::Cgroup};

/// The run whose processes are looked for, and what is known of where they are.
#[derive(Debug)]
pub(crate) struct Target {
    // Without `/proc` there is no environment to look for it in.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    pub(crate) run: RunId,
    /// Processes whose descendants belong to the run (and they themselves, except the current one).
    pub(crate) roots: Vec<Process>,
    pub(crate) cgroup: Option<Cgroup>,
}

/// The pids of all running processes that carry this run's id in their environment.
///
/// Reads `/proc`, so call it outside the async runtime.
pub fn alive(run: &RunId) -> Vec<u32> {
    let target = Target { run: run.clone(), roots: Vec::new(), cgroup: None };
    target.members().iter().map(|process| process.pid).collect()
}

#[cfg(target_os = "linux")]
mod system {
    use std::{collections::HashSet, fs};

    use super::*;
    use crate::{process::Stat, run::RUN_VARIABLE};

    impl Target {
        /// Every running process of the run, never the current one.
        pub(crate) fn members(&self) -> Vec<Process> {
            let me = std::process::id();
            let table = running();
            let mut members: HashSet<u32> = table
                .iter()
                .filter(|stat| self.roots.contains(&stat.process))
                .map(|stat| stat.process.pid)
                .chain(self.cgroup.iter().flat_map(Cgroup::pids))
                .collect();
            add_descendants(&table, &mut members);
            // Descendants need no look at their environment, which is the dear part.
            let marker = format!("{RUN_VARIABLE}={}", self.run);
            let marked: Vec<u32> = table
                .iter()
                .map(|stat| stat.process.pid)
                .filter(|pid| *pid != me && !members.contains(pid) && has_in_environment(*pid, marker.as_bytes()))
                .collect();
            members.extend(marked);
            add_descendants(&table, &mut members);
            members.remove(&me);
            table.iter().map(|stat| stat.process).filter(|process| members.contains(&process.pid)).collect()
        }
    }

    fn running() -> Vec<Stat> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter_map(Stat::of).filter(Stat::runs).collect()
    }

    fn add_descendants(table: &[Stat], members: &mut HashSet<u32>) {
        loop {
            let before = members.len();
            for stat in table {
                if members.contains(&stat.parent) {
                    members.insert(stat.process.pid);
                }
            }
            if members.len() == before {
                return;
            }
        }
    }

    fn has_in_environment(pid: u32, marker: &[u8]) -> bool {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == marker)
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
