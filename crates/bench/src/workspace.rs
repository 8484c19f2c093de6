//! `workspace`: the files of a workspace, found by name and by content, beside the tools that people use.
//!
//! What is measured is the work itself, without a door before it. A tool that is not installed has no figure.

mod tree;

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use roost_workspace::grep::{GrepQuery, grep};
use roost_workspace::index::scan;
use roost_workspace::listing::{ListQuery, list};
use roost_workspace::search::{Query, search};
use roost_workspace::watch::Live;
use roost_workspace::{Repository, Root};
use tokio_util::sync::CancellationToken;

use crate::Outcome;
use crate::figure::{Table, Target, median, millis};

/// Rounds of a measurement; what is shown is the middle.
const ROUNDS: usize = 11;
/// What is typed.
const QUERIES: [&str; 5] = ["s", "main", "srckafka", "src/mod.rs", "configtest"];
/// Text that is in many files.
const TEXT: &str = "kafka_sink";

/// Measures.
pub(crate) fn run(table: &mut Table) -> Outcome {
    for (name, files, fuzzy) in [("13k", 13_000, 5.0), ("100k", 100_000, 30.0)] {
        let folder = tempfile::tempdir()?;
        tree::grow(folder.path(), files)?;
        names(table, name, folder.path(), fuzzy)?;
        contents(table, name, folder.path())?;
        tokio::runtime::Runtime::new()?.block_on(fresh(table, name, folder.path()))?;
    }
    Ok(())
}

/// Time of one go, in milliseconds, in the middle of some.
fn middle(mut work: impl FnMut() -> Outcome) -> Outcome<f64> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        work()?;
        times.push(millis(start.elapsed()));
    }
    Ok(median(times))
}

/// Time of a tool, with its output thrown away; none if it is not there.
fn tool(folder: &Path, program: &str, args: &[&str]) -> Outcome<Option<f64>> {
    let run =
        || Command::new(program).args(args).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).status();
    if run().is_err() {
        return Ok(None);
    }
    middle(|| Ok(run().map(|_| ())?)).map(Some)
}

fn names(table: &mut Table, name: &str, folder: &Path, fuzzy: f64) -> Outcome {
    let root = Root::open(folder)?;
    let cold = middle(|| Ok(scan(&root).map(|_| ())?))?;
    let target = match tool(folder, "rg", &["--files", "."])? {
        Some(rg) => {
            table.add("workspace", format!("{name}: `rg --files`, p50"), rg, "ms", Target::None);
            Target::AtMost(rg * 1.2)
        }
        None => Target::Void,
    };
    table.add("workspace", format!("{name}: index from nothing, p50"), cold, "ms", target);
    let index = scan(&root)?.index;
    let bytes = index.bytes() as f64 / index.len() as f64;
    table.add("workspace", format!("{name}: memory of the index per file"), bytes, "bytes", Target::AtMost(200.0));
    let all = ListQuery { recursive: true, limit: usize::MAX, ..ListQuery::default() };
    let listed = middle(|| {
        std::hint::black_box(list(&index, &all));
        Ok(())
    })?;
    table.add("workspace", format!("{name}: all files listed, warm, p50"), listed, "ms", Target::AtMost(5.0));
    let cancel = CancellationToken::new();
    for text in QUERIES {
        let query = Query { text: text.into(), ..Query::default() };
        let took = middle(|| {
            std::hint::black_box(search(&index, &query, &cancel).page(&index, 0, 50));
            Ok(())
        })?;
        table.add("workspace", format!("{name}: fuzzy \"{text}\", p50"), took, "ms", Target::AtMost(fuzzy));
    }
    Ok(())
}

fn contents(table: &mut Table, name: &str, folder: &Path) -> Outcome {
    let root = Root::open(folder)?;
    let index = scan(&root)?.index;
    let query = GrepQuery { pattern: TEXT.into(), limit: (usize::MAX, usize::MAX), ..GrepQuery::default() };
    let mut found = 0;
    let took = middle(|| {
        found = grep(&root, &index, &query, &CancellationToken::new(), |_| true)?.matches;
        Ok(())
    })?;
    let target = match tool(folder, "rg", &["-n", "-F", "-S", TEXT, "."])? {
        Some(rg) => {
            table.add("workspace", format!("{name}: `rg -F`, p50"), rg, "ms", Target::None);
            Target::AtMost(rg * 1.2)
        }
        None => Target::Void,
    };
    table.add("workspace", format!("{name}: text found in {found} lines, p50"), took, "ms", target);
    Ok(())
}

/// From the change of a file to the index that knows it.
async fn fresh(table: &mut Table, name: &str, folder: &Path) -> Outcome {
    let repository = Arc::new(Repository::new(Root::open(folder)?, None));
    let mut follow = repository.follow();
    follow.ready().await;
    let mut times = Vec::new();
    for round in 0..ROUNDS {
        let file = format!("touched-{round}");
        let start = Instant::now();
        std::fs::write(folder.join(&file), "")?;
        while repository.index().get(&file).is_none() {
            // Each event that comes may be the one; a second is far beyond the target.
            let _: Result<Live, _> = tokio::time::timeout(Duration::from_secs(1), follow.next()).await;
        }
        times.push(millis(start.elapsed()));
    }
    let what = format!("{name}: a new file is in the index, p50");
    table.add("workspace", what, median(times), "ms", Target::AtMost(150.0));
    Ok(())
}
