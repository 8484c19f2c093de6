//! Whether the file that is meant is found, and how far up, beside `fzf`.

use serde_json::json;

use super::labels::LABELS;
use super::place::Place;
use super::tool::run;
use super::{BENCH, Tree};
use crate::Outcome;
use crate::figure::{Table, Target};

/// How far down people look.
const LOOKED_AT: usize = 10;

/// How well the files that were meant were found.
#[derive(Default)]
struct Score {
    /// One for each that was first, a half for each that was second and so on.
    ranks: f64,
    found: usize,
}

impl Score {
    fn add<'a>(&mut self, mut paths: impl Iterator<Item = &'a str>, meant: &str) -> bool {
        let place = paths.position(|path| path == meant).filter(|place| *place < LOOKED_AT);
        if let Some(place) = place {
            self.ranks += 1.0 / (place + 1) as f64;
            self.found += 1;
        }
        place.is_some()
    }

    fn mean(&self) -> f64 {
        self.ranks / LABELS.len() as f64
    }
}

/// Measures.
pub(super) fn measure(table: &mut Table, tree: &Tree) -> Outcome {
    let (name, folder) = (tree.name, tree.folder.path());
    let mut place = Place::start()?;
    let id = place.add(folder)?;
    let files = run(folder, "rg", &["--files", "--hidden", "--glob", "!.git"], b"")?.1;
    let (mut ours, mut fzf, mut fzf_path) = (Score::default(), Score::default(), Score::default());
    for (typed, meant) in LABELS {
        let (_, answer) = place.ask("repository/search", &id, json!({ "query": typed, "limit": LOOKED_AT }))?;
        let results = answer["results"].as_array().ok_or_else(|| format!("no results: {answer}"))?;
        if !ours.add(results.iter().filter_map(|file| file["path"].as_str()), meant) {
            eprintln!("{name}: \"{typed}\" did not find {meant} among the first {LOOKED_AT}");
        }
        for (score, scheme) in [(&mut fzf, "default"), (&mut fzf_path, "path")] {
            let said = run(folder, "fzf", &["--scheme", scheme, "--filter", typed], &files)?.1;
            score.add(String::from_utf8(said)?.lines(), meant);
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
