//! The MCP gateway of a daemon: its services and the server that clients use. Commands that only read have none, so they
//! start no service.

use std::path::PathBuf;
use std::sync::Arc;

use roost_cli::StateDir;
use roost_gateway::clarity::{Compiler, InstallCommand};
use roost_gateway::endpoint::{Endpoint, EndpointSettings};
use roost_gateway::module_door::ModuleDoor;
use roost_gateway::own_tools::WithOwnTools;
use roost_gateway::runs::{AgentCalls, RunMessages, Runs, Timers};
use roost_gateway::secrets::Secrets;
use roost_gateway::services::Services;
use roost_gateway::upstream::{GatewayAccess, ModuleGateway};
use roost_server::ControlParts;

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
    /// Where the gateway's own tools are offered.
    own_tools: Arc<WithOwnTools>,
    /// What modules reach of the gateway, for as long as it stands.
    _modules: Arc<dyn ModuleGateway>,
}

impl Gateway {
    /// Starts the services that start with the daemon, and does not wait for them.
    pub(crate) async fn start(state: &StateDir, config: &Config, roost: &Roost) -> Result<Self, Error> {
        let access = GatewayAccess::default();
        let services = Arc::new(compose::services(roost.log.clone(), state, config, access.clone()).await?);
        let settings = EndpointSettings::new(env!("CARGO_PKG_VERSION"));
        let no_random = |error| Error::Gateway(format!("the system gives no random numbers: {error}"));
        let own_tools = Arc::new(WithOwnTools::new(services.clone()));
        let endpoint = Endpoint::new(own_tools.clone(), roost.governor.clone(), settings.clone()).map_err(no_random)?;
        let own_calls = Endpoint::new(services.clone(), roost.agent_governor.clone(), settings).map_err(no_random)?;
        let runs = Arc::new(Runs::new(roost.log.clone(), Some(services.clone())));
        let calls = AgentCalls::new(own_calls.clone());
        let run_messages = Arc::new(RunMessages::new(services.clone(), runs.clone(), calls.clone()));
        let timers = Timers::start(services.clone(), runs.clone(), calls);
        let modules: Arc<dyn ModuleGateway> =
            Arc::new(ModuleDoor::new(endpoint.clone(), roost.governor.clone(), runs.clone()));
        access.open(&modules);
        let offered = services.clone();
        roost.attachment.offer(move || offered.any_enabled());
        roost.attachment.serve(&endpoint);
        let secrets = Secrets::new(compose::secrets_folder(state, config), |name| std::env::var(name).ok());
        let secrets = Arc::new(secrets);
        Ok(Self { services, endpoint, secrets, runs, run_messages, timers, own_calls, own_tools, _modules: modules })
    }

    /// What the gateway's own tools need. Projects are made below the folder that the daemon serves.
    pub(crate) fn control(
        &self,
        state: &StateDir,
        config: &Config,
        repo: Option<PathBuf>,
    ) -> Result<ControlParts, Error> {
        let is_set = |text: String| matches!(text.trim(), "1" | "true" | "yes");
        let compiler = Compiler {
            program: std::env::var_os("CLARITYC_BIN")
                .filter(|name| !name.is_empty())
                .unwrap_or_else(|| "clarityc".into()),
            holder: Arc::new(compose::own_holder(state, config)?),
            environment: compose::environment(),
        };
        Ok(ControlParts {
            offered: Some(self.own_tools.clone()),
            compiler,
            installer: InstallCommand::from_variables(|name| std::env::var(name).ok()),
            root: repo.or_else(|| std::env::current_dir().ok()).unwrap_or_else(|| "/".into()),
            provisioning: std::env::var("CLARITY_ENABLE_MCP_PROVISIONING").is_ok_and(is_set),
        })
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
