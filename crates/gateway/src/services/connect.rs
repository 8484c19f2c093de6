//! How services are connected to, as the supervisor and the pool use it.

use std::time::Duration;

use async_trait::async_trait;
use roost_model::ids::ServiceId;
use roost_model::service::manifest::{Manifest, ServiceOrigin};

use crate::principal::Principal;
use crate::upstream::{ConnectError, ConnectTarget, Connected, Connector, LoginRequest, PendingLogin, Upstream, probe};

/// How long a probe may take.
const PROBE_PATIENCE: Duration = Duration::from_secs(10);

/// Makes connections to services.
#[async_trait]
pub trait Connect: Send + Sync + 'static {
    /// Says why what a manifest declares could never run here, before the manifest is kept.
    async fn check(&self, _manifest: &Manifest) -> Result<(), String> {
        Ok(())
    }

    /// Connects and does the handshake. Dropping the future ends what was begun.
    async fn connect(&self, target: &ConnectTarget<'_>) -> Result<Connected, ConnectError>;

    /// Asks a connected server whether it still answers.
    async fn probe(&self, upstream: &dyn Upstream) -> Result<(), ConnectError> {
        probe(upstream, PROBE_PATIENCE).await
    }

    /// Begins a login at a remote service on behalf of a principal.
    async fn begin_login(
        &self,
        service: &ServiceId,
        origin: &ServiceOrigin,
        principal: &Principal,
        request: LoginRequest,
    ) -> Result<PendingLogin, ConnectError>;

    /// Whether the local user is logged in at the service, so that what it lists may be theirs alone.
    async fn has_login(&self, _service: &ServiceId, _origin: &ServiceOrigin) -> bool {
        false
    }

    /// Forgets what is known of a service that was removed, its logins included.
    async fn forget(&self, service: &ServiceId) -> Result<(), String>;
}

#[async_trait]
impl Connect for Connector {
    async fn check(&self, manifest: &Manifest) -> Result<(), String> {
        self.check(manifest).await
    }

    async fn connect(&self, target: &ConnectTarget<'_>) -> Result<Connected, ConnectError> {
        self.connect(target).await
    }

    async fn begin_login(
        &self,
        service: &ServiceId,
        origin: &ServiceOrigin,
        principal: &Principal,
        request: LoginRequest,
    ) -> Result<PendingLogin, ConnectError> {
        self.begin_login(service, origin, principal, request).await
    }

    async fn has_login(&self, service: &ServiceId, origin: &ServiceOrigin) -> bool {
        self.has_login(service, origin).await
    }

    async fn forget(&self, service: &ServiceId) -> Result<(), String> {
        self.forget(service).await
    }
}
