//! Tracks the current folder through the `cd`s of a line.

use crate::shell::Join;

/// The possible current folders of the shell, relative to where the line begins (`.`).
pub(super) struct FolderTracker {
    /// If all commands so far succeeded.
    after_success: Vec<String>,
    /// Whichever commands succeeded or failed.
    possible: Vec<String>,
}

impl Default for FolderTracker {
    fn default() -> Self {
        Self { after_success: vec![".".to_owned()], possible: vec![".".to_owned()] }
    }
}

impl FolderTracker {
    /// The folders in which the next command may run, if it is joined like this.
    pub(super) fn before(&mut self, join: Join) -> Vec<String> {
        if join != Join::And {
            self.after_success = self.possible.clone();
        }
        self.after_success.clone()
    }

    /// Records that the command, joined like this, was a `cd` to this folder.
    pub(super) fn change(&mut self, folder: &str, how: Join) {
        let there: Vec<_> = self.after_success.iter().map(|at| join(at, folder)).collect();
        self.possible.extend(there.iter().cloned());
        // After `a || cd b`, what follows `&&` runs where `a` succeeded, too.
        self.after_success = if how == Join::Or { self.possible.clone() } else { there };
        self.possible.sort();
        self.possible.dedup();
    }
}

/// Joins a folder and a path textually; `.` means the folder itself.
pub(crate) fn join(folder: &str, path: &str) -> String {
    match (folder, path) {
        (folder, ".") => folder.to_owned(),
        (".", path) => path.to_owned(),
        (_, path) if path.starts_with('/') => path.to_owned(),
        (folder, path) => format!("{folder}/{path}"),
    }
}
