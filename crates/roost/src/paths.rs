//! Where Roost keeps its state and finds its configuration.

use std::path::{Path, PathBuf};

use etcetera::base_strategy::{BaseStrategy, Xdg};
use sha2::{Digest, Sha256};

use crate::error::Error;

/// The longest path that a socket can have everywhere.
const MAX_SOCKET: usize = 100;

/// Folders of a home in which people keep their repositories.
const PROJECTS: [&str; 9] = ["Projects", "Code", "Developer", "dev", "Repos", "src", "go/src", "workspace", "Desktop"];

/// The folders in which repositories are looked for: the named ones, else the usual ones of the home that are there.
pub(crate) fn projects(named: Option<&[PathBuf]>) -> Vec<PathBuf> {
    if let Some(named) = named {
        return named.to_vec();
    }
    let Ok(xdg) = xdg() else { return Vec::new() };
    PROJECTS.iter().map(|name| xdg.home_dir().join(name)).filter(|folder| folder.is_dir()).collect()
}

/// The folders beneath which devices may add workspaces: the named ones, else the home.
pub(crate) fn roots(named: Option<&[PathBuf]>) -> Vec<PathBuf> {
    let home = || xdg().map(|xdg| vec![xdg.home_dir().to_owned()]).unwrap_or_default();
    named.map_or_else(home, <[PathBuf]>::to_vec)
}

/// The state directory, and what is where in it.
#[derive(Clone, Debug)]
pub(crate) struct State(PathBuf);

impl State {
    /// The named directory, else the XDG one.
    pub(crate) fn choose(named: Option<PathBuf>) -> Result<Self, Error> {
        let default = || xdg().map(|xdg| xdg.state_dir().unwrap_or_else(|| xdg.data_dir()).join("roost"));
        named.map_or_else(default, |dir| std::path::absolute(dir).map_err(Error::NoCwd)).map(Self)
    }

    /// The directory.
    pub(crate) fn dir(&self) -> &Path {
        &self.0
    }

    /// The records of running processes.
    pub(crate) fn run(&self) -> PathBuf {
        self.0.join("run")
    }

    /// What is too big for an event.
    pub(crate) fn artifacts(&self) -> PathBuf {
        self.0.join("artifacts")
    }

    /// The daemon's socket: here, or where such things live if this path is too long for one.
    pub(crate) fn socket(&self) -> Result<PathBuf, Error> {
        let here = self.0.join("roost.sock");
        if here.as_os_str().len() <= MAX_SOCKET {
            return Ok(here);
        }
        let runtime = xdg()?.runtime_dir().ok_or_else(|| Error::LongState(self.0.clone()))?;
        let name = Sha256::digest(self.0.as_os_str().as_encoded_bytes());
        let name: String = name.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Ok(runtime.join("roost").join(name).with_extension("sock"))
    }

    /// What the daemon says of itself while it runs.
    pub(crate) fn daemon_file(&self) -> PathBuf {
        self.0.join("daemon.json")
    }

    /// What the daemon noted.
    pub(crate) fn daemon_log(&self) -> PathBuf {
        self.0.join("daemon.log")
    }

    /// The folders of credential namespaces.
    pub(crate) fn namespaces(&self) -> PathBuf {
        self.0.join("namespaces")
    }
}

/// The usual place of `roost.toml`.
pub(crate) fn config_file() -> Result<PathBuf, Error> {
    Ok(xdg()?.config_dir().join("roost").join("roost.toml"))
}

fn xdg() -> Result<Xdg, Error> {
    Xdg::new().map_err(|_| Error::NoHome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_in_the_state_directory_where_its_path_is_short_enough() {
        let state = State("/var/lib/roost".into());
        assert_eq!(state.socket().unwrap(), Path::new("/var/lib/roost/roost.sock"));
    }
}
