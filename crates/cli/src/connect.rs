//! Connects to the daemon over its socket, and starts one if a command needs it.

use std::time::Duration;

use roost_client::Client;
use roost_rpc::{DaemonStatus, NoParams, method};

use crate::background::{self, StartResult};
use crate::cli::Context;
use crate::error::Error;
use crate::paths::StateDir;
use crate::stderr::print_stderr;

/// How long a daemon may take to answer a new connection.
const PATIENCE: Duration = Duration::from_secs(10);

/// Connects to the daemon; `None` if none runs.
pub(crate) async fn find(state: &StateDir) -> Result<Option<Client>, Error> {
    match tokio::time::timeout(PATIENCE, Client::connect(&state.socket()?)).await {
        Ok(Ok(client)) => Ok(Some(client)),
        // One that hangs up before it has said hello is just leaving.
        Ok(Err(roost_client::Error::Gone)) => Ok(None),
        Ok(Err(error)) if error.is_nobody() => Ok(None),
        Ok(Err(error)) => Err(error.into()),
        Err(_) => Err(Error::Silent),
    }
}

/// Connects to the daemon and asks for its status; `None` if none runs.
pub async fn find_with_status(state: &StateDir) -> Result<Option<(Client, DaemonStatus)>, Error> {
    let Some(client) = find(state).await? else { return Ok(None) };
    match client.call::<method::DaemonStatusGet>(NoParams {}).await {
        Err(roost_client::Error::Gone) => Ok(None),
        status => Ok(Some((client, status?))),
    }
}

/// Asks the daemon to stop; returns when it no longer listens.
pub async fn stop_daemon(client: &Client) -> Result<(), Error> {
    match client.call::<method::DaemonStop>(NoParams {}).await {
        // It may be gone before its answer is.
        Ok(_) | Err(roost_client::Error::Gone) => {}
        Err(error) => return Err(error.into()),
    }
    client.gone().await;
    Ok(())
}

/// Connects to the daemon; starts one in the background if none runs.
pub(crate) async fn open(context: &Context) -> Result<Client, Error> {
    if let Some(client) = find(&context.state).await? {
        return Ok(client);
    }
    if background::start(context, vec!["--auto".into()]).await? == StartResult::Started {
        say_started();
    }
    find(&context.state).await?.ok_or(Error::Client(roost_client::Error::Gone))
}

/// Says on stderr that a command had to start a daemon.
pub(crate) fn say_started() {
    print_stderr("roost: started a daemon in the background; `roost down` stops it");
}

/// Connects to the daemon; an error if none runs, for commands that make no sense without one.
pub(crate) async fn running(context: &Context) -> Result<Client, Error> {
    find(&context.state).await?.ok_or(Error::NoDaemon)
}
