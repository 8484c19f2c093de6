//! `workspace`: files, search and git of a workspace, beside the tools that people use at a terminal.
//!
//! Everything of ours is asked over an open WebSocket of the `dist` build of `roost serve`, on the same two cores as
//! the client; a tool is a process whose whole output is read. Both are measured in turns on the same tree.

mod contents;
mod idle;
mod labels;
mod names;
mod quality;
mod status;
mod tool;
mod tree;
mod workspace_daemon;

use std::time::Instant;

use tempfile::TempDir;

use crate::Outcome;
use crate::figure::{Table, Target};

/// The name of this bench in the first column of the table.
const BENCH: &str = "workspace";

/// A generated repository that is measured, with the targets for its size.
struct Tree {
    name: &'static str,
    folder: TempDir,
    /// How often each measurement is taken; the table shows the median.
    rounds: usize,
    /// The target for a list of files, in milliseconds.
    list: Target,
    /// The target for a fuzzy query, in milliseconds.
    fuzzy: Target,
}

impl Tree {
    fn grow(name: &'static str, files: usize, list: Target, fuzzy: Target) -> Outcome<Self> {
        eprintln!("bench workspace, a tree of {files} files …");
        let folder = tempfile::tempdir()?;
        tree::grow(folder.path(), files)?;
        let rounds = if files < 50_000 { 15 } else { 9 };
        Ok(Self { name, folder, rounds, list, fuzzy })
    }
}

/// Grows trees of several sizes and measures every part on each of them.
pub(crate) fn run(table: &mut Table) -> Outcome {
    for (tool, args) in [("rg", ["--version"]), ("fzf", ["--version"]), ("git", ["--version"])] {
        let version = String::from_utf8(tool::run("/".as_ref(), tool, &args, b"")?.1)?;
        println!("{tool}: {}", version.lines().next().unwrap_or_default());
    }
    let (least, most) = (Target::AtMost(5.0), Target::AtMost(30.0));
    for (name, files, list, fuzzy) in [("13k", 13_000, least, least), ("100k", 100_000, Target::None, most)] {
        let tree = Tree::grow(name, files, list, fuzzy)?;
        for (what, part) in PARTS {
            report_progress(tree.name, what, || part(table, &tree))?;
        }
    }
    let tree = Tree::grow("10k changed", 20_000, Target::None, Target::None)?;
    tree::change(tree.folder.path(), 10_000)?;
    report_progress(tree.name, "git", || status::measure(table, &tree))?;
    report_progress("20 workspaces", "idle", || idle::measure(table))
}

/// Runs one part and says on stderr when it begins and how long it took.
fn report_progress(tree: &str, part: &str, work: impl FnOnce() -> Outcome) -> Outcome {
    eprintln!("bench workspace, {tree}, {part} …");
    let start = Instant::now();
    work()?;
    eprintln!("bench workspace, {tree}, {part}: {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}

type WorkspacePart = fn(&mut Table, &Tree) -> Outcome;

const PARTS: [(&str, WorkspacePart); 4] = [
    ("git", status::measure),
    ("names", names::measure),
    ("labelled queries", quality::measure),
    ("contents", contents::measure),
];
