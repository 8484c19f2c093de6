//! The index: how long it takes to make, to list, to search, to learn of a change, and how big it is.

use std::time::Instant;

use serde_json::json;

use super::tool::{measure_alternately, run};
use super::workspace_daemon::WorkspaceDaemon;
use super::{BENCH, Tree};
use crate::Outcome;
use crate::figure::{Table, Target, median, millis};

/// What is typed: from one letter, which fits nearly everything, to much of a path.
const TYPED: [&str; 8] =
    ["s", "ma", "config", "srckafka", "useauth", "storage snapshot", "src/lib.rs", "crates/pipeline/src"];

/// Adds the times and the memory of the file index: new, listed, searched and after a change.
pub(super) fn measure(table: &mut Table, tree: &Tree) -> Outcome {
    let mut host = WorkspaceDaemon::start()?;
    let (name, folder) = (tree.name, tree.folder.path());
    cold(table, &mut host, tree)?;
    let before = host.daemon.resident()?;
    let id = host.add(folder)?;
    host.follow(&id)?;
    list(table, &mut host, tree, &id)?;
    memory(table, &mut host, name, &id, before)?;
    fuzzy(table, &mut host, tree, &id)?;
    touch(table, &mut host, tree, &id)
}

/// A workspace that is new every time: from the call to the first answer out of its index. A search needs the names, as
/// `rg` tells them; a list also the size and time of each file.
fn cold(table: &mut Table, host: &mut WorkspaceDaemon, tree: &Tree) -> Outcome {
    let (name, folder) = (tree.name, tree.folder.path());
    let mut lists = Vec::new();
    let ours = || {
        let mut first = |method, params| {
            let id = host.add(folder)?;
            let (took, _) = host.ask(method, &id, params)?;
            host.remove(&id)?;
            Outcome::Ok(took)
        };
        lists.push(first("repository/files/list", json!({ "limit": 1 }))?);
        first("repository/search", json!({ "query": "readme", "limit": 1 }))
    };
    let theirs = || Ok(run(folder, "rg", &["--files"], b"")?.0);
    let (ours, theirs) = measure_alternately(tree.rounds, ours, theirs)?;
    table.add(BENCH, format!("{name}: `rg --files`, p50"), theirs, "ms", Target::None);
    let what = format!("{name}: first search in a new index, p50");
    table.add(BENCH, what, ours, "ms", Target::AtMost(theirs * 1.2));
    table.add(BENCH, format!("{name}: first list of a new index, p50"), median(lists), "ms", Target::None);
    Ok(())
}

/// A page of all files, and the folder at the top with what is beneath each folder in it.
fn list(table: &mut Table, host: &mut WorkspaceDaemon, tree: &Tree, id: &str) -> Outcome {
    let name = tree.name;
    let kinds = [("1000 of all files", json!({ "recursive": true, "limit": 1000 })), ("the top folder", json!({}))];
    for (what, params) in kinds {
        let mut times = Vec::new();
        for _ in 0..=tree.rounds {
            times.push(host.ask("repository/files/list", id, params.clone())?.0);
        }
        let what = format!("{name}: {what} listed, warm, p50");
        table.add(BENCH, what, median(times), "ms", tree.list);
    }
    Ok(())
}

fn memory(table: &mut Table, host: &mut WorkspaceDaemon, name: &str, id: &str, before: f64) -> Outcome {
    let (_, status) = host.ask("repository/index/status", id, json!({}))?;
    let number = |field: &str| status[field].as_f64().ok_or_else(|| format!("no {field}: {status}"));
    let files = number("total_files")?;
    let each = number("index_size_bytes")? / files;
    table.add(BENCH, format!("{name}: memory of the index per file"), each, "bytes", Target::AtMost(200.0));
    let grown = (host.daemon.resident()? - before) * (1 << 20) as f64 / files;
    let what = format!("{name}: growth of the daemon per followed file");
    table.add(BENCH, what, grown.max(0.0), "bytes", Target::None);
    Ok(())
}

fn fuzzy(table: &mut Table, host: &mut WorkspaceDaemon, tree: &Tree, id: &str) -> Outcome {
    let (name, folder) = (tree.name, tree.folder.path());
    let files = run(folder, "rg", &["--files"], b"")?.1;
    let (mut all, mut slowest, mut tool) = (Vec::new(), (0.0, ""), Vec::new());
    for typed in TYPED {
        let mut times = Vec::new();
        let ours = || {
            let took = host.ask("repository/search", id, json!({ "query": typed }))?.0;
            times.push(took);
            Ok(took)
        };
        let (middle, fzf) =
            measure_alternately(tree.rounds, ours, || Ok(run(folder, "fzf", &["--filter", typed], &files)?.0))?;
        if middle > slowest.0 {
            slowest = (middle, typed);
        }
        all.extend(times);
        tool.push(fzf);
    }
    table.add(BENCH, format!("{name}: `fzf --filter`, p50"), median(tool), "ms", Target::None);

    table.add(BENCH, format!("{name}: fuzzy query, WebSocket, p50 of all"), median(all), "ms", tree.fuzzy);
    table.add(BENCH, format!("{name}: the slowest of them (\"{}\"), p50", slowest.1), slowest.0, "ms", tree.fuzzy);
    Ok(())
}

/// From the touch of a file to an answer that knows it: a new file by its name, and a written one by its size.
fn touch(table: &mut Table, host: &mut WorkspaceDaemon, tree: &Tree, id: &str) -> Outcome {
    let (name, folder) = (tree.name, tree.folder.path());
    let (mut times, mut worst) = (Vec::new(), 0.0_f64);
    for round in 0..tree.rounds {
        let file = format!("touched-{}.rs", round / 2);
        let text = "touched\n".repeat(1 + round);
        let start = Instant::now();
        std::fs::write(folder.join(&file), &text)?;
        loop {
            let (_, found) = host.ask("repository/search", id, json!({ "query": file, "mode": "exact" }))?;
            if found["results"][0]["size_bytes"] == text.len() {
                break;
            }
            if start.elapsed().as_secs() > 5 {
                return Err(format!("the index does not learn of {file}: {found}").into());
            }
        }
        times.push(millis(start.elapsed()));
        worst = times.iter().copied().fold(worst, f64::max);
    }
    for file in 0..=tree.rounds / 2 {
        // An odd number of rounds leaves one of them unmade.
        let _ = std::fs::remove_file(folder.join(format!("touched-{file}.rs")));
    }
    let what = format!("{name}: touch of a file to an answer that knows it");
    table.add(BENCH, format!("{what}, p50"), median(times), "ms", Target::AtMost(150.0));
    table.add(BENCH, format!("{what}, worst"), worst, "ms", Target::AtMost(150.0));
    Ok(())
}
