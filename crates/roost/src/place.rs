//! Where Roost keeps its state and finds its configuration.

use std::path::{Path, PathBuf};

use etcetera::base_strategy::{BaseStrategy, Xdg};

use crate::error::Error;

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
