//! Folders of the home that the daemon looks into unless others are configured.

use std::path::PathBuf;

use roost_cli::StateDir;
use roost_gateway::bootstrap::{Bootstrap, SettingsFolders};

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

/// The settings of the user's other programs, in which this very program can be registered as an MCP server.
pub(crate) fn bootstrap(state: &StateDir, project: Option<PathBuf>) -> Bootstrap {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    // A user without a home has no settings; below the root there are none, and nobody but root could make them.
    let home = etcetera::home_dir().unwrap_or_else(|_| "/".into());
    let folders = SettingsFolders {
        config: variable("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
        home,
        codex: variable("CODEX_HOME"),
        claude: variable("CLAUDE_CONFIG_DIR"),
    };
    let command = std::env::current_exe().map_or_else(|_| "roost".into(), |program| program.display().to_string());
    let usual = StateDir::choose(None).is_ok_and(|usual| usual.dir() == state.dir());
    let state = (!usual).then(|| state.dir().to_owned());
    Bootstrap { folders, command, state, project }
}
