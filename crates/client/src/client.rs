//! The client: makes calls, and opens subscriptions beside them.

use std::io;
use std::path::Path;
use std::sync::Arc;

use roost_rpc::{InitializeResult, SubscribeParams, Typed, method};
use tokio::net::UnixStream;
use tokio::sync::watch;

use crate::connection::Connection;
use crate::error::Error;
use crate::line::{self, Endpoint, Notification};
use crate::subscription::Subscription;

/// A connection to the daemon on which `initialize` was called.
pub struct Client {
    endpoint: Endpoint,
    connection: Connection,
    greeting: InitializeResult,
}

impl Client {
    /// Connects to the daemon that listens on this socket and calls `initialize`.
    pub async fn connect(path: &Path) -> Result<Self, Error> {
        Self::open(Endpoint::Path(path.into())).await
    }

    /// Connects to the daemon that this process is, over the connections that `open` makes, and calls `initialize`.
    pub async fn in_process(open: impl Fn() -> io::Result<UnixStream> + Send + Sync + 'static) -> Result<Self, Error> {
        Self::open(Endpoint::InProcess(Arc::new(open))).await
    }

    async fn open(endpoint: Endpoint) -> Result<Self, Error> {
        let connection = Connection::open(&endpoint).await?;
        let greeting = connection.call::<method::Initialize>(line::hello()).await?;
        Ok(Self { endpoint, connection, greeting })
    }

    /// The daemon's answer to `initialize`: its version and what it supports.
    pub fn greeting(&self) -> &InitializeResult {
        &self.greeting
    }

    /// Calls a method and waits for its result; any number of calls may wait at once.
    pub async fn call<M: Typed>(&self, params: M::Params) -> Result<M::Result, Error> {
        self.connection.call::<M>(params).await
    }

    /// The last notification, such as the progress of a call; it replaces the one before, whether or not that was read.
    pub fn last_notification(&self) -> watch::Receiver<Option<Notification>> {
        self.connection.notifications()
    }

    /// Follows the log's events in the normalized format, over a connection of its own.
    pub async fn subscribe(&self, params: SubscribeParams) -> Result<Subscription, Error> {
        Subscription::open(&self.endpoint, params).await
    }

    /// Whether the connection has ended.
    pub fn is_gone(&self) -> bool {
        self.connection.is_gone()
    }

    /// Returns when the connection has ended.
    pub async fn gone(&self) {
        self.connection.gone().await;
    }
}
