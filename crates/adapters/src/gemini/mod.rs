//! The Gemini CLI, through `gemini --acp`.
//!
//! It speaks the Agent Client Protocol, which [`crate::acp`] implements. Here is only what is special to Gemini.
//!
//! Decisions:
//! * Gemini's own mode is `default` whatever its settings say, so that it asks; Roost's mode decides about the answer.
//!   Only `plan` changes it, because then Gemini instructs the agent to plan. Calls that only read (`ls`, reading a
//!   file) run unasked all the same, and are recorded as such.
//! * A call is announced by its permission request, and Gemini does not mention a denied call again: the denial is its
//!   end. The protocol has no place for the reason of a denial. The tool and its input are read from the words of the
//!   request, see [`calls`].
//! * A cancel has no effect while a permission request is pending, so that request is answered as cancelled after it.
//! * Gemini wipes a session that is loaded in the minute of its creation, and the empty record that every load leaves
//!   behind makes the next start wipe it: see [`chats`]. Only sessions on disk are loaded, because Gemini reads an
//!   unknown id as an index into its list.
//! * After a load Gemini replays the conversation. It answers the `set_mode` that follows after the replay, which is
//!   how the end of the replay is known.
//! * What ACP has no place for (exit codes, to-do lists) is taken from Gemini's own record, see [`record_details`].
//! * Commands run without a terminal, because only then Gemini reports what they print. The contents that `read_file`
//!   reads go to the model only.
//! * Files of an editor are not offered to it. Gemini 0.61.0 looks at a file before it writes it, and takes every error
//!   of its client for a failure, also that there is no such file: it could create none. Terminals it never asks for.
//! * `config` is Gemini's `settings.json`; it is laid over the user's own in a home for one run, see [`home`].

mod auth;
mod calls;
mod capabilities;
mod chats;
mod commands;
mod facts;
mod history;
mod home;
mod hooks;
mod launch;
mod plain;
mod project_files;
mod record_details;
mod retries;
mod session;
mod settings;
mod sources;
mod version;

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

use crate::acp::{AcpAgent, AgentProfile};
use crate::built_in::BuiltIn;
use crate::head_cache::HeadCache;
use crate::host::locks::Locks;
use crate::host::{AgentCommand, VersionProbe, environment};
use facts::FACTS;
use session::GeminiSession;

/// How Gemini behaves beyond what its handshake tells.
pub(crate) const PROFILE: AgentProfile = AgentProfile {
    asks_questions: false,
    asks_in_parallel: false,
    reads_links_as_paths: true,
    read_call: Some(calls::read_call),
    streams_output: false,
    announces_runs: true,
    failure_texts: calls::FAILURE_TEXTS,
    read_stderr: retries::read_stderr,
    ..AgentProfile::CONFORMING
};

/// The adapter of the Gemini CLI.
pub struct GeminiAdapter {
    command: AgentCommand,
    config: Map<String, Value>,
    holder: Arc<Holder>,
    versions: VersionProbe,
    locks: Locks,
    /// Caches the first lines of the conversations on disk, for the list of past sessions.
    heads: Arc<HeadCache<Option<history::ConversationHead>>>,
}

pub(crate) static BUILT_IN: BuiltIn = BuiltIn {
    id: "gemini",
    facts: &FACTS,
    adapter: |setup| Arc::new(adapter(setup.command, setup.config, setup.holder)),
};

/// The adapter of the Gemini CLI. `command` comes before `--acp`; `config` is laid over the user's `settings.json`.
pub fn adapter(command: AgentCommand, config: Map<String, Value>, holder: Arc<Holder>) -> GeminiAdapter {
    let (versions, locks, heads) = Default::default();
    GeminiAdapter { command, config, holder, versions, locks, heads }
}

impl GeminiAdapter {
    async fn start(&self, open: &OpenSession, settings: &Map<String, Value>) -> Result<AcpAgent, AdapterError> {
        let started = launch::launch(&self.holder, &self.command.for_session(open), open, settings).await?;
        let agent = AcpAgent::initialize(started, PROFILE, None).await?;
        match agent.version().and_then(version::too_old) {
            Some(reason) => Err(AdapterError::Spawn(reason)),
            None => Ok(agent),
        }
    }

    fn home(&self, env: &RuntimeEnv) -> PathBuf {
        auth::home(&launch::variables(&self.command, env))
    }

    fn settings(&self, open: &OpenSession) -> Result<Map<String, Value>, AdapterError> {
        settings::settings(&self.config, open.input.runtime_config.as_ref())
    }
}

#[async_trait]
impl RuntimeAdapter for GeminiAdapter {
    fn name(&self) -> RuntimeName {
        RuntimeName::GeminiCliCore
    }

    fn display_name(&self) -> &str {
        "Gemini CLI"
    }

    fn facts(&self) -> &'static RuntimeFacts {
        &FACTS
    }

    fn capabilities(&self) -> RuntimeCapabilities {
        capabilities::capabilities()
    }

    fn asks_questions(&self) -> bool {
        false
    }

    fn takes_images(&self) -> bool {
        true
    }

    async fn availability(&self, env: &RuntimeEnv) -> Availability {
        let env = environment(launch::variables(&self.command, env));
        let install = "install it with `npm install -g @google/gemini-cli`, or set its `command`";
        self.versions.availability(&self.holder, &self.command, env, install, version::too_old).await
    }

    async fn auth_status(&self, env: &RuntimeEnv) -> AuthStatus {
        auth::status(&launch::variables(&self.command, env)).await
    }

    async fn ensure_login(&self, env: &RuntimeEnv) -> Option<String> {
        (!self.auth_status(env).await.logged_in).then(|| auth::HOW_TO_LOG_IN.to_owned())
    }

    fn login(&self, env: &RuntimeEnv) -> Option<LoginCommand> {
        // Gemini asks for a login when it starts.
        Some(self.command.login(&[], env))
    }

    async fn create_session(&self, open: OpenSession) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        let settings = self.settings(&open)?;
        let acp = self.start(&open, &settings).await?.new_session(&open).await.map_err(with_advice)?;
        let native = acp.native_id().ok_or(AdapterError::Unsupported("name its session"))?;
        let lock = self.locks.take(native.as_str()).await?;
        Ok(Box::new(GeminiSession::open(acp, lock, &self.command.for_session(&open), &open, &settings).await?))
    }

    async fn resume_session(
        &self,
        open: OpenSession,
        native: RuntimeSessionId,
    ) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        let settings = self.settings(&open)?;
        let lock = self.locks.take(native.as_str()).await?;
        let home = auth::home(&launch::variables(&self.command.for_session(&open), &open.env));
        let location = || (home.clone(), PathBuf::from(&open.env.cwd), native.as_str().to_owned());
        let (home, cwd, id) = location();
        if !chats::make_ready(home, cwd, id).await {
            return Err(AdapterError::UnknownSession(native));
        }
        let acp = self.start(&open, &settings).await?.resume(&open, &native).await.map_err(with_advice)?;
        let session = GeminiSession::open(acp, lock, &self.command.for_session(&open), &open, &settings).await?;
        let (home, cwd, id) = location();
        chats::tidy(home, cwd, id).await;
        Ok(Box::new(session))
    }

    async fn past_sessions(&self, env: &RuntimeEnv) -> io::Result<Vec<NativeSession>> {
        let (heads, home, cwd) = (self.heads.clone(), self.home(env), PathBuf::from(&env.cwd));
        tokio::task::spawn_blocking(move || history::sessions(&heads, &home, &cwd)).await?
    }

    async fn past_messages(&self, env: &RuntimeEnv, id: &RuntimeSessionId) -> io::Result<Option<Vec<NativeMessage>>> {
        let (home, cwd, id) = (self.home(env), PathBuf::from(&env.cwd), id.clone());
        tokio::task::spawn_blocking(move || history::messages(&home, &cwd, id.as_str())).await?
    }

    async fn slash_commands(&self, env: &RuntimeEnv) -> Vec<SlashCommand> {
        commands::list(self.home(env), PathBuf::from(&env.cwd)).await
    }

    async fn past_stamp(&self, env: &RuntimeEnv, id: &RuntimeSessionId) -> Option<u64> {
        let (home, cwd, id) = (self.home(env), PathBuf::from(&env.cwd), id.clone());
        tokio::task::spawn_blocking(move || history::stamp(&home, &cwd, id.as_str())).await.ok()?
    }
}

/// Adds the advice to the error about a missing login.
fn with_advice(error: AdapterError) -> AdapterError {
    match error {
        AdapterError::NotLoggedIn(message) => AdapterError::NotLoggedIn(format!("{message}. {}", auth::HOW_TO_LOG_IN)),
        other => other,
    }
}
