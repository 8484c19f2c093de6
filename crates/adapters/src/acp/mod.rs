//! Any agent that speaks the Agent Client Protocol (version 1), by its command.
//!
//! The agent is a child process; the messages are the official schema's, the line codec is our own, because it must
//! survive noise and push back on floods. What an agent can do is read from what it says when it introduces itself.
//!
//! Decisions:
//! * A tool call is reported when it is asked about, in progress or done: agents announce it before its input is known.
//! * "In progress" is not "running": some agents say so and then ask. A call runs when it was allowed, shows output or
//!   is done.
//! * A denial picks an offered reject option; `cancelled` is only for a turn that is being cancelled.

mod capabilities;
mod connection;
mod launch;
mod map;
mod prompt;
mod questions;
mod reader;
mod session;
mod tools;
#[cfg(test)]
mod trace_tests;
mod turn;
mod wire;

use std::sync::{Arc, PoisonError};

use async_trait::async_trait;
use roost_engine::adapter::{AdapterError, Availability, OpenSession, RuntimeAdapter, RuntimeSession};
use roost_process::Holder;
use roost_proto::ids::RuntimeSessionId;
use roost_proto::runtime::{AuthModel, AuthStatus, McpSupport, RuntimeCapabilities, RuntimeEnv, RuntimeName};

pub(crate) use connection::REASON_META;
pub use launch::AgentCommand;
use session::{About, Agent};

/// The adapter of one ACP agent.
pub struct AcpAdapter {
    name: RuntimeName,
    display_name: String,
    command: AgentCommand,
    holder: Arc<Holder>,
    about: About,
    mcp: bool,
    images: bool,
}

impl AcpAdapter {
    /// An agent of this name, started by this command.
    pub fn new(name: RuntimeName, display_name: impl Into<String>, command: AgentCommand, holder: Arc<Holder>) -> Self {
        Self {
            name,
            display_name: display_name.into(),
            command,
            holder,
            about: About::default(),
            mcp: true,
            images: true,
        }
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
        if !self.mcp {
            open.mcp_servers.clear();
        }
        let parts = launch::launch(&self.holder, &self.command.of_session(open), open).await?;
        let agent = Agent::initialize(parts).await?;
        *self.about.lock().unwrap_or_else(PoisonError::into_inner) = Some(agent.about.clone());
        Ok(agent)
    }

    fn cannot_resume(&self) -> bool {
        let about = self.about.lock().unwrap_or_else(PoisonError::into_inner);
        about.is_some() && !capabilities::capabilities(about.as_ref()).supports_session_resume
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

    fn capabilities(&self) -> RuntimeCapabilities {
        let about = self.about.lock().unwrap_or_else(PoisonError::into_inner);
        let capabilities = capabilities::capabilities(about.as_ref());
        match self.mcp {
            true => capabilities,
            false => RuntimeCapabilities { mcp_support: McpSupport::None, mcp_transports: None, ..capabilities },
        }
    }

    fn asks_questions(&self) -> bool {
        true
    }

    fn takes_images(&self) -> bool {
        let about = self.about.lock().unwrap_or_else(PoisonError::into_inner);
        self.images && about.as_ref().is_none_or(|about| about.agent_capabilities.prompt_capabilities.image)
    }

    async fn availability(&self, env: &RuntimeEnv) -> Availability {
        let found = roost_process::find_program(&self.command.program, env.env.get("PATH").map(String::as_str));
        match found.await {
            Ok(_) => {
                let about = self.about.lock().unwrap_or_else(PoisonError::into_inner);
                let info = about.as_ref().and_then(|about| about.agent_info.as_ref());
                Availability::Installed { version: info.map(|info| info.version.clone()) }
            }
            Err(error) => Availability::Missing { reason: error.to_string() },
        }
    }

    async fn auth_status(&self, _: &RuntimeEnv) -> AuthStatus {
        // ACP tells about a missing login only when a session is made, so nothing is claimed here.
        AuthStatus { ok: true, logged_in: true, auth_model: AuthModel::Unknown, account_label: None, details: None }
    }

    async fn ensure_login(&self, _: &RuntimeEnv) -> Option<String> {
        let about = self.about.lock().unwrap_or_else(PoisonError::into_inner);
        let methods = about.as_ref()?.auth_methods.iter().map(|method| method.name().to_owned()).collect::<Vec<_>>();
        (!methods.is_empty()).then(|| format!("log in with the agent's own command; it offers: {}", methods.join(", ")))
    }

    async fn create_session(&self, mut open: OpenSession) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        Ok(Box::new(self.start(&mut open).await?.new_session(&open).await?))
    }

    async fn resume_session(
        &self,
        mut open: OpenSession,
        native: RuntimeSessionId,
    ) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        if self.cannot_resume() {
            return Err(AdapterError::UnknownSession(native));
        }
        Ok(Box::new(self.start(&mut open).await?.resume(&open, &native).await?))
    }
}
