//! The command that starts a runtime, and the environment it runs in.

use std::collections::BTreeMap;
use std::ffi::OsString;

use roost_engine::adapter::{LoginCommand, OpenSession};
use roost_model::runtime::RuntimeEnv;
use roost_process::Environment;

/// The agent's command, as configured.
#[derive(Clone, Debug)]
pub struct AgentCommand {
    /// The program: a path, or a name to be found in `PATH`.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables on top of the session's environment.
    pub env: Vec<(String, String)>,
}

impl AgentCommand {
    /// The command for a session, whose own variables are not replaced by those that are configured.
    pub(crate) fn of_session(&self, open: &OpenSession) -> Self {
        let mut command = self.clone();
        command.env.retain(|(name, _)| !open.input.variables.contains(name));
        command
    }

    /// The same program with other arguments, for a person to log in.
    pub(crate) fn login(&self, args: &[&str], env: &RuntimeEnv) -> LoginCommand {
        let args = args.iter().map(Into::into).collect();
        LoginCommand { program: self.program.clone(), args, env: self.variables(&[], env) }
    }

    /// Every variable of the runtime: what is `usual` for it, over that the session's, over that what is configured.
    pub(crate) fn variables(&self, usual: &[(&str, &str)], env: &RuntimeEnv) -> BTreeMap<String, String> {
        let mut all: BTreeMap<_, _> = usual.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        all.extend(env.env.clone());
        all.extend(self.env.iter().cloned());
        all
    }

    /// The session's environment with what is configured on top, as a process is given it.
    pub(crate) fn environment(&self, env: &RuntimeEnv) -> Environment {
        environment(self.variables(&[], env))
    }
}

/// These variables and no others, as a process is given them.
pub(crate) fn environment(
    variables: impl IntoIterator<Item = (impl Into<OsString>, impl Into<OsString>)>,
) -> Environment {
    let mut all = Environment::default();
    for (name, value) in variables {
        all.set(name, value);
    }
    all
}
