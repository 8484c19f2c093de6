//! `git/status` of a workspace, beside `git status --porcelain`.

use std::time::Duration;

use serde_json::json;

use super::tool::{measure_alternately, run};
use super::workspace_daemon::WorkspaceDaemon;
use super::{BENCH, Tree};
use crate::Outcome;
use crate::figure::{Table, Target};

/// After this long without a change the daemon answers from its cache of a followed repository.
const CALM: Duration = Duration::from_secs(3);

/// Adds the time of `git/status`, unfollowed and followed, beside `git status --porcelain`.
pub(super) fn measure(table: &mut Table, tree: &Tree) -> Outcome {
    let (name, folder) = (tree.name, tree.folder.path());
    // Nobody follows it yet, so git is asked each time.
    let mut host = WorkspaceDaemon::start()?;
    let id = host.add(folder)?;
    // git writes down what it learns the first time, which would be a change.
    let theirs = || Ok(run(folder, "git", &["status", "--porcelain"], b"")?.0);
    theirs()?;
    let (ours, git) = measure_alternately(tree.rounds, || Ok(host.ask("git/status", &id, json!({}))?.0), theirs)?;
    table.add(BENCH, format!("{name}: `git status --porcelain`, p50"), git, "ms", Target::None);
    let what = format!("{name}: git/status, nobody follows, WebSocket, p50");
    table.add(BENCH, what, ours, "ms", Target::AtMost(git * 1.2));

    host.follow(&id)?;
    std::thread::sleep(CALM);
    let (ours, git) = measure_alternately(tree.rounds, || Ok(host.ask("git/status", &id, json!({}))?.0), theirs)?;
    table.add(BENCH, format!("{name}: `git status --porcelain`, again, p50"), git, "ms", Target::None);
    let what = format!("{name}: git/status, followed and unchanged, WebSocket, p50");
    table.add(BENCH, what, ours, "ms", Target::AtMost(git * 0.2));
    Ok(())
}
