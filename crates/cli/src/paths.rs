//! Where Roost keeps its state and finds its configuration.

use std::path::{Path, PathBuf};

use etcetera::base_strategy::{BaseStrategy, Xdg};
use sha2::{Digest, Sha256};

use crate::error::Error;

/// The longest path that a socket can have everywhere.
const MAX_SOCKET: usize = 100;

/// The state directory, and what is where in it.
#[derive(Clone, Debug)]
pub struct StateDir(PathBuf);

impl StateDir {
    /// The directory named with `--state`, else the XDG one. An empty name, as of an empty variable, is none.
    pub fn choose(named: Option<PathBuf>) -> Result<Self, Error> {
        let named = named.filter(|dir| !dir.as_os_str().is_empty());
        let default = || xdg().map(|xdg| xdg.state_dir().unwrap_or_else(|| xdg.data_dir()).join("roost"));
        named.map_or_else(default, |dir| std::path::absolute(dir).map_err(Error::NoCwd)).map(Self)
    }

    /// The state directory of `roost acp --standalone`, which no daemon uses.
    pub(crate) fn standalone(&self) -> Self {
        Self(self.0.join("standalone"))
    }

    /// The path of the state directory, absolute.
    pub fn dir(&self) -> &Path {
        &self.0
    }

    /// The records of running processes.
    pub fn run(&self) -> PathBuf {
        self.0.join("run")
    }

    /// The folder of artifacts: what was too big for an event.
    pub fn artifacts(&self) -> PathBuf {
        self.0.join("artifacts")
    }

    /// The daemon's socket: here, or where such things live if this path is too long for one.
    pub fn socket(&self) -> Result<PathBuf, Error> {
        let here = self.0.join("roost.sock");
        if here.as_os_str().len() <= MAX_SOCKET {
            return Ok(here);
        }
        let runtime = xdg()?.runtime_dir().ok_or_else(|| Error::LongState(self.0.clone()))?;
        let name = Sha256::digest(self.0.as_os_str().as_encoded_bytes());
        let name: String = name.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Ok(runtime.join("roost").join(name).with_extension("sock"))
    }

    /// `daemon.json`: the process and the addresses of the daemon, while it runs.
    pub fn daemon_file(&self) -> PathBuf {
        self.0.join("daemon.json")
    }

    /// The daemon's log file, which rotates.
    pub fn daemon_log(&self) -> PathBuf {
        self.0.join("daemon.log")
    }

    /// The prompts that were typed, one file per folder.
    pub(crate) fn history(&self) -> PathBuf {
        self.0.join("history")
    }

    /// The folders of credential namespaces.
    pub fn namespaces(&self) -> PathBuf {
        self.0.join("namespaces")
    }
}

/// The folder of the configuration of programs: `$XDG_CONFIG_HOME`, else `~/.config`.
pub(crate) fn config_home() -> Result<PathBuf, Error> {
    Ok(xdg()?.config_dir())
}

/// The path of `roost.toml` unless `--config` names another one.
pub fn config_file() -> Result<PathBuf, Error> {
    Ok(config_home()?.join("roost").join("roost.toml"))
}

/// The directory that a command works in: absolute, with every link followed, so that it is found again.
pub fn working_directory(named: Option<&Path>) -> Result<PathBuf, Error> {
    let dir = match named {
        Some(dir) => std::path::absolute(dir),
        None => std::env::current_dir(),
    }
    .map_err(Error::NoCwd)?;
    // One that is not there is the engine's to refuse.
    Ok(dir.canonicalize().unwrap_or(dir))
}

fn xdg() -> Result<Xdg, Error> {
    Xdg::new().map_err(|_| Error::NoHome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_in_the_state_directory_where_its_path_is_short_enough() {
        let state = StateDir("/var/lib/roost".into());
        assert_eq!(state.socket().unwrap(), Path::new("/var/lib/roost/roost.sock"));
    }
}
