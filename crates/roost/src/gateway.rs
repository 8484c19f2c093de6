//! The MCP gateway of a daemon: its services and the server that clients use. Commands that only read have none, so they
//! start no service.

use std::sync::Arc;

use roost_cli::StateDir;
use roost_gateway::endpoint::{Endpoint, EndpointSettings};
use roost_gateway::governance::EngineGovernor;
use roost_gateway::runs::{AgentCalls, RunMessages, Runs, Timers};
use roost_gateway::secrets::Secrets;
use roost_gateway::services::Services;

use crate::compose::{self, Roost};
use crate::config::Config;
use crate::error::Error;

/// The services, and the MCP server over them.
pub(crate) struct Gateway {
    pub(crate) services: Arc<Services>,
    pub(crate) endpoint: Arc<Endpoint>,
    pub(crate) secrets: Arc<Secrets>,
    pub(crate) runs: Arc<Runs>,
    pub(crate) run_messages: Arc<RunMessages>,
    timers: Timers,
    /// Where agent services call their own tools.
    own_calls: Arc<Endpoint>,
}

impl Gateway {
    /// Starts the services that start with the daemon, and does not wait for them.
    pub(crate) async fn start(state: &StateDir, config: &Config, roost: &Roost) -> Result<Self, Error> {
        let services = Arc::new(compose::services(roost.log.clone(), state, config).await?);
        let settings = EndpointSettings::new(env!("CARGO_PKG_VERSION"));
        let open = |governor: Arc<EngineGovernor>| {
            Endpoint::new(services.clone(), governor, settings.clone())
                .map_err(|error| Error::Gateway(format!("the system gives no random numbers: {error}")))
        };
        let (endpoint, own_calls) = (open(roost.governor.clone())?, open(roost.agent_governor.clone())?);
        let runs = Arc::new(Runs::new(roost.log.clone(), Some(services.clone())));
        let calls = AgentCalls::new(own_calls.clone());
        let run_messages = Arc::new(RunMessages::new(services.clone(), runs.clone(), calls.clone()));
        let timers = Timers::start(services.clone(), runs.clone(), calls);
        let offered = services.clone();
        roost.attachment.offer(move || offered.any_enabled());
        let secrets = Secrets::new(compose::secrets_folder(state, config), |name| std::env::var(name).ok());
        let secrets = Arc::new(secrets);
        Ok(Self { services, endpoint, secrets, runs, run_messages, timers, own_calls })
    }

    /// Ends the timers, while what they did can still be recorded.
    pub(crate) async fn end_timers(&self) {
        self.timers.close().await;
    }

    /// Ends the timers and every client's session, then every service.
    pub(crate) async fn close(self) {
        self.end_timers().await;
        self.own_calls.close().await;
        self.endpoint.close().await;
        self.runs.close().await;
        self.services.shut_down().await;
    }
}
