//! What the endpoint needs of the services behind it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use roost_model::ids::ServiceId;
use serde_json::value::RawValue;
use tokio::sync::{broadcast, watch};

use crate::breaker::CallOutcome;
use crate::catalog::Catalog;
use crate::client_profile::ClientProfile;
use crate::principal::Principal;
use crate::upstream::Upstream;

/// How long a call may take where the service's manifest says nothing else.
pub const DEFAULT_PATIENCE: Duration = Duration::from_secs(20);

/// The services behind the endpoint: what they offer, and how they are reached.
#[async_trait]
pub trait Backend: Send + Sync + 'static {
    /// What all services offer now.
    fn catalog(&self) -> Arc<Catalog>;

    /// Holds the generation of the newest catalog, and wakes at each new one.
    fn changed(&self) -> watch::Receiver<u64>;

    /// The connection to a service for this principal and these capabilities; the error says for people why there is none.
    async fn upstream(
        &self,
        service: &ServiceId,
        principal: &Principal,
        client: &ClientProfile,
    ) -> Result<Arc<dyn Upstream>, String>;

    /// The same connection if it is open already.
    fn connected(
        &self,
        service: &ServiceId,
        principal: &Principal,
        client: &ClientProfile,
    ) -> Option<Arc<dyn Upstream>>;

    /// How long a call of this service may take (`timeoutMs` of its manifest).
    fn patience(&self, service: &ServiceId) -> Duration {
        let _ = service;
        DEFAULT_PATIENCE
    }

    /// Takes note of how a call of a service ended.
    fn note_outcome(&self, service: &ServiceId, outcome: CallOutcome);

    /// What services say outside of any call, from now on. Changes of lists are not among it: [`Backend::changed`] tells
    /// them once the catalog has them.
    fn unasked(&self) -> broadcast::Receiver<Arc<UnaskedMessage>>;
}

/// What a service said outside of any call: `notifications/resources/updated`, `notifications/message` and the like.
#[derive(Debug)]
pub struct UnaskedMessage {
    /// The service that said it.
    pub service: ServiceId,
    /// On whose behalf its connection was made: nobody else may hear it.
    pub principal: Principal,
    /// The method of the notification.
    pub method: String,
    /// Its parameters as they came, if it has some.
    pub params: Option<Box<RawValue>>,
}
