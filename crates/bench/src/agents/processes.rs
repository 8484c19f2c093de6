//! What the processes of a daemon cost, as the kernel tells it.

use std::fs;
use std::path::Path;

use crate::Outcome;

/// A process's id.
pub(super) type Id = u32;

/// A daemon and the holders that it started; not the agents.
pub(super) fn ours(daemon: Id) -> Outcome<Vec<Id>> {
    let holders = all()?.into_iter().filter(|id| parent(*id) == Some(daemon));
    Ok([daemon].into_iter().chain(holders).collect())
}

/// Seconds of processor time that these processes have used so far.
pub(super) fn seconds(processes: &[Id]) -> f64 {
    let ticks: u64 = processes.iter().filter_map(|id| ticks(*id)).sum();
    ticks as f64 / rustix::param::clock_ticks_per_second() as f64
}

/// Megabytes that these processes have for themselves, with their share of what they have in common.
pub(super) fn megabytes(processes: &[Id]) -> f64 {
    let share = |id: &Id| {
        let rollup = fs::read_to_string(format!("/proc/{id}/smaps_rollup")).ok()?;
        let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
        line.trim().trim_end_matches(" kB").parse::<f64>().ok()
    };
    processes.iter().filter_map(share).sum::<f64>() / 1024.0
}

/// Processes that live with this home, other than these.
pub(super) fn at_home(home: &Path, but: &[Id]) -> Outcome<Vec<Id>> {
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
