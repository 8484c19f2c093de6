//! Whether a connected server still answers.

use std::time::Duration;

use serde_json::Map;

use super::connector::ConnectError;
use super::handshake::DISCOVER;
use super::subscriptions::LISTEN;
use super::{Upstream, UpstreamError, UpstreamRequest};
use crate::client_profile::ClientProfile;
use crate::era::Era;

/// The method by which a legacy server shows that it is there.
const PING: &str = "ping";

/// Asks a server for a sign of life. An answer that is an error is one, too.
pub async fn probe(upstream: &dyn Upstream, patience: Duration) -> Result<(), ConnectError> {
    let era = upstream.profile().era.clone();
    let method = match era {
        Era::Modern => DISCOVER,
        Era::Legacy(_) => PING,
    };
    let client = ClientProfile { era, capabilities: Map::new(), info: None };
    let request = UpstreamRequest { method, params: None, client: &client, patience, interjections: None };
    match upstream.call(request).await {
        Ok(_) | Err(UpstreamError::Busy(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Whether a request waits for no other call, and none for it: one for a sign of life, or one that stays open.
pub(super) fn bypasses_queue(method: &str) -> bool {
    matches!(method, PING | DISCOVER | LISTEN)
}
