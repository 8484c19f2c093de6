//! OpenCode, through `opencode serve` on loopback: HTTP requests to it, and a stream of events from it.
//!
//! Decisions:
//! * One server per session, with a password of its own: the session ends with the process. Or, if a `url` is
//!   configured, a server that somebody else runs: then Roost starts and stops nothing, gives it no settings and no MCP
//!   servers, and ignores sessions that are not its own.
//! * OpenCode requests a permission for everything, by its settings and by the rules of the session, which come last;
//!   the mode only chooses what our policy answers. Only the tool that asks the user a question runs without one.
//! * A tool call is reported when OpenCode requests a permission for it, or when it has output or is done: its status
//!   is `running` even before the request.
//! * A refusal always has a message, and a question that nobody answers gets an empty answer: otherwise OpenCode would
//!   end the turn.
//! * A turn is over when OpenCode is idle *after* the answer to our prompt is complete: a stop and an error bring two
//!   idle events, the first of them too early.
//! * A session gets a title from us: otherwise OpenCode asks the model for one during the first turn.
//! * The event stream has no memory: one that breaks is opened again, and what was missed is fetched.
//! * Two servers would work on one conversation without knowing of each other, so a session is opened only once. Roost
//!   cannot see whether somebody has it open in a terminal.
//! * Servers start one after the other: two that start in a new home would both create the database there, and fail.
//! * A slash command is filled in by Roost and sent as text: OpenCode's own request for it runs shell commands unasked.
//! * The host's own tools reach OpenCode only as an MCP server.
//! * The agent's own tools can read the server's password, because OpenCode passes its environment on. If the agent
//!   must not be trusted that far, run it in a sandbox.

mod capabilities;
mod catch_up;
mod commands;
mod connection;
mod external;
mod facts;
mod failure;
mod history;
mod home;
mod http;
mod launch;
mod map;
mod plain;
mod prompt;
mod questions;
mod reader;
mod session;
mod session_tree;
mod tools;
#[cfg(test)]
mod trace_tests;
mod turn;
mod version;
mod wire;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use roost_engine::adapter::{AdapterError, Availability, LoginCommand, OpenSession, RuntimeAdapter, RuntimeSession};
use roost_engine::facts::RuntimeFacts;
use roost_engine::{NativeMessage, NativeSession};
use roost_model::ids::RuntimeSessionId;
use roost_model::runtime::{AuthStatus, RuntimeCapabilities, RuntimeEnv, RuntimeName, SlashCommand};
use roost_process::Holder;
use serde_json::{Map, Value};
use tokio::sync::Mutex;

use crate::built_in::BuiltIn;
use crate::host::locks::Locks;
use crate::host::{AgentCommand, VersionProbe};
pub use external::ServerUrl;
use facts::FACTS;
use home::OpencodeFolders;
use session::OpencodeSession;

/// Runs OpenCode: by a server per session, or by a server that somebody else runs.
pub struct OpencodeAdapter {
    command: AgentCommand,
    config: Map<String, Value>,
    holder: Arc<Holder>,
    versions: VersionProbe,
    locks: Locks,
    /// Held while a server starts: two that create OpenCode's database at once both fail.
    starting: Mutex<()>,
    /// The server to use instead of starting one.
    external: Option<ServerUrl>,
}

pub(crate) static BUILT_IN: BuiltIn = BuiltIn {
    id: "opencode",
    facts: &FACTS,
    adapter: |setup| Arc::new(adapter(setup.command, setup.config, setup.holder).at(setup.url)),
};

/// An adapter that starts OpenCode by this command (what comes before `serve`) with these settings (OpenCode's config
/// document).
pub fn adapter(command: AgentCommand, config: Map<String, Value>, holder: Arc<Holder>) -> OpencodeAdapter {
    let (versions, locks) = Default::default();
    OpencodeAdapter { command, config, holder, versions, locks, starting: Mutex::default(), external: None }
}

impl OpencodeAdapter {
    /// The same adapter for a server that somebody else runs, if there is one. Of the command only the variables count
    /// then.
    pub fn at(self, external: Option<ServerUrl>) -> Self {
        Self { external, ..self }
    }

    /// Opens a session on a new or external server: a new one, or `known`.
    async fn start(
        &self,
        open: OpenSession,
        known: Option<&RuntimeSessionId>,
    ) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        let settings = launch::settings(&self.config, open.input.runtime_config.as_ref())?;
        if let Some(url) = &self.external {
            url.refuse_launch_options(&settings, &open)?;
        }
        if let Availability::Missing { reason } = self.availability(&open.env).await {
            return Err(AdapterError::Spawn(reason));
        }
        let command = self.command.for_session(&open);
        let server = match &self.external {
            Some(url) => (None, url.client(&command, &open.env)),
            None => {
                let _guard = self.starting.lock().await;
                let (server, client) = launch::launch(&self.holder, &command, &open, &settings).await?;
                (Some(server), client)
            }
        };
        let folders = self.external.is_none().then(|| OpencodeFolders::from_env(&command, &open.env));
        Ok(Box::new(OpencodeSession::open(server, open, folders, &settings, (known, &self.locks)).await?))
    }
}

#[async_trait]
impl RuntimeAdapter for OpencodeAdapter {
    fn name(&self) -> RuntimeName {
        RuntimeName::OpencodeServer
    }

    fn display_name(&self) -> &str {
        "OpenCode"
    }

    fn facts(&self) -> &'static RuntimeFacts {
        &FACTS
    }

    fn capabilities(&self) -> RuntimeCapabilities {
        match self.external {
            Some(_) => capabilities::for_external_server(),
            None => capabilities::capabilities(),
        }
    }

    fn asks_questions(&self) -> bool {
        true
    }

    fn takes_images(&self) -> bool {
        true
    }

    async fn availability(&self, env: &RuntimeEnv) -> Availability {
        match &self.external {
            Some(url) => url.availability(&url.client(&self.command, env)).await,
            None => {
                let env = launch::environment(&self.command, env);
                self.versions.availability(&self.holder, &self.command, env, version::MISSING, version::too_old).await
            }
        }
    }

    async fn auth_status(&self, env: &RuntimeEnv) -> AuthStatus {
        match &self.external {
            Some(url) => url.auth_status(),
            None => home::auth_status(&self.command, env, &self.config).await,
        }
    }

    async fn ensure_login(&self, env: &RuntimeEnv) -> Option<String> {
        if self.auth_status(env).await.is_ready() {
            return None;
        }
        let program = self.command.program.to_string_lossy();
        Some(format!("run `{program} auth login`, set a provider's API key, or configure a `provider` of your own"))
    }

    fn login(&self, env: &RuntimeEnv) -> Option<LoginCommand> {
        self.external.is_none().then(|| self.command.login(&["auth", "login"], env))
    }

    async fn create_session(&self, open: OpenSession) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        self.start(open, None).await
    }

    async fn resume_session(
        &self,
        open: OpenSession,
        native: RuntimeSessionId,
    ) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        self.start(open, Some(&native)).await
    }

    async fn past_sessions(&self, env: &RuntimeEnv) -> io::Result<Vec<NativeSession>> {
        if let Some(url) = &self.external {
            return history::sessions_from_server(&url.client(&self.command, env)).await;
        }
        let (database, cwd) = (OpencodeFolders::from_env(&self.command, env).database(), PathBuf::from(&env.cwd));
        tokio::task::spawn_blocking(move || history::sessions(&database, &cwd)).await?
    }

    async fn past_messages(&self, env: &RuntimeEnv, id: &RuntimeSessionId) -> io::Result<Option<Vec<NativeMessage>>> {
        if let Some(url) = &self.external {
            return history::messages_from_server(&url.client(&self.command, env), id).await;
        }
        let (database, cwd) = (OpencodeFolders::from_env(&self.command, env).database(), PathBuf::from(&env.cwd));
        let id = id.clone();
        tokio::task::spawn_blocking(move || history::messages(&database, &cwd, id.as_str())).await?
    }

    async fn slash_commands(&self, env: &RuntimeEnv) -> Vec<SlashCommand> {
        match self.external {
            // Which folders somebody else's server reads is not known.
            Some(_) => Vec::new(),
            None => commands::list(OpencodeFolders::from_env(&self.command, env), PathBuf::from(&env.cwd)).await,
        }
    }

    async fn past_stamp(&self, env: &RuntimeEnv, id: &RuntimeSessionId) -> Option<u64> {
        if self.external.is_some() {
            return None;
        }
        let (database, id) = (OpencodeFolders::from_env(&self.command, env).database(), id.clone());
        tokio::task::spawn_blocking(move || history::stamp(&database, id.as_str())).await.ok()?
    }
}
