//! Folders of the home that the daemon looks into unless others are configured.

use std::path::PathBuf;

/// Folders of a home in which people keep their repositories.
const PROJECTS: [&str; 9] = ["Projects", "Code", "Developer", "dev", "Repos", "src", "go/src", "workspace", "Desktop"];

/// The folders in which repositories are looked for: the named ones, else the usual ones of the home that are there.
pub(crate) fn projects(named: Option<&[PathBuf]>) -> Vec<PathBuf> {
    if let Some(named) = named {
        return named.to_vec();
    }
    // This crate is the composition root, so it may read the home directory; the server gets the folders.
    let Ok(home) = etcetera::home_dir() else { return Vec::new() };
    PROJECTS.iter().map(|name| home.join(name)).filter(|folder| folder.is_dir()).collect()
}

/// The folders beneath which devices may add workspaces: the named ones, else the home.
pub(crate) fn roots(named: Option<&[PathBuf]>) -> Vec<PathBuf> {
    let home = || etcetera::home_dir().map(|home| vec![home]).unwrap_or_default();
    named.map_or_else(home, <[PathBuf]>::to_vec)
}
