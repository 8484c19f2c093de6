//! What it costs to follow workspaces in which nothing happens.

use std::time::Duration;

use super::place::Place;
use super::{BENCH, tree};
use crate::Outcome;
use crate::figure::{Table, Target};

const WORKSPACES: usize = 20;
const FILES: usize = 1000;
/// How long nothing happens.
const WHILE: Duration = Duration::from_secs(20);
/// A thousandth of one processor, in which case nobody can tell it from nothing.
const MOST: f64 = 20.0;

/// Measures.
pub(super) fn measure(table: &mut Table) -> Outcome {
    let mut place = Place::start()?;
    let calm = place.busy(WHILE)?;
    let mut folders = Vec::new();
    for _ in 0..WORKSPACES {
        let folder = tempfile::tempdir()?;
        tree::grow(folder.path(), FILES)?;
        let id = place.add(folder.path())?;
        place.follow(&id)?;
        folders.push(folder);
    }
    // What git did last is told some seconds later.
    std::thread::sleep(Duration::from_secs(5));
    let followed = place.busy(WHILE)?;
    let seconds = WHILE.as_secs();
    let what = format!("processor time in {seconds} s: no workspace");
    table.add(BENCH, what, calm, "ms", Target::None);
    let what = format!("processor time in {seconds} s: {WORKSPACES} followed workspaces");
    table.add(BENCH, what, followed, "ms", Target::AtMost(MOST));
    Ok(())
}
