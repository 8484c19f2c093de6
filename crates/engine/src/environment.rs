//! The environment that a session's runtime gets: the allow-listed part of the daemon's, and its namespace's folders.

use std::collections::BTreeMap;
use std::path::PathBuf;

use roost_model::ids::SessionId;
use roost_model::runtime::{RuntimeEnv, RuntimeIsolation, RuntimeIsolationMode, RuntimeName};
use roost_model::session::SessionRecord;
use roost_process::{Environment, EphemeralDir, Isolation, Namespace};

use crate::engine::Config;
use crate::error::Error;

/// Whose state of a runtime a session uses unless another is named.
pub const NAMESPACE: &str = "default";

/// How environments are made; the composition root fills it in, the engine reads nothing by itself.
#[derive(Clone, Debug)]
pub struct Environments {
    /// The part of the daemon's environment that runtimes may see.
    pub base: Environment,
    /// Where namespaces keep their folders.
    pub namespaces: PathBuf,
    /// How far runtimes are kept apart from the user's own home, unless one of them is configured otherwise.
    pub isolation: Isolation,
}

impl Environments {
    /// The environment of one session, and what must be removed at its end.
    pub(crate) async fn of(
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
    /// How far a session of this runtime is kept apart, if it says so itself or not.
    pub(crate) fn isolation_of(&self, own: Option<Isolation>, runtime: &RuntimeName) -> Isolation {
        own.or_else(|| self.isolation.get(runtime.id()).copied()).unwrap_or(self.environments.isolation)
    }

    /// The folders that go with a session whose runtime an earlier process opened.
    pub(crate) fn ephemeral(&self, record: &SessionRecord) -> Option<EphemeralDir> {
        let is_ephemeral = self.isolation_of(record.isolation, &record.runtime) == Isolation::Ephemeral;
        let namespace = Namespace(record.credential_namespace.clone());
        let folders =
            || EphemeralDir::of_running(&self.environments.namespaces, &namespace, record.session_id.as_str());
        is_ephemeral.then(folders)
    }
}

/// Where runtimes live while no session runs: to look at them, and to log in there.
pub struct Homes<'a> {
    /// How environments are made.
    pub environments: &'a Environments,
    /// How far single runtimes are kept apart, by their ids.
    pub isolation: &'a BTreeMap<String, Isolation>,
}

impl Homes<'_> {
    /// How far a runtime is kept apart.
    pub fn isolation(&self, runtime: &str) -> Isolation {
        self.isolation.get(runtime).copied().unwrap_or(self.environments.isolation)
    }

    /// The environment that sessions of a runtime have in this namespace, and what must be removed afterwards.
    pub async fn of(&self, runtime: &str, namespace: &str) -> Result<(RuntimeEnv, Option<EphemeralDir>), Error> {
        self.kept_apart(self.isolation(runtime), namespace).await
    }

    /// The environment that sessions have which are kept apart like this, in this namespace.
    pub async fn kept_apart(
        &self,
        isolation: Isolation,
        namespace: &str,
    ) -> Result<(RuntimeEnv, Option<EphemeralDir>), Error> {
        let cwd = self.environments.namespaces.display().to_string();
        self.environments.of(isolation, &SessionId::host(), namespace, &cwd).await
    }
}

/// The variables that are text.
fn texts(variables: &Environment) -> BTreeMap<String, String> {
    let text = |(name, value): (&std::ffi::OsStr, &std::ffi::OsStr)| {
        Some((name.to_str()?.to_owned(), value.to_str()?.to_owned()))
    };
    variables.iter().filter_map(text).collect()
}
