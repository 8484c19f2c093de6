//! Where git keeps what it knows of a folder.

use std::fs;
use std::path::{Path, PathBuf};

/// The repository that a folder is in. In a linked worktree and in a submodule its parts lie apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitDir {
    /// `HEAD`, the index and what git is doing: this worktree's own.
    pub own: PathBuf,
    /// Branches, remotes and settings: shared by all worktrees.
    pub common: PathBuf,
    /// The folder beneath the top of the work tree, with a `/` behind it; empty for the top.
    pub prefix: String,
}

impl GitDir {
    /// The repository that a folder is in; none if there is none, or if its name is no text. Waits for the disk.
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

    /// Whether the folder is the top of its work tree, which git's own commands need here.
    pub fn is_top(&self) -> bool {
        self.prefix.is_empty()
    }

    /// The branch that is checked out; none if a commit is. Waits for the disk.
    pub fn branch(&self) -> Option<String> {
        let head = fs::read_to_string(self.own.join("HEAD")).ok()?;
        Some(head.trim_end().strip_prefix("ref: refs/heads/")?.to_owned())
    }

    /// The file of the index.
    pub fn index(&self) -> PathBuf {
        self.own.join("index")
    }
}

/// The repository that a `.git` is or leads to.
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
