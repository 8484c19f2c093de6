//! The connection to the daemon: opened when it is first needed, and again after the daemon was restarted.

use std::sync::Arc;

use agent_client_protocol_schema::v1 as acp;
use roost_client::Client;
use tokio::sync::{Mutex, mpsc, oneshot};

use crate::error;

/// Somebody waits for a new connection.
pub(crate) type Connecting = oneshot::Sender<Result<Client, String>>;

/// The way to the daemon. Connecting itself is left to whoever runs the door, who knows how to start a daemon.
pub(crate) struct DaemonLink {
    connector: mpsc::Sender<Connecting>,
    current: Mutex<Option<Arc<Client>>>,
}

impl DaemonLink {
    /// A link, and what arrives when it has to connect.
    pub(crate) fn new() -> (Self, mpsc::Receiver<Connecting>) {
        let (connector, wanted) = mpsc::channel(1);
        (Self { connector, current: Mutex::new(None) }, wanted)
    }

    /// The connection; a new one if there is none or the daemon has closed it.
    pub(crate) async fn client(&self) -> Result<Arc<Client>, acp::Error> {
        let mut current = self.current.lock().await;
        if let Some(client) = current.as_ref().filter(|client| !client.is_gone()) {
            return Ok(client.clone());
        }
        let (connected, connecting) = oneshot::channel();
        let leaving = || error::internal("Roost is going down");
        self.connector.send(connected).await.map_err(|_| leaving())?;
        let client = Arc::new(connecting.await.map_err(|_| leaving())?.map_err(error::internal)?);
        *current = Some(client.clone());
        Ok(client)
    }
}
