//! Where a line's commands run, after its `cd`s.

use crate::shell::Join;

/// The folders that the shell may stand in, relative to where the line begins (`.`).
pub(super) struct Folders {
    /// After everything so far succeeded.
    after_success: Vec<String>,
    /// Whatever succeeded or failed.
    possible: Vec<String>,
}

impl Default for Folders {
    fn default() -> Self {
        Self { after_success: vec![".".to_owned()], possible: vec![".".to_owned()] }
    }
}

impl Folders {
    /// The folders in which a command may run that is joined to the ones before like this.
    pub(super) fn before(&mut self, join: Join) -> Vec<String> {
        if join != Join::And {
            self.after_success = self.possible.clone();
        }
        self.after_success.clone()
    }

    /// The command, joined like this, was a `cd` to this folder.
    pub(super) fn change(&mut self, folder: &str, how: Join) {
        let there: Vec<_> = self.after_success.iter().map(|at| join(at, folder)).collect();
        self.possible.extend(there.iter().cloned());
        // After `a || cd b`, what follows `&&` runs where `a` succeeded, too.
        self.after_success = if how == Join::Or { self.possible.clone() } else { there };
        self.possible.sort();
        self.possible.dedup();
    }
}

/// A path as it is named from a folder.
pub(crate) fn join(folder: &str, path: &str) -> String {
    match (folder, path) {
        (folder, ".") => folder.to_owned(),
        (".", path) => path.to_owned(),
        (_, path) if path.starts_with('/') => path.to_owned(),
        (folder, path) => format!("{folder}/{path}"),
    }
}
