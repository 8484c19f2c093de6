//! The table of the adapters' contract: what each test found for each adapter, as the tests left it in a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Tells the tests where to leave what they find.
pub(crate) const FOLDER_VARIABLE: &str = "ROOST_CONTRACT_DIR";

/// What was found: by test, then by adapter.
type Cells = BTreeMap<String, BTreeMap<String, String>>;

/// An empty folder for the tests to fill.
pub(crate) fn folder(target: &Path) -> Result<PathBuf, String> {
    let folder = target.join("contract");
    let made = match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => fs::create_dir_all(&folder),
    };
    made.map_err(|error| format!("cannot empty {}: {error}; remove it by hand", folder.display()))?;
    Ok(folder)
}

/// Prints what the tests left; a folder that cannot be read has nothing to show.
pub(crate) fn print(folder: &Path) {
    let cells = read(folder).unwrap_or_default();
    if !cells.is_empty() {
        println!("{}", table(&cells));
    }
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
        let cell = |adapter: &&String| found.get(*adapter).map_or("not run", String::as_str).to_owned();
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
