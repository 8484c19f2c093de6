//! How an ACP agent is started.

use std::ffi::OsString;
use std::sync::Arc;

use roost_engine::adapter::{AdapterError, LoginCommand, OpenSession};
use roost_model::runtime::RuntimeEnv;
use roost_process::{Environment, Holder, Launch, RunId};
use tokio::sync::mpsc;

use super::connection::Parts;

/// Lines of stderr that may wait to be shown; the rest is only in the tail.
const STDERR_LINES: usize = 64;

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
        let mut all = env.env.clone();
        all.extend(self.env.iter().cloned());
        LoginCommand { program: self.program.clone(), args: args.iter().map(Into::into).collect(), env: all }
    }
}

/// The whole environment of the agent: the session's, and what is configured on top.
pub(super) fn environment(command: &AgentCommand, env: &RuntimeEnv) -> Environment {
    let mut all = Environment::default();
    for (name, value) in env.env.iter().chain(command.env.iter().map(|(name, value)| (name, value))) {
        all.set(name, value);
    }
    all
}

/// Starts the agent under a holder.
pub(crate) async fn launch(
    holder: &Arc<Holder>,
    run: RunId,
    command: &AgentCommand,
    open: &OpenSession,
) -> Result<Parts, AdapterError> {
    let (stderr_lines, stderr) = mpsc::channel(STDERR_LINES);
    let launch = Launch {
        run,
        label: open.session_id.to_string(),
        program: command.program.clone(),
        args: command.args.clone(),
        cwd: open.env.cwd.clone().into(),
        env: environment(command, &open.env),
        stderr_lines: Some(stderr_lines),
    };
    let running = holder.spawn(launch).await.map_err(|error| AdapterError::Spawn(error.to_string()))?;
    let (stdin, lines, tail, control) = (running.stdin, running.stdout, running.stderr, running.control);
    Ok(Parts { stdin, lines, stderr, tail, control })
}
