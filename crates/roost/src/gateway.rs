//! The MCP gateway of a daemon: its services and the server that clients use. Commands that only read have none, so they
//! start no service.

use std::sync::Arc;

use roost_cli::StateDir;
use roost_gateway::endpoint::{Endpoint, EndpointSettings};
use roost_gateway::module_door::ModuleDoor;
use roost_gateway::secrets::Secrets;
use roost_gateway::services::Services;
use roost_gateway::upstream::{GatewayAccess, ModuleGateway};

use crate::compose::{self, Roost};
use crate::config::Config;
use crate::error::Error;

/// The services, and the MCP server over them.
pub(crate) struct Gateway {
    pub(crate) services: Arc<Services>,
    pub(crate) endpoint: Arc<Endpoint>,
    pub(crate) secrets: Arc<Secrets>,
    /// What modules reach of the gateway, for as long as it stands.
    _modules: Arc<dyn ModuleGateway>,
}

impl Gateway {
    /// Starts the services that start with the daemon, and does not wait for them.
    pub(crate) async fn start(state: &StateDir, config: &Config, roost: &Roost) -> Result<Self, Error> {
        let access = GatewayAccess::default();
        let services = Arc::new(compose::services(roost.log.clone(), state, config, access.clone()).await?);
        let settings = EndpointSettings::new(env!("CARGO_PKG_VERSION"));
        let endpoint = Endpoint::new(services.clone(), roost.governor.clone(), settings)
            .map_err(|error| Error::Gateway(format!("the system gives no random numbers: {error}")))?;
        let modules: Arc<dyn ModuleGateway> =
            Arc::new(ModuleDoor { endpoint: endpoint.clone(), governor: roost.governor.clone() });
        access.open(&modules);
        let offered = services.clone();
        roost.attachment.offer(move || offered.any_enabled());
        let secrets = Secrets::new(compose::secrets_folder(state, config), |name| std::env::var(name).ok());
        Ok(Self { services, endpoint, secrets: Arc::new(secrets), _modules: modules })
    }

    /// Ends every client's session, then every service.
    pub(crate) async fn close(self) {
        self.endpoint.close().await;
        self.services.shut_down().await;
    }
}
