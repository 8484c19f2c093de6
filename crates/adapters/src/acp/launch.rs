//! How an ACP agent is started.

use roost_engine::adapter::{AdapterError, OpenSession};
use roost_process::{Holder, RunId, Stdin};

use crate::host::{AgentCommand, Process, Start};

/// Starts the agent under a holder.
pub(crate) async fn launch(
    holder: &Holder,
    run: RunId,
    command: &AgentCommand,
    open: &OpenSession,
) -> Result<(Process, Stdin), AdapterError> {
    let (args, env) = (command.args.clone(), command.environment(&open.env));
    Start { run, command, args, env, open }.spawn(holder).await
}
