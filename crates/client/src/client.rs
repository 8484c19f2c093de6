//! The client: calls, and subscriptions beside them.

use std::path::{Path, PathBuf};

use roost_rpc::{InitializeResult, SubscribeParams, Typed, method};
use tokio::sync::watch;

use crate::connection::Connection;
use crate::error::Error;
use crate::line::{self, Notification};
use crate::subscription::Subscription;

/// A connection to the daemon, greeted.
pub struct Client {
    path: PathBuf,
    connection: Connection,
    greeting: InitializeResult,
}

impl Client {
    /// Connects to the daemon that listens on this socket and says hello.
    pub async fn connect(path: &Path) -> Result<Self, Error> {
        let connection = Connection::open(path).await?;
        let greeting = connection.call::<method::Initialize>(line::hello()).await?;
        Ok(Self { path: path.into(), connection, greeting })
    }

    /// What the daemon said of itself.
    pub fn greeting(&self) -> &InitializeResult {
        &self.greeting
    }

    /// Calls a method and waits for its result; any number of calls may wait at once.
    pub async fn call<M: Typed>(&self, params: M::Params) -> Result<M::Result, Error> {
        self.connection.call::<M>(params).await
    }

    /// What the daemon told last without being asked, such as how far a call is; what came before it is passed over.
    pub fn told(&self) -> watch::Receiver<Option<Notification>> {
        self.connection.told()
    }

    /// Follows the log's events as they are, over a connection of its own.
    pub async fn subscribe(&self, params: SubscribeParams) -> Result<Subscription, Error> {
        Subscription::open(&self.path, params).await
    }

    /// Returns when the daemon has closed the connection.
    pub async fn gone(&self) {
        self.connection.gone().await;
    }
}
