//! Finds the git directory of a folder, without starting git.

use std::fs;
use std::path::{Path, PathBuf};

/// The git directories of the repository that a folder is in. In a linked worktree and in a submodule they lie apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitDir {
    /// The directory of this worktree: `HEAD`, the index, and the state of merges and rebases.
    pub own: PathBuf,
    /// The directory that all worktrees share: branches, remotes and settings.
    pub common: PathBuf,
    /// The folder's path below the top of the working copy, with a `/` at its end; empty for the top itself.
    pub prefix: String,
}

impl GitDir {
    /// Finds the repository that a folder is in; `None` if there is none, or if the path is not UTF-8. Waits for the
    /// disk.
    pub fn find(folder: &Path) -> Option<Self> {
        let folder = fs::canonicalize(folder).ok()?;
        let (top, own) = folder.ancestors().find_map(|top| Some((top, at(&top.join(".git"))?)))?;
        let beneath = folder.strip_prefix(top).ok()?.to_str()?;
        let prefix = if beneath.is_empty() { String::new() } else { format!("{beneath}/") };
        let common = match fs::read_to_string(own.join("commondir")) {
            Ok(text) => own.join(text.trim_end_matches(['\n', '\r'])),
            Err(_) => own.clone(),
        };
        Some(Self { common: fs::canonicalize(common).ok()?, own, prefix })
    }

    /// Whether the folder is the top of its working copy; only there Roost runs git.
    pub fn is_top(&self) -> bool {
        self.prefix.is_empty()
    }

    /// The branch that is checked out; `None` with a detached head. Waits for the disk.
    pub fn branch(&self) -> Option<String> {
        let head = fs::read_to_string(self.own.join("HEAD")).ok()?;
        Some(head.trim_end().strip_prefix("ref: refs/heads/")?.to_owned())
    }

    /// The path of git's index file, which may not exist.
    pub fn index(&self) -> PathBuf {
        self.own.join("index")
    }
}

/// The git directory that a `.git` is, or that a file `.git` names.
fn at(dot_git: &Path) -> Option<PathBuf> {
    let place = match fs::metadata(dot_git).ok()?.is_dir() {
        true => dot_git.to_owned(),
        false => {
            let text = fs::read_to_string(dot_git).ok()?;
            dot_git.parent()?.join(text.strip_prefix("gitdir:")?.trim())
        }
    };
    // An empty folder named `.git` is no repository, and git looks further up.
    place.join("HEAD").symlink_metadata().ok()?;
    fs::canonicalize(place).ok()
}
