//! Whether the file that is meant is found, and how far up, beside `fzf`.

use serde_json::json;

use super::labels::LABELS;
use super::tool::run;
use super::workspace_daemon::WorkspaceDaemon;
use super::{BENCH, Tree};
use crate::Outcome;
use crate::figure::{Table, Target};

/// Results that count: people do not look further down.
const LOOKED_AT: usize = 10;

/// How well one tool finds the files that were meant.
#[derive(Default)]
struct Score {
    /// The sum of the reciprocal ranks: 1 for a file that was first, 1/2 for one that was second.
    ranks: f64,
    found: usize,
}

impl Score {
    fn add<'a>(&mut self, mut paths: impl Iterator<Item = &'a str>, meant: &str) -> bool {
        let rank = paths.position(|path| path == meant).filter(|rank| *rank < LOOKED_AT);
        if let Some(rank) = rank {
            self.ranks += 1.0 / (rank + 1) as f64;
            self.found += 1;
        }
        rank.is_some()
    }

    fn mean(&self) -> f64 {
        self.ranks / LABELS.len() as f64
    }
}

/// Adds the mean reciprocal rank of the labelled queries, beside `fzf` with two schemes.
pub(super) fn measure(table: &mut Table, tree: &Tree) -> Outcome {
    let (name, folder) = (tree.name, tree.folder.path());
    let mut host = WorkspaceDaemon::start()?;
    let id = host.add(folder)?;
    let files = run(folder, "rg", &["--files", "--hidden", "--glob", "!.git"], b"")?.1;
    let (mut ours, mut fzf, mut fzf_path) = (Score::default(), Score::default(), Score::default());
    for (typed, meant) in LABELS {
        let (_, answer) = host.ask("repository/search", &id, json!({ "query": typed, "limit": LOOKED_AT }))?;
        let results = answer["results"].as_array().ok_or_else(|| format!("no results: {answer}"))?;
        if !ours.add(results.iter().filter_map(|file| file["path"].as_str()), meant) {
            eprintln!("{name}: \"{typed}\" did not find {meant} among the first {LOOKED_AT}");
        }
        for (score, scheme) in [(&mut fzf, "default"), (&mut fzf_path, "path")] {
            let listed = run(folder, "fzf", &["--scheme", scheme, "--filter", typed], &files)?.1;
            score.add(String::from_utf8(listed)?.lines(), meant);
        }
    }
    let of = LABELS.len();
    for (tool, score) in [("`fzf --filter`", &fzf), ("`fzf --scheme path --filter`", &fzf_path)] {
        table.add(BENCH, format!("{name}: {tool}, mean reciprocal rank"), score.mean(), "", Target::None);
        let what = format!("{name}: {tool}, in the first {LOOKED_AT} of {of}");
        table.add(BENCH, what, score.found as f64, "queries", Target::None);
    }
    let best = fzf.mean().max(fzf_path.mean());
    table.add(BENCH, format!("{name}: ours, mean reciprocal rank"), ours.mean(), "", Target::AtLeast(best));
    let most = fzf.found.max(fzf_path.found) as f64;
    let what = format!("{name}: ours, in the first {LOOKED_AT} of {of}");
    table.add(BENCH, what, ours.found as f64, "queries", Target::AtLeast(most));
    Ok(())
}
