//! The client: makes calls, and opens subscriptions beside them.

use std::path::{Path, PathBuf};

use roost_rpc::{InitializeResult, SubscribeParams, Typed, method};
use tokio::sync::watch;

use crate::connection::Connection;
use crate::error::Error;
use crate::line::{self, Notification};
use crate::subscription::Subscription;

/// A connection to the daemon on which `initialize` was called.
pub struct Client {
    path: PathBuf,
    connection: Connection,
    greeting: InitializeResult,
}

impl Client {
    /// Connects to the daemon that listens on this socket and calls `initialize`.
    pub async fn connect(path: &Path) -> Result<Self, Error> {
        let connection = Connection::open(path).await?;
        let greeting = connection.call::<method::Initialize>(line::hello()).await?;
        Ok(Self { path: path.into(), connection, greeting })
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
        Subscription::open(&self.path, params).await
    }

    /// Returns when the connection has ended.
    pub async fn gone(&self) {
        self.connection.gone().await;
    }
}
