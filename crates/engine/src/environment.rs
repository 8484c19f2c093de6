//! Builds the environment of a runtime: the allow-listed variables of the daemon, and the folders of its namespace.

use std::collections::BTreeMap;
use std::path::PathBuf;

use roost_model::ids::SessionId;
use roost_model::runtime::{RuntimeEnv, RuntimeIsolation, RuntimeIsolationMode, RuntimeName};
use roost_model::session::SessionRecord;
use roost_process::{Environment, EphemeralDir, Isolation, Namespace};

use crate::config::Config;
use crate::error::Error;

/// The credential namespace of a session that names none.
pub const NAMESPACE: &str = "default";

/// What environments are built from. The composition root fills it in; the engine reads no variables by itself.
#[derive(Clone, Debug)]
pub struct Environments {
    /// The variables of the daemon that every runtime may see.
    pub base: Environment,
    /// The directory that holds one folder per credential namespace.
    pub namespaces: PathBuf,
    /// The isolation of runtimes that are not configured otherwise.
    pub isolation: Isolation,
}

impl Environments {
    /// The environment of one session. The guard removes the folders of an ephemeral session when it is dropped.
    pub(crate) async fn for_session(
        &self,
        isolation: Isolation,
        session: &SessionId,
        namespace: &str,
        cwd: &str,
    ) -> Result<(RuntimeEnv, Option<EphemeralDir>), Error> {
        let mut variables = self.base.clone();
        let place = Namespace(namespace.to_owned());
        let ephemeral =
            roost_process::isolate(isolation, &self.namespaces, &place, session.as_str(), &mut variables).await?;
        let folder = |name: &str| variables.get(name).map(|path| path.to_string_lossy().into_owned());
        let isolation = (isolation != Isolation::Shared).then(|| RuntimeIsolation {
            mode: RuntimeIsolationMode::Subprocess,
            home_dir: folder("HOME"),
            xdg_config_home: folder("XDG_CONFIG_HOME"),
            xdg_state_home: folder("XDG_STATE_HOME"),
            xdg_cache_home: folder("XDG_CACHE_HOME"),
        });
        let env =
            RuntimeEnv { cwd: cwd.into(), env: texts(&variables), credential_namespace: namespace.into(), isolation };
        Ok((env, ephemeral))
    }
}

impl Config {
    /// The isolation of a session: its own, else that of its runtime, else the general one.
    pub(crate) fn isolation_of(&self, own: Option<Isolation>, runtime: &RuntimeName) -> Isolation {
        own.or_else(|| self.isolation.get(runtime.id()).copied()).unwrap_or(self.environments.isolation)
    }

    /// The guard for the ephemeral folders of a session whose runtime an earlier daemon started; `None` if it has none.
    pub(crate) fn ephemeral(&self, record: &SessionRecord) -> Option<EphemeralDir> {
        let is_ephemeral = self.isolation_of(record.isolation, &record.runtime) == Isolation::Ephemeral;
        let namespace = Namespace(record.credential_namespace.clone());
        let folders =
            || EphemeralDir::of_running(&self.environments.namespaces, &namespace, record.session_id.as_str());
        is_ephemeral.then(folders)
    }
}

/// The environments of runtimes outside of any session: for probing whether they are installed, and for logging in.
pub struct Homes<'a> {
    /// What environments are built from.
    pub environments: &'a Environments,
    /// The isolation of single runtimes by their ids; others have the general one.
    pub isolation: &'a BTreeMap<String, Isolation>,
}

impl Homes<'_> {
    /// The configured isolation of a runtime.
    pub fn isolation(&self, runtime: &str) -> Isolation {
        self.isolation.get(runtime).copied().unwrap_or(self.environments.isolation)
    }

    /// The environment that sessions of a runtime have in this namespace. The guard removes ephemeral folders when it
    /// is dropped.
    pub async fn environment(
        &self,
        runtime: &str,
        namespace: &str,
    ) -> Result<(RuntimeEnv, Option<EphemeralDir>), Error> {
        self.kept_apart(self.isolation(runtime), namespace).await
    }

    /// The environment that sessions have in this namespace with this isolation.
    pub async fn kept_apart(
        &self,
        isolation: Isolation,
        namespace: &str,
    ) -> Result<(RuntimeEnv, Option<EphemeralDir>), Error> {
        let cwd = self.environments.namespaces.display().to_string();
        self.environments.for_session(isolation, &SessionId::host(), namespace, &cwd).await
    }
}

/// The variables whose name and value are UTF-8; others cannot be passed on as JSON.
fn texts(variables: &Environment) -> BTreeMap<String, String> {
    let text = |(name, value): (&std::ffi::OsStr, &std::ffi::OsStr)| {
        Some((name.to_str()?.to_owned(), value.to_str()?.to_owned()))
    };
    variables.iter().filter_map(text).collect()
}
