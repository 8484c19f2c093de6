//! What it costs to follow workspaces in which nothing happens.

use std::time::Duration;

use super::workspace_daemon::WorkspaceDaemon;
use super::{BENCH, tree};
use crate::Outcome;
use crate::figure::{Table, Target};

const WORKSPACES: usize = 20;
const FILES: usize = 1000;
/// How long processor time is counted while nothing happens.
const WHILE: Duration = Duration::from_secs(20);
/// Milliseconds of processor time in [`WHILE`]: a thousandth of one processor, which nobody notices.
const MOST: f64 = 20.0;

/// Adds the daemon's processor time while nothing happens, without workspaces and with [`WORKSPACES`] followed ones.
pub(super) fn measure(table: &mut Table) -> Outcome {
    let mut host = WorkspaceDaemon::start()?;
    let calm = host.cpu_time_over(WHILE)?;
    let mut folders = Vec::new();
    for _ in 0..WORKSPACES {
        let folder = tempfile::tempdir()?;
        tree::grow(folder.path(), FILES)?;
        let id = host.add(folder.path())?;
        host.follow(&id)?;
        folders.push(folder);
    }
    // The last changes that git made are reported some seconds later.
    std::thread::sleep(Duration::from_secs(5));
    let followed = host.cpu_time_over(WHILE)?;
    let seconds = WHILE.as_secs();
    let what = format!("processor time in {seconds} s: no workspace");
    table.add(BENCH, what, calm, "ms", Target::None);
    let what = format!("processor time in {seconds} s: {WORKSPACES} followed workspaces");
    table.add(BENCH, what, followed, "ms", Target::AtMost(MOST));
    Ok(())
}
