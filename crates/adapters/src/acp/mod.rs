//! Any agent that speaks the Agent Client Protocol (version 1), by its command.
//!
//! The agent is a child process. The message types are those of the official schema; the line codec is our own, because
//! it must survive noise and push back on floods. An agent's capabilities come from its answer to `initialize`.
//!
//! Decisions:
//! * A tool call is reported when the agent asks about it, or it is in progress or done: agents announce a call before
//!   its input is known.
//! * "In progress" does not mean "running": some agents say so and then ask. A call runs once it was allowed, shows
//!   output or is done.
//! * What an agent does that the protocol does not tell is in its preset, as observed; see [`AgentProfile`].
//! * An agent that leaves a tool running when its turn is cancelled is stopped; the session goes on in a new process.
//! * A model is chosen the way the agent offers it: by a config option, or by the older request. If it offers neither,
//!   naming a model is an error. So are settings, because the protocol has no place for them.
//! * Files and terminals are offered to an agent only if an editor offers them when the agent starts, and every request
//!   is a tool call that asks ([`client_requests`]). An agent without an editor uses the disk itself, as in a terminal.
//! * A denial picks one of the reject options that the agent offers; `cancelled` is only for a cancelled turn.

mod capabilities;
mod client_requests;
mod connection;
mod cost;
mod facts;
mod failure;
mod launch;
mod map;
mod models;
mod notice_backlog;
mod presets;
mod prompt;
mod questions;
mod reader;
mod session;
mod terminals;
mod tool_kind;
mod tools;
#[cfg(test)]
mod tools_tests;
#[cfg(test)]
mod trace_tests;
mod turn;
mod wire;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use roost_engine::adapter::{AdapterError, Availability, OpenSession, RuntimeAdapter, RuntimeSession};
use roost_engine::facts::RuntimeFacts;
use roost_engine::session_client::SessionClient;
use roost_model::ids::RuntimeSessionId;
use roost_model::runtime::{AuthModel, AuthStatus, McpSupport, RuntimeCapabilities, RuntimeEnv, RuntimeName};
use roost_process::{Holder, RunId};

use crate::host::{AgentCommand, VersionProbe, without_grace};

use client_requests::AgentClient;
pub use facts::FACTS;
pub(crate) use facts::TOOLS;
pub(crate) use launch::launch;
pub use presets::{AgentProfile, CallWords, NamedCall, PRESETS, Preset, StderrLine, preset};
use session::SharedHandshake;
pub(crate) use session::{AcpAgent, AcpSession};

/// The adapter of one ACP agent.
pub struct AcpAdapter {
    name: RuntimeName,
    display_name: String,
    facts: &'static RuntimeFacts,
    command: AgentCommand,
    holder: Arc<Holder>,
    handshake: SharedHandshake,
    profile: AgentProfile,
    preset: Option<&'static Preset>,
    /// The versions that the command printed, for agents that do not announce one.
    versions: VersionProbe,
    /// Whether tool servers are passed on.
    mcp: bool,
    /// False if the agent is known to take no images; otherwise its handshake decides.
    images: bool,
    /// What does the agent's requests about files and terminals; `None` offers it neither.
    client: Option<Arc<dyn SessionClient>>,
}

impl AcpAdapter {
    /// An agent of this name, started by this command. Nothing else is known about it, so it is taken to do everything
    /// that the protocol allows.
    pub fn new(name: RuntimeName, display_name: impl Into<String>, command: AgentCommand, holder: Arc<Holder>) -> Self {
        let (display_name, handshake, profile) =
            (display_name.into(), SharedHandshake::default(), AgentProfile::CONFORMING);
        let versions = VersionProbe::default();
        let (facts, preset, mcp, images, client) = (&FACTS, None, true, true, None);
        Self { name, display_name, facts, command, holder, handshake, profile, preset, versions, mcp, images, client }
    }

    /// Applies what is known about a preset's agent; the command stays the one that was given.
    pub fn with_preset(self, preset: &'static Preset) -> Self {
        Self { profile: preset.profile, facts: preset.facts, preset: Some(preset), ..self }
    }

    /// Offers the agent the files and terminals of whatever client has its session open when it starts.
    pub fn with_client(self, client: Arc<dyn SessionClient>) -> Self {
        Self { client: Some(client), ..self }
    }

    /// Replaces the facts that hold for every ACP agent.
    pub(crate) fn with_facts(self, facts: &'static RuntimeFacts) -> Self {
        Self { facts, ..self }
    }

    /// For an agent that ignores tool servers, although the protocol requires them: none are passed on.
    pub fn without_mcp(self) -> Self {
        Self { mcp: false, ..self }
    }

    /// For an agent that is known to take no images. Without this, its handshake tells.
    pub fn without_images(self) -> Self {
        Self { images: false, ..self }
    }

    async fn start(&self, open: &mut OpenSession) -> Result<AcpAgent, AdapterError> {
        if open.input.runtime_config.as_ref().is_some_and(|config| !config.is_empty()) {
            return Err(AdapterError::Unsupported(
                "take settings, because its protocol has no place for them; use `args` and `env` of its \
                 [runtimes.<id>] in roost.toml, or --env",
            ));
        }
        if !self.mcp {
            open.mcp_servers.clear();
        }
        let holder = if self.profile.leaves_with_stdin { (*self.holder).clone() } else { without_grace(&self.holder) };
        let started = launch(&holder, RunId::fresh(), &self.command.for_session(open), open).await?;
        let client = self.client.as_ref().and_then(|client| AgentClient::new(client, &self.holder, open));
        let agent = AcpAgent::initialize(started, self.profile, client).await?;
        *self.handshake.lock() = Some(agent.handshake.clone());
        Ok(agent)
    }

    /// The version in the agent's handshake, else what `--version` prints if its preset says that it prints one.
    async fn agent_version(&self, program: &Path, env: &RuntimeEnv) -> Option<String> {
        let announced = {
            let handshake = self.handshake.lock();
            handshake.as_ref().and_then(|handshake| Some(handshake.agent_info.as_ref()?.version.clone()))
        };
        let preset = self.preset.filter(|preset| announced.is_none() && preset.prints_version);
        let Some(preset) = preset else { return announced };
        let mut command = self.command.clone();
        // The preset's arguments can be a subcommand, which has no `--version`.
        if command.args.iter().take(preset.args.len()).eq(preset.args) {
            command.args.drain(..preset.args.len());
        }
        self.versions.version(program, &self.holder, &command, self.command.environment(env)).await
    }

    fn cannot_resume(&self) -> bool {
        let handshake = self.handshake.lock();
        handshake.is_some() && !capabilities::capabilities(handshake.as_ref(), self.profile).supports_session_resume
    }
}

#[async_trait]
impl RuntimeAdapter for AcpAdapter {
    fn name(&self) -> RuntimeName {
        self.name.clone()
    }

    fn display_name(&self) -> &str {
        &self.display_name
    }

    fn facts(&self) -> &'static RuntimeFacts {
        self.facts
    }

    fn capabilities(&self) -> RuntimeCapabilities {
        let handshake = self.handshake.lock();
        let capabilities = capabilities::capabilities(handshake.as_ref(), self.profile);
        match self.mcp {
            true => capabilities,
            false => RuntimeCapabilities { mcp_support: McpSupport::None, mcp_transports: None, ..capabilities },
        }
    }

    fn asks_questions(&self) -> bool {
        self.profile.asks_questions
    }

    fn takes_images(&self) -> bool {
        let handshake = self.handshake.lock();
        self.images && handshake.as_ref().is_none_or(|handshake| handshake.agent_capabilities.prompt_capabilities.image)
    }

    async fn availability(&self, env: &RuntimeEnv) -> Availability {
        let path = self.command.environment(env).get("PATH").map(|path| path.to_string_lossy().into_owned());
        match roost_process::find_program(&self.command.program, path.as_deref()).await {
            Ok(program) => Availability::Installed { version: self.agent_version(&program, env).await },
            Err(error) => {
                let install = self.preset.map_or_else(
                    || "install it, or correct its `command` in roost.toml".to_owned(),
                    |preset| format!("to install it: {}", preset.install),
                );
                Availability::Missing { reason: format!("{error}; {install}") }
            }
        }
    }

    async fn auth_status(&self, _: &RuntimeEnv) -> AuthStatus {
        // ACP reports a missing login only when a session is created, so nothing is claimed here.
        AuthStatus { ok: true, logged_in: true, auth_model: AuthModel::Unknown, account_label: None, details: None }
    }

    async fn ensure_login(&self, _: &RuntimeEnv) -> Option<String> {
        if let Some(preset) = self.preset {
            return Some(format!("if it wants a login: {}", preset.login));
        }
        let handshake = self.handshake.lock();
        let methods =
            handshake.as_ref()?.auth_methods.iter().map(|method| method.name().to_owned()).collect::<Vec<_>>();
        (!methods.is_empty()).then(|| format!("log in with the agent's own command; it offers: {}", methods.join(", ")))
    }

    async fn create_session(&self, mut open: OpenSession) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        let session = self.start(&mut open).await?.new_session(&open).await?;
        Ok(Box::new(session.with_model(open.input.model).await?))
    }

    async fn resume_session(
        &self,
        mut open: OpenSession,
        native: RuntimeSessionId,
    ) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        if self.cannot_resume() {
            return Err(AdapterError::UnknownSession(native));
        }
        let session = self.start(&mut open).await?.resume(&open, &native).await?;
        Ok(Box::new(session.with_model(open.input.model).await?))
    }
}
