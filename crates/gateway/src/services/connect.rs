//! How services are connected to, as the supervisor and the pool use it.

use std::time::Duration;

use async_trait::async_trait;

use crate::upstream::{ConnectError, ConnectTarget, Connected, Connector, Upstream, probe};

/// How long a probe may take.
const PROBE_PATIENCE: Duration = Duration::from_secs(10);

/// Makes connections to services.
#[async_trait]
pub trait Connect: Send + Sync + 'static {
    /// Connects and does the handshake. Dropping the future ends what was begun.
    async fn connect(&self, target: &ConnectTarget<'_>) -> Result<Connected, ConnectError>;

    /// Asks a connected server whether it still answers.
    async fn probe(&self, upstream: &dyn Upstream) -> Result<(), ConnectError> {
        probe(upstream, PROBE_PATIENCE).await
    }
}

#[async_trait]
impl Connect for Connector {
    async fn connect(&self, target: &ConnectTarget<'_>) -> Result<Connected, ConnectError> {
        self.connect(target).await
    }
}
