//! The command that starts a runtime, and the environment it runs in.

use std::collections::BTreeMap;
use std::ffi::OsString;

use roost_engine::adapter::{LoginCommand, OpenSession};
use roost_model::runtime::RuntimeEnv;
use roost_process::Environment;

/// The command that starts an agent, as configured in `[runtimes.<id>]` of `roost.toml`.
#[derive(Clone, Debug)]
pub struct AgentCommand {
    /// A path, or a name that is looked up in `PATH`.
    pub program: OsString,
    /// The configured arguments; an adapter adds those that its protocol needs.
    pub args: Vec<OsString>,
    /// Variables on top of the session's environment; of two with one name the later wins.
    pub env: Vec<(String, String)>,
}

impl AgentCommand {
    /// The command for one session. A configured variable that the session sets itself is left out, so that the
    /// session's value counts.
    pub(crate) fn for_session(&self, open: &OpenSession) -> Self {
        let mut command = self.clone();
        command.env.retain(|(name, _)| !open.input.variables.contains(name));
        command
    }

    /// The command by which a person logs in: the same program and variables, with these arguments only.
    pub(crate) fn login(&self, args: &[&str], env: &RuntimeEnv) -> LoginCommand {
        let args = args.iter().map(Into::into).collect();
        LoginCommand { program: self.program.clone(), args, env: self.variables(&[], env) }
    }

    /// Every variable of the runtime in three layers: `usual`, then the session's, then the configured ones, which win.
    pub(crate) fn variables(&self, usual: &[(&str, &str)], env: &RuntimeEnv) -> BTreeMap<String, String> {
        let mut all: BTreeMap<_, _> = usual.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        all.extend(env.env.clone());
        all.extend(self.env.iter().cloned());
        all
    }

    /// The session's environment with the configured variables on top, as the environment of a process.
    pub(crate) fn environment(&self, env: &RuntimeEnv) -> Environment {
        environment(self.variables(&[], env))
    }
}

/// The environment of a process that has these variables and inherits none.
pub(crate) fn environment(
    variables: impl IntoIterator<Item = (impl Into<OsString>, impl Into<OsString>)>,
) -> Environment {
    let mut all = Environment::default();
    for (name, value) in variables {
        all.set(name, value);
    }
    all
}
