//! One cell of the table of tests and adapters, left in a folder for whoever prints it.

use std::path::PathBuf;

use super::Found;

/// Names the folder; without it nothing is left.
const FOLDER: &str = "ROOST_CONTRACT_DIR";

/// The cell of a test that runs.
pub(super) struct Report(Option<PathBuf>);

impl Report {
    /// A cell that says "failed" until it is closed.
    pub(super) fn open(adapter: &str, number: usize, name: &str) -> Self {
        let cell = std::env::var_os(FOLDER).map(|folder| {
            let folder = PathBuf::from(folder).join(adapter);
            std::fs::create_dir_all(&folder).unwrap();
            folder.join(format!("{number:02} {}", name.replace('_', " ")))
        });
        let report = Self(cell);
        report.write("FAILED");
        report
    }

    /// Says what was found.
    pub(super) fn close(self, found: &Found) {
        match found {
            Found::Kept => self.write("pass"),
            Found::NotClaimed(capability) => self.write(&format!("not claimed: {capability}")),
        }
    }

    fn write(&self, text: &str) {
        if let Self(Some(cell)) = self {
            std::fs::write(cell, text).unwrap();
        }
    }
}
