//! How a repository is, beside `git status --porcelain`.

use std::time::Duration;

use serde_json::json;

use super::place::Place;
use super::tool::{beside, run};
use super::{BENCH, Tree};
use crate::Outcome;
use crate::figure::{Table, Target};

/// After this long without a change what is known of a followed repository is used.
const CALM: Duration = Duration::from_secs(3);

/// Measures.
pub(super) fn measure(table: &mut Table, tree: &Tree) -> Outcome {
    let (name, folder) = (tree.name, tree.folder.path());
    // Nobody follows it yet, so git is asked each time.
    let mut place = Place::start()?;
    let id = place.add(folder)?;
    // git writes down what it learns the first time, which would be a change.
    let theirs = || Ok(run(folder, "git", &["status", "--porcelain"], b"")?.0);
    theirs()?;
    let (ours, git) = beside(tree.rounds, || Ok(place.ask("git/status", &id, json!({}))?.0), theirs)?;
    table.add(BENCH, format!("{name}: `git status --porcelain`, p50"), git, "ms", Target::None);
    let what = format!("{name}: git/status, nobody follows, WebSocket, p50");
    table.add(BENCH, what, ours, "ms", Target::AtMost(git * 1.2));

    place.follow(&id)?;
    std::thread::sleep(CALM);
    let (ours, git) = beside(tree.rounds, || Ok(place.ask("git/status", &id, json!({}))?.0), theirs)?;
    table.add(BENCH, format!("{name}: `git status --porcelain`, again, p50"), git, "ms", Target::None);
    let what = format!("{name}: git/status, followed and unchanged, WebSocket, p50");
    table.add(BENCH, what, ours, "ms", Target::AtMost(git * 0.2));
    Ok(())
}
