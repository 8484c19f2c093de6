//! One cell of the table of tests and adapters, left in a folder for whoever prints it.

use std::path::PathBuf;

use super::Conformance;

/// The variable that names the folder. Without it nothing is written.
const FOLDER: &str = "ROOST_CONTRACT_DIR";

/// The file of one cell; `None` if nobody asked for the table.
pub(super) struct Report(Option<PathBuf>);

impl Report {
    /// Writes "FAILED" until [`Report::close`], so that a test that panics is shown as failed.
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

    /// Writes the result of a test that did not panic.
    pub(super) fn close(self, found: &Conformance) {
        match found {
            Conformance::Holds => self.write("pass"),
            Conformance::NotClaimed(capability) => self.write(&format!("not claimed: {capability}")),
        }
    }

    fn write(&self, text: &str) {
        if let Self(Some(cell)) = self {
            std::fs::write(cell, text).unwrap();
        }
    }
}
