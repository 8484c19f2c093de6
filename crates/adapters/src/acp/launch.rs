//! Starts an ACP agent.

use roost_engine::adapter::{AdapterError, OpenSession};
use roost_process::{Holder, RunId, Stdin};

use crate::host::{AgentCommand, Process, Start};

/// Starts the agent under a holder, with the command's arguments and the session's environment.
pub(crate) async fn launch(
    holder: &Holder,
    run: RunId,
    command: &AgentCommand,
    open: &OpenSession,
) -> Result<(Process, Stdin), AdapterError> {
    let (args, env) = (command.args.clone(), command.environment(&open.env));
    Start { run, command, args, env, open }.spawn(holder).await
}
