//! Any agent that speaks the Agent Client Protocol (version 1), by its command.
//!
//! The agent is a child process; the messages are the official schema's, the line codec is our own, because it must
//! survive noise and push back on floods. What an agent can do is read from what it says when it introduces itself.
//!
//! Decisions:
//! * A tool call is reported when it is asked about, in progress or done: agents announce it before its input is known.
//! * "In progress" is not "running": some agents say so and then ask. A call runs when it was allowed, shows output or
//!   is done.
//! * What an agent does and does not tell is said by its preset, as it was observed; see [`Observed`].
//! * An agent that leaves a tool running when its turn is cancelled is ended; the session goes on in a new process.
//! * A model is chosen as the agent offers it, by an option or by the older request; where it offers none, naming one is
//!   an error. Settings have no place in the protocol, so they are one too.
//! * A denial picks an offered reject option; `cancelled` is only for a turn that is being cancelled.

mod between;
mod capabilities;
mod connection;
mod cost;
mod facts;
mod failure;
mod launch;
mod map;
mod models;
mod presets;
mod prompt;
mod questions;
mod reader;
mod session;
mod tools;
#[cfg(test)]
mod trace_tests;
mod turn;
mod wire;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use roost_engine::adapter::{AdapterError, Availability, OpenSession, RuntimeAdapter, RuntimeSession};
use roost_engine::facts::RuntimeFacts;
use roost_model::ids::RuntimeSessionId;
use roost_model::runtime::{AuthModel, AuthStatus, McpSupport, RuntimeCapabilities, RuntimeEnv, RuntimeName};
use roost_process::{Holder, RunId};

pub use crate::host::AgentCommand;
use crate::host::{VersionProbe, without_grace};

pub use facts::FACTS;
pub(crate) use facts::TOOLS;
pub(crate) use launch::launch;
pub use presets::{Observed, PRESETS, Preset, preset};
use session::About;
pub(crate) use session::{AcpSession, Agent};

/// The adapter of one ACP agent.
pub struct AcpAdapter {
    name: RuntimeName,
    display_name: String,
    facts: &'static RuntimeFacts,
    command: AgentCommand,
    holder: Arc<Holder>,
    about: About,
    observed: Observed,
    preset: Option<&'static Preset>,
    /// What it printed when it was asked; one that did not answer is asked again.
    versions: VersionProbe,
    mcp: bool,
    images: bool,
}

impl AcpAdapter {
    /// An agent of this name, started by this command.
    pub fn new(name: RuntimeName, display_name: impl Into<String>, command: AgentCommand, holder: Arc<Holder>) -> Self {
        let (display_name, about, observed) = (display_name.into(), About::default(), Observed::ALL);
        let versions = VersionProbe::default();
        let (facts, preset, mcp, images) = (&FACTS, None, true, true);
        Self { name, display_name, facts, command, holder, about, observed, preset, versions, mcp, images }
    }

    /// An agent that does what this preset says, whatever command starts it.
    pub fn of(self, preset: &'static Preset) -> Self {
        Self { observed: preset.observed, preset: Some(preset), ..self }
    }

    /// An agent of which more is known than of any.
    pub(crate) fn with_facts(self, facts: &'static RuntimeFacts) -> Self {
        Self { facts, ..self }
    }

    /// The agent does not use tool servers, although the protocol wants it to.
    pub fn without_mcp(self) -> Self {
        Self { mcp: false, ..self }
    }

    /// The agent takes no images; of others that is known when they have introduced themselves.
    pub fn without_images(self) -> Self {
        Self { images: false, ..self }
    }

    async fn start(&self, open: &mut OpenSession) -> Result<Agent, AdapterError> {
        if open.input.runtime_config.as_ref().is_some_and(|config| !config.is_empty()) {
            return Err(AdapterError::Unsupported(
                "take settings, because its protocol has no place for them; use `args` and `env` of its \
                 [runtimes.<id>] in roost.toml, or --env",
            ));
        }
        if !self.mcp {
            open.mcp_servers.clear();
        }
        let holder = if self.observed.leaves_with_stdin { (*self.holder).clone() } else { without_grace(&self.holder) };
        let started = launch(&holder, RunId::fresh(), &self.command.of_session(open), open).await?;
        let agent = Agent::initialize(started, self.observed).await?;
        *self.about.lock() = Some(agent.about.clone());
        Ok(agent)
    }

    /// The version that the agent told when it introduced itself, else the one that it prints.
    async fn told_version(&self, program: &Path, env: &RuntimeEnv) -> Option<String> {
        let told = {
            let about = self.about.lock();
            about.as_ref().and_then(|about| Some(about.agent_info.as_ref()?.version.clone()))
        };
        let preset = self.preset.filter(|preset| told.is_none() && preset.prints_version);
        let Some(preset) = preset else { return told };
        let mut command = self.command.clone();
        // What makes it speak ACP can be a command of its own, which knows no `--version`.
        if command.args.iter().take(preset.args.len()).eq(preset.args) {
            command.args.drain(..preset.args.len());
        }
        self.versions.version(program, &self.holder, &command, self.command.environment(env)).await
    }

    fn cannot_resume(&self) -> bool {
        let about = self.about.lock();
        about.is_some() && !capabilities::capabilities(about.as_ref(), self.observed).supports_session_resume
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
        let about = self.about.lock();
        let capabilities = capabilities::capabilities(about.as_ref(), self.observed);
        match self.mcp {
            true => capabilities,
            false => RuntimeCapabilities { mcp_support: McpSupport::None, mcp_transports: None, ..capabilities },
        }
    }

    fn asks_questions(&self) -> bool {
        self.observed.asks_questions
    }

    fn takes_images(&self) -> bool {
        let about = self.about.lock();
        self.images && about.as_ref().is_none_or(|about| about.agent_capabilities.prompt_capabilities.image)
    }

    async fn availability(&self, env: &RuntimeEnv) -> Availability {
        let path = self.command.environment(env).get("PATH").map(|path| path.to_string_lossy().into_owned());
        match roost_process::find_program(&self.command.program, path.as_deref()).await {
            Ok(program) => Availability::Installed { version: self.told_version(&program, env).await },
            Err(error) => {
                let install = self.preset.map(|preset| format!("; to install it: {}", preset.install));
                Availability::Missing { reason: format!("{error}{}", install.unwrap_or_default()) }
            }
        }
    }

    async fn auth_status(&self, _: &RuntimeEnv) -> AuthStatus {
        // ACP tells about a missing login only when a session is made, so nothing is claimed here.
        AuthStatus { ok: true, logged_in: true, auth_model: AuthModel::Unknown, account_label: None, details: None }
    }

    async fn ensure_login(&self, _: &RuntimeEnv) -> Option<String> {
        if let Some(preset) = self.preset {
            return Some(format!("if it wants a login: {}", preset.login));
        }
        let about = self.about.lock();
        let methods = about.as_ref()?.auth_methods.iter().map(|method| method.name().to_owned()).collect::<Vec<_>>();
        (!methods.is_empty()).then(|| format!("log in with the agent's own command; it offers: {}", methods.join(", ")))
    }

    async fn create_session(&self, mut open: OpenSession) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        let session = self.start(&mut open).await?.new_session(&open).await?;
        Ok(Box::new(session.choosing(open.input.model).await?))
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
        Ok(Box::new(session.choosing(open.input.model).await?))
    }
}
