//! What the processes of a daemon cost, read from `/proc`.

use std::fs;
use std::path::Path;

use crate::Outcome;

/// A process id, as in `/proc`.
pub(super) type Id = u32;

/// The daemon and its child processes, which are the holders; agents are children of the holders and are not counted.
pub(super) fn roost_processes(daemon: Id) -> Outcome<Vec<Id>> {
    let holders = all()?.into_iter().filter(|id| parent(*id) == Some(daemon));
    Ok([daemon].into_iter().chain(holders).collect())
}

/// Seconds of processor time that these processes have used so far.
pub(super) fn seconds(processes: &[Id]) -> f64 {
    let ticks: u64 = processes.iter().filter_map(|id| ticks(*id)).sum();
    ticks as f64 / rustix::param::clock_ticks_per_second() as f64
}

/// The proportional set size of these processes in megabytes: shared pages are divided among those who share them.
pub(super) fn megabytes(processes: &[Id]) -> f64 {
    let share = |id: &Id| {
        let rollup = fs::read_to_string(format!("/proc/{id}/smaps_rollup")).ok()?;
        let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
        line.trim().trim_end_matches(" kB").parse::<f64>().ok()
    };
    processes.iter().filter_map(share).sum::<f64>() / 1024.0
}

/// Processes whose environment has this `HOME`, other than these.
pub(super) fn processes_with_home(home: &Path, but: &[Id]) -> Outcome<Vec<Id>> {
    let home = format!("HOME={}", home.display());
    let lives_there = |id: &Id| {
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == home.as_bytes())
    };
    Ok(all()?.into_iter().filter(|id| !but.contains(id)).filter(lives_there).collect())
}

fn all() -> Outcome<Vec<Id>> {
    Ok(fs::read_dir("/proc")?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

fn parent(id: Id) -> Option<Id> {
    fields(id)?.get(1)?.parse().ok()
}

fn ticks(id: Id) -> Option<u64> {
    let fields = fields(id)?;
    Some(fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?)
}

/// The fields of `/proc/ID/stat` from the third on; the second is a name, and may hold anything.
fn fields(id: Id) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    Some(fields.split_whitespace().map(str::to_owned).collect())
}
