//! The table of the adapters' contract: what each test found for each adapter, as the tests left it in a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::fixtures;
use crate::fixtures::locked_packages::{AgentSet, LockedPackage};

/// The variable that tells the tests into which folder to write their results.
pub(crate) const FOLDER_VARIABLE: &str = "ROOST_CONTRACT_DIR";

/// The results by test, then by adapter.
type Cells = BTreeMap<String, BTreeMap<String, String>>;

/// Creates an empty folder of this name for the tests to write into; the results of an earlier run are removed.
pub(crate) fn folder(target: &Path, name: &str) -> Result<PathBuf, String> {
    let folder = target.join(name);
    let made = match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => fs::create_dir_all(&folder),
    };
    made.map_err(|error| format!("cannot empty {}: {error}; remove it by hand", folder.display()))?;
    Ok(folder)
}

/// The file that names the adapters under test, one `testkit::contract!` line each.
const SUBJECTS: &str = "crates/roost/tests/all/contract.rs";
/// The file that names the tests of the contract.
const TESTS: &str = "crates/testkit/src/contract/mod.rs";

/// A run of the contract: the agents that it used and the folder with its results.
pub(crate) struct ContractRun<'a> {
    pub(crate) set: AgentSet,
    pub(crate) folder: &'a Path,
}

/// Prints one table of the results of these runs, with a column for each adapter and version; fails if a test did not
/// run for one of the adapters. Of the newest agents, only those run that differ from the pinned ones.
pub(crate) fn print(root: &Path, runs: &[ContractRun<'_>]) -> Result<(), String> {
    let text = |file: &str| fs::read_to_string(root.join(file)).map_err(|error| format!("cannot read {file}: {error}"));
    let (subjects, tests) = (subjects(&text(SUBJECTS)?), text(TESTS)?);
    let mut cells = Cells::new();
    for run in runs {
        let subjects: Vec<_> = subjects.iter().filter(|subject| runs_in(run.set, subject)).cloned().collect();
        for (test, found) in expected(&subjects, &tests, read(run.folder).unwrap_or_default()) {
            let found = found.into_iter().map(|(adapter, found)| (with_version(run.set, &adapter), found));
            cells.entry(test).or_default().extend(found);
        }
    }
    println!("{}", table(&cells));
    let missing = |(test, found): (&String, &BTreeMap<String, String>)| {
        let adapters = found.iter().filter(|(_, found)| *found == NOT_RUN).map(|(adapter, _)| adapter.as_str());
        let adapters = adapters.collect::<Vec<_>>().join(", ");
        (!adapters.is_empty()).then(|| format!("{test}: {adapters}"))
    };
    let missing: Vec<_> = cells.iter().filter_map(missing).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("the contract was not run for:\n{}", missing.join("\n"))) }
}

/// The pattern of nextest that picks the contract of the newest agents; `None` if the pinned ones are the newest.
pub(crate) fn newest_tests() -> Option<String> {
    let commands = fixtures::commands_with_newer_release();
    let modules = commands.iter().map(|command| command.replace('-', "_")).collect::<Vec<_>>().join("|");
    (!modules.is_empty()).then(|| format!("package(roost) & test(/^contract::({modules})::/)"))
}

fn runs_in(set: AgentSet, subject: &str) -> bool {
    set == AgentSet::Pinned || fixtures::commands_with_newer_release().contains(&subject.replace('_', "-").as_str())
}

/// The name of a column: an adapter whose agent is a fixture gets that agent's version.
fn with_version(set: AgentSet, adapter: &str) -> String {
    let version = set.package(&adapter.replace('_', "-")).and_then(LockedPackage::dependency);
    version.map_or_else(|| adapter.to_owned(), |(_, version)| format!("{adapter} {version}"))
}

const NOT_RUN: &str = "not run";

/// The adapters that a file declares to be under test.
fn subjects(file: &str) -> Vec<String> {
    let subject = |line: &str| Some(line.strip_prefix("testkit::contract!(")?.split(',').next()?.to_owned());
    file.lines().filter_map(subject).collect()
}

/// Adds a [`NOT_RUN`] cell for every test and adapter that left no result.
fn expected(subjects: &[String], tests: &str, mut cells: Cells) -> Cells {
    let test = |line: &str| {
        let (number, name) = line.trim().strip_suffix(',')?.split_once(' ')?;
        let is_name = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        Some(format!("{:02} {}", number.parse::<u8>().ok().filter(|_| is_name)?, name.replace('_', " ")))
    };
    for test in tests.lines().filter_map(test) {
        let row = cells.entry(test).or_default();
        for subject in subjects {
            row.entry(subject.clone()).or_insert_with(|| NOT_RUN.to_owned());
        }
    }
    cells
}

fn read(folder: &Path) -> io::Result<Cells> {
    let name = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut cells = Cells::new();
    for adapter in fs::read_dir(folder)? {
        let adapter = adapter?;
        for test in fs::read_dir(adapter.path())? {
            let test = test?;
            let found = fs::read_to_string(test.path())?;
            cells.entry(name(&test)).or_default().insert(name(&adapter), found);
        }
    }
    Ok(cells)
}

fn table(cells: &Cells) -> String {
    let adapters: BTreeSet<_> = cells.values().flat_map(BTreeMap::keys).collect();
    let head = ["the adapters' contract".to_owned()].into_iter().chain(adapters.iter().map(|&name| name.clone()));
    let mut rows = vec![head.collect::<Vec<_>>()];
    for (test, found) in cells {
        let cell = |adapter: &&String| found.get(*adapter).map_or(NOT_RUN, String::as_str).to_owned();
        rows.push([test.clone()].into_iter().chain(adapters.iter().map(cell)).collect());
    }
    let widths: Vec<_> =
        (0..rows[0].len()).map(|column| rows.iter().map(|row| row[column].len()).max().unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let padded = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_tests_leave_is_read_and_an_earlier_run_forgotten() {
        let target = std::env::temp_dir().join(format!("roost-xtask-contract-{}", std::process::id()));
        for found in ["FAILED", "pass"] {
            let folder = folder(&target, "contract").unwrap();
            let adapter = folder.join(if found == "pass" { "demo" } else { "gone" });
            fs::create_dir(&adapter).unwrap();
            fs::write(adapter.join("01 it begins"), found).unwrap();
        }
        let cells = read(&target.join("contract")).unwrap();
        fs::remove_dir_all(&target).unwrap();
        assert_eq!(table(&cells), "the adapters' contract  demo\n01 it begins            pass");
    }

    #[test]
    fn a_subject_that_left_nothing_is_missed() {
        let subjects = "testkit::contract!(demo, make_demo);\ntestkit::contract!(acp, make_acp);\n";
        let tests = "macro_rules! contract {\n    1 it_begins,\n    2 it_stops,\n    x 3,\n";
        let demo = |found: &str| BTreeMap::from([("demo".to_owned(), found.to_owned())]);
        let left = Cells::from([("01 it begins".to_owned(), demo("pass")), ("02 it stops".to_owned(), demo("pass"))]);
        let expected = "\
the adapters' contract  acp      demo
01 it begins            not run  pass
02 it stops             not run  pass";
        assert_eq!(table(&super::expected(&super::subjects(subjects), tests, left)), expected);
    }

    #[test]
    fn every_subject_and_every_test_of_this_tree_is_found() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let text = |file: &str| fs::read_to_string(root.join(file)).unwrap();
        let cells = expected(&subjects(&text(SUBJECTS)), &text(TESTS), Cells::new());
        assert_eq!(cells.len(), 21);
        assert!(
            cells.values().all(|row| ["acp", "claude", "codex", "demo"].iter().all(|name| row.contains_key(*name)))
        );
        let nowhere = |set| ContractRun { set, folder: Path::new("/nonexistent") };
        let missing = print(root, &[nowhere(AgentSet::Pinned)]).unwrap_err();
        assert!(missing.contains("not run for:\n01 the capabilities"), "{missing}");
        for command in fixtures::commands_with_newer_release() {
            let column = with_version(AgentSet::Newest, &command.replace('-', "_"));
            let missing = print(root, &[nowhere(AgentSet::Newest)]).unwrap_err();
            assert!(missing.contains(&column), "{column}: {missing}");
        }
    }

    #[test]
    fn a_column_names_the_version_of_an_agent_and_nothing_else() {
        assert_eq!(with_version(AgentSet::Pinned, "demo"), "demo");
        let (_, version) = AgentSet::Pinned.package("claude-agent-acp").unwrap().dependency().unwrap();
        assert_eq!(with_version(AgentSet::Pinned, "claude_agent_acp"), format!("claude_agent_acp {version}"));
    }

    #[test]
    fn the_table_has_a_row_per_test_and_a_column_per_adapter() {
        let row = |cells: &[(&str, &str)]| {
            cells.iter().map(|(adapter, found)| ((*adapter).to_owned(), (*found).to_owned())).collect()
        };
        let cells = Cells::from([
            ("02 it stops".to_owned(), row(&[("demo", "supportsStop"), ("acp", "pass")])),
            ("01 it begins".to_owned(), row(&[("demo", "pass")])),
        ]);
        let expected = "\
the adapters' contract  acp      demo
01 it begins            not run  pass
02 it stops             pass     supportsStop";
        assert_eq!(table(&cells), expected);
    }
}
