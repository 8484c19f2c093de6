//! The services of the gateway: what is declared, what runs, and what they offer together.
//!
//! Each service has a row beside the log, a supervisor task of its own, and a pool of connections. What clients see is a
//! [`Catalog`] that is made anew at each change, so reading it costs nothing and waits for nobody.

mod connect;
mod handle;
mod interface;
mod logins;
mod pool;
mod registry;
mod review;
mod service_log;
mod stored;
mod supervisor;
mod view;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use roost_log::{Log, RowKind};
use roost_model::ids::ServiceId;
use roost_model::service::Lifecycle;
use roost_model::service::manifest::ServiceOrigin;
use serde_json::{Map, Value, json};
use tokio::sync::{broadcast, watch};

pub use connect::Connect;
pub use interface::Interface;
pub use pool::Pool;
pub use review::{ReviewedTool, ToolApproval};
pub use service_log::{LogLines, ServiceLog};
pub use stored::StoredService;
pub use view::ServiceView;

use crate::breaker::{BreakerRules, CallOutcome};
use crate::catalog::Catalog;
use crate::client_profile::ClientProfile;
use crate::endpoint::{Backend, DEFAULT_PATIENCE, UnaskedMessage};
use crate::era::Era;
use crate::lifecycle::Refused;
use crate::manifest::{self, InvalidManifest};
use crate::principal::Principal;
use crate::upstream::{LoginRequest, Upstream};
use handle::ServiceHandle;
use registry::Shared;
use supervisor::Command;

/// How services are treated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceOptions {
    /// Whether a person has to approve tools that nobody has approved before; else they count as approved when they are
    /// first seen.
    pub approve_new_tools: bool,
    /// How long a call may take where the manifest says nothing else.
    pub patience: Duration,
    /// How often a running service is probed.
    pub probe_interval: Duration,
    /// When a service is taken out of use because its calls fail.
    pub breaker: BreakerRules,
    /// The folder where the logs of services are kept over restarts; in memory only if absent.
    pub logs: Option<PathBuf>,
}

impl Default for ServiceOptions {
    fn default() -> Self {
        Self {
            approve_new_tools: false,
            patience: DEFAULT_PATIENCE,
            probe_interval: Duration::from_secs(30),
            breaker: BreakerRules::default(),
            logs: None,
        }
    }
}

/// Why something could not be done with a service.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ServiceError {
    /// There is no such service.
    #[error("there is no service {0}; `roost services list` shows them")]
    Unknown(ServiceId),
    /// The manifest is wrong.
    #[error(transparent)]
    Invalid(Arc<InvalidManifest>),
    /// It is taken already, by what the text says.
    #[error("{0}")]
    Conflict(String),
    /// The manifest says that it does not run.
    #[error("the service {0} is disabled; apply its manifest with `enabled: true`")]
    Disabled(ServiceId),
    /// Its state does not allow it.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// It needs to run for that.
    #[error("the service {0} does not run; start it first")]
    NotRunning(ServiceId),
    /// Nobody knows its tools yet.
    #[error("what the service {0} offers was not listed yet; start it first")]
    NotListed(ServiceId),
    /// It has no such tool.
    #[error("the service has no tool \"{0}\"")]
    NoTool(String),
    /// What is to be approved is not what is offered now.
    #[error("the tools of the service {0} have changed since they were shown; look at them again")]
    Outdated(ServiceId),
    /// A browser would be sent to another machine with what logs its person in.
    #[error("{0} is no address on this machine; it must begin with http://127.0.0.1:")]
    RedirectElsewhere(String),
    /// The login was finished already, took too long, or is somebody else's.
    #[error("no such login waits, or it took too long; begin again with `roost services login`")]
    NoLogin,
    /// The service itself failed.
    #[error("{0}")]
    Upstream(String),
    /// It could not be stored.
    #[error("it could not be stored: {0}")]
    Log(String),
    /// The daemon or the service is ending.
    #[error("the service is being removed, or the daemon is ending")]
    Ending,
}

impl From<roost_log::Error> for ServiceError {
    fn from(error: roost_log::Error) -> Self {
        Self::Log(error.to_string())
    }
}

/// A login that waits for its person.
#[derive(Debug)]
pub struct BegunLogin {
    /// Names it when it is finished.
    pub login_id: String,
    /// The address that the person opens in a browser.
    pub url: String,
}

/// All services of a daemon, with their supervisors.
pub struct Services(Arc<Shared>);

impl Services {
    /// Reads the declared services and starts those that start with the daemon. Nothing counts as running until its
    /// handshake is done.
    pub async fn start(
        log: Arc<dyn Log>,
        connect: Arc<dyn Connect>,
        options: ServiceOptions,
        version: &str,
    ) -> roost_log::Result<Self> {
        let info = json!({ "name": "roost", "version": version });
        let client = ClientProfile { era: Era::Modern, capabilities: Map::new(), info: Some(info) };
        let rows = log.rows(RowKind::Service).await?;
        let shared = Shared::new(log, connect, options, client);
        for (id, body) in rows {
            match serde_json::from_str::<StoredService>(&body) {
                Ok(stored) => {
                    let autostart = stored.manifest.spec.enabled && stored.manifest.spec.autostart;
                    shared.supervise(id.into(), stored, autostart);
                }
                Err(error) => tracing::error!(service = id, %error, "A service's row cannot be read; it is left out."),
            }
        }
        shared.rebuild_catalog();
        Ok(Self(shared))
    }

    /// Ends every connection and every supervisor. What is declared stays.
    pub async fn shut_down(&self) {
        self.0.closing.cancel();
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }

    /// All services, ordered by namespace.
    pub fn list(&self) -> Vec<Arc<ServiceView>> {
        self.0.views()
    }

    /// Whether a service may run.
    pub fn any_enabled(&self) -> bool {
        self.0.handles.read().values().any(|handle| handle.view().stored.manifest.spec.enabled)
    }

    /// The newest state of one service.
    pub fn get(&self, id: &ServiceId) -> Result<Arc<ServiceView>, ServiceError> {
        Ok(self.handle(id)?.view())
    }

    /// Follows one service: holds its newest state and wakes at each change.
    pub fn follow(&self, id: &ServiceId) -> Result<watch::Receiver<Arc<ServiceView>>, ServiceError> {
        Ok(self.handle(id)?.follow())
    }

    /// The log of one service.
    pub fn log(&self, id: &ServiceId) -> Result<ServiceLog, ServiceError> {
        Ok(self.handle(id)?.log.clone())
    }

    /// Declares a service, which is then started by whoever wants it; or declares it anew, and returns when it is neither
    /// starting nor stopping because of that.
    pub async fn apply(&self, document: &Value) -> Result<Arc<ServiceView>, ServiceError> {
        let invalid = |error| ServiceError::Invalid(Arc::new(error));
        let manifest = manifest::parse(document).map_err(invalid)?;
        let of_origin = |reason| invalid(InvalidManifest { pointer: "/spec/origin".into(), reason });
        self.0.connect.check(&manifest).await.map_err(of_origin)?;
        let id = manifest.service_id();
        if let Some(handle) = self.0.declare(&id, &manifest).await? {
            handle.command(|reply| Command::Apply(Box::new(manifest), reply)).await?;
        }
        self.get(&id)
    }

    /// Starts a service, and returns when it runs or has failed.
    pub async fn start_service(&self, id: &ServiceId) -> Result<Arc<ServiceView>, ServiceError> {
        self.command(id, Command::Start).await
    }

    /// Stops a service, and returns when it has stopped.
    pub async fn stop_service(&self, id: &ServiceId) -> Result<Arc<ServiceView>, ServiceError> {
        self.command(id, Command::Stop).await
    }

    /// Stops a service if it runs and starts it.
    pub async fn restart_service(&self, id: &ServiceId) -> Result<Arc<ServiceView>, ServiceError> {
        self.command(id, Command::Restart).await
    }

    /// Lists again what a service offers.
    pub async fn introspect(&self, id: &ServiceId) -> Result<Arc<ServiceView>, ServiceError> {
        self.command(id, Command::Introspect).await
    }

    /// Lets a quarantined service be started again.
    pub async fn unquarantine(&self, id: &ServiceId) -> Result<Arc<ServiceView>, ServiceError> {
        self.command(id, Command::Unquarantine).await
    }

    /// Approves tools as they are now, or as they were looked at.
    pub async fn approve(&self, id: &ServiceId, approval: ToolApproval) -> Result<Arc<ServiceView>, ServiceError> {
        self.command(id, |reply| Command::Approve(approval, reply)).await
    }

    /// Begins a login of this principal at a remote service: its person opens the address.
    pub async fn begin_login(
        &self,
        id: &ServiceId,
        principal: &Principal,
        request: LoginRequest,
    ) -> Result<BegunLogin, ServiceError> {
        if !logins::is_loopback(&request.redirect_uri) {
            return Err(ServiceError::RedirectElsewhere(request.redirect_uri));
        }
        let view = self.get(id)?;
        let begun = self.0.connect.begin_login(id, &view.stored.manifest.spec.origin, principal, request).await;
        let login = begun.map_err(|error| ServiceError::Upstream(error.message))?;
        let url = login.url().to_owned();
        Ok(BegunLogin { login_id: self.0.logins.keep(id.clone(), principal.clone(), login), url })
    }

    /// Finishes a login with the address to which the browser was sent back.
    pub async fn finish_login(
        &self,
        id: &ServiceId,
        principal: &Principal,
        login_id: &str,
        redirected_to: &str,
    ) -> Result<Arc<ServiceView>, ServiceError> {
        let handle = self.handle(id)?;
        let login = self.0.logins.take(login_id, id, principal).ok_or(ServiceError::NoLogin)?;
        login.finish(redirected_to).await.map_err(|error| ServiceError::Upstream(error.message))?;
        handle.log.write(&format!("{principal} logged in"));
        Ok(handle.view())
    }

    /// Stops a service and forgets it, its approvals included.
    pub async fn remove(&self, id: &ServiceId) -> Result<(), ServiceError> {
        self.handle(id)?.command(Command::Remove).await
    }

    fn handle(&self, id: &ServiceId) -> Result<Arc<ServiceHandle>, ServiceError> {
        self.0.handles.read().get(id).cloned().ok_or_else(|| ServiceError::Unknown(id.clone()))
    }

    async fn command(
        &self,
        id: &ServiceId,
        command: impl FnOnce(supervisor::CommandReply) -> Command,
    ) -> Result<Arc<ServiceView>, ServiceError> {
        let handle = self.handle(id)?;
        handle.command(command).await?;
        Ok(handle.view())
    }
}

impl Drop for Services {
    fn drop(&mut self) {
        self.0.closing.cancel();
    }
}

#[async_trait]
impl Backend for Services {
    fn catalog(&self) -> Arc<Catalog> {
        self.0.catalog.borrow().clone()
    }

    fn changed(&self) -> watch::Receiver<u64> {
        self.0.generation.subscribe()
    }

    async fn upstream(
        &self,
        service: &ServiceId,
        principal: &Principal,
        client: &ClientProfile,
    ) -> Result<Arc<dyn Upstream>, String> {
        let handle = self.handle(service).map_err(|error| error.to_string())?;
        let view = handle.view();
        if view.life.lifecycle != Lifecycle::Running {
            let missing = view.missing().map(|missing| missing.reason);
            let reason = missing.unwrap_or_else(|| "it is disabled".into());
            return Err(format!("the service {service} cannot be used: {reason}"));
        }
        let connected = handle.pool.get(&view.stored.manifest, principal, client).await;
        connected.map_err(|error| error.message)
    }

    fn connected(
        &self,
        service: &ServiceId,
        principal: &Principal,
        client: &ClientProfile,
    ) -> Option<Arc<dyn Upstream>> {
        self.handle(service).ok()?.pool.connected(principal, client)
    }

    fn patience(&self, service: &ServiceId) -> Duration {
        let usual = self.0.options.patience;
        let Ok(handle) = self.handle(service) else { return usual };
        let view = handle.view();
        let given = |ms: Option<u64>| ms.map_or(usual, Duration::from_millis);
        match &view.stored.manifest.spec.origin {
            // A module's limit is for the time that it runs, without that before its turn comes.
            ServiceOrigin::LocalWasm { limits, .. } => given(limits.timeout_ms).max(usual),
            ServiceOrigin::RemoteMcp { limits, .. } | ServiceOrigin::StdioMcp { limits, .. } => {
                given(limits.timeout_ms)
            }
        }
    }

    fn note_outcome(&self, service: &ServiceId, outcome: CallOutcome) {
        if let Ok(handle) = self.handle(service) {
            handle.note_outcome(outcome);
        }
    }

    fn unasked(&self) -> broadcast::Receiver<Arc<UnaskedMessage>> {
        self.0.unasked.subscribe()
    }
}
