//! Codex, through `codex app-server` on a private unix socket.
//!
//! Decisions:
//! * One server per session: the session ends with the process, and every thread on the server belongs to the session.
//! * Codex requests an approval for everything (`approvalPolicy: "untrusted"`) in every mode; the mode only chooses the
//!   sandbox (see [`sandbox`]) and what our policy answers. Calls that run without an approval all the same (web
//!   searches, image views) are recorded as such.
//! * A command or a change of files is reported when Codex requests approval, or when it runs or is done, because only
//!   the request has the complete input. A second request for the same call, for more permissions, is a new attempt.
//! * A command that fails in the sandbox is not run again outside of it (see [`sandbox`]); leaving the sandbox is an
//!   approval request of its own, marked by `sandbox_permissions` in its input.
//! * A refusal has no field for its reason, so the reason is sent first, as a message to the turn.
//! * An interrupt leaves commands running; they are ended before the task is.
//! * A server outlives a killed daemon by a minute: the turn goes on, and the next daemon subscribes again. Codex then
//!   repeats its open requests, so our ids of calls and questions are derived from Codex's.
//! * A Codex that is too old for the app server is run by `codex exec`, which can do less (see [`exec`]).

mod capabilities;
mod connection;
mod exec;
mod facts;
mod failure;
mod history;
mod home;
mod item;
mod launch;
mod map;
#[cfg(test)]
mod map_tests;
mod notify;
mod plain;
mod prompt;
mod provider;
mod questions;
mod raw_calls;
mod reader;
mod requests;
mod resume_point;
mod resume_result;
mod sandbox;
mod session;
mod slash;
mod socket;
mod thread;
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
use roost_engine::adapter::{
    AdapterError, Availability, LoginCommand, OpenSession, Reattached, RuntimeAdapter, RuntimeSession,
};
use roost_engine::facts::RuntimeFacts;
use roost_engine::{NativeMessage, NativeSession};
use roost_model::ids::RuntimeSessionId;
use roost_model::runtime::{AuthStatus, RuntimeCapabilities, RuntimeEnv, RuntimeName, SlashCommand};
use roost_process::Holder;
use roost_process::records::Record;
use serde_json::{Map, Value};

use crate::built_in::BuiltIn;
use crate::head_cache::HeadCache;
use crate::host::AgentCommand;
use exec::ExecSession;
use facts::FACTS;
pub(crate) use facts::SILENT_FIELDS;
use home::CodexHome;
pub use notify::forward;
use resume_point::{ResumePoint, TurnMarker};
use session::{CodexSession, Server};
use socket::Socket;
use version::InstalledVersion;

/// Runs Codex: by its app server, or by `codex exec` if the installed version is too old for that.
pub struct CodexAdapter {
    command: AgentCommand,
    config: Map<String, Value>,
    holder: Arc<Holder>,
    version: InstalledVersion,
    /// The beginnings of the conversations on disk; `None` for files that are no conversation.
    heads: Arc<HeadCache<Option<history::RolloutHead>>>,
}

pub(crate) static BUILT_IN: BuiltIn = BuiltIn {
    id: "codex",
    facts: &FACTS,
    adapter: |setup| Arc::new(adapter(setup.command, setup.config, setup.holder)),
};

/// An adapter that starts Codex by this command (what comes before `app-server`) with these settings (Codex's `-c`
/// keys).
pub fn adapter(command: AgentCommand, config: Map<String, Value>, holder: Arc<Holder>) -> CodexAdapter {
    CodexAdapter { command, config, holder, version: InstalledVersion::default(), heads: Arc::default() }
}

impl CodexAdapter {
    async fn start(&self, open: OpenSession) -> Result<CodexSession, AdapterError> {
        let settings = launch::settings(&self.config, open.input.runtime_config.as_ref())?;
        let command = self.command.for_session(&open);
        let (connection, process, socket) = launch::launch(&self.holder, &command, &open, &settings).await?;
        let server = Server::initialize(connection, process, socket).await?;
        let home = CodexHome::from_env(&command, &open.env);
        Ok(CodexSession::new(server, open, home, settings))
    }

    /// Refuses to resume a thread of another working directory. Codex itself would resume any thread anywhere.
    async fn refuse_foreign(&self, open: &OpenSession, native: &RuntimeSessionId) -> Result<(), AdapterError> {
        let (CodexHome(home), cwd) = (CodexHome::from_env(&self.command, &open.env), PathBuf::from(&open.env.cwd));
        let id = native.clone();
        let looked = tokio::task::spawn_blocking(move || {
            history::find_file(&home, id.as_str()).ok().flatten().is_some_and(|file| history::is_foreign(&file, &cwd))
        });
        match looked.await {
            Ok(true) => Err(AdapterError::UnknownSession(native.clone())),
            _ => Ok(()),
        }
    }

    /// A session by `codex exec` if the installed Codex is too old for its app server; `None` otherwise.
    async fn fallback(&self, open: &OpenSession) -> Result<Option<ExecSession>, AdapterError> {
        self.version.probe(&self.holder, &self.command, &open.env).await;
        let Some(version) = self.version.too_old() else { return Ok(None) };
        let settings = launch::settings(&self.config, open.input.runtime_config.as_ref())?;
        let (command, holder) = (self.command.for_session(open), self.holder.clone());
        ExecSession::new(command, holder, open.clone(), settings, version).map(Some)
    }
}

#[async_trait]
impl RuntimeAdapter for CodexAdapter {
    fn name(&self) -> RuntimeName {
        RuntimeName::CodexSdk
    }

    fn display_name(&self) -> &str {
        "Codex"
    }

    fn facts(&self) -> &'static RuntimeFacts {
        &FACTS
    }

    fn capabilities(&self) -> RuntimeCapabilities {
        if self.version.too_old().is_some() { exec::capabilities() } else { capabilities::capabilities() }
    }

    fn asks_questions(&self) -> bool {
        self.version.too_old().is_none()
    }

    fn takes_images(&self) -> bool {
        self.version.too_old().is_none()
    }

    async fn availability(&self, env: &RuntimeEnv) -> Availability {
        self.version.probe(&self.holder, &self.command, env).await
    }

    async fn auth_status(&self, env: &RuntimeEnv) -> AuthStatus {
        home::auth_status(&self.command, env, &self.config).await
    }

    async fn ensure_login(&self, env: &RuntimeEnv) -> Option<String> {
        home::login_hint(&self.command, env, &self.config).await
    }

    fn login(&self, env: &RuntimeEnv) -> Option<LoginCommand> {
        Some(self.command.login(&["login"], env))
    }

    async fn create_session(&self, open: OpenSession) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        match self.fallback(&open).await? {
            Some(session) => Ok(Box::new(session)),
            None => Ok(Box::new(self.start(open).await?)),
        }
    }

    async fn resume_session(
        &self,
        open: OpenSession,
        native: RuntimeSessionId,
    ) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        self.refuse_foreign(&open, &native).await?;
        match self.fallback(&open).await? {
            Some(session) => Ok(Box::new(session.resume(&native).await?)),
            None => Ok(Box::new(self.start(open).await?.resume(&native).await?)),
        }
    }

    async fn fork_session(
        &self,
        open: OpenSession,
        native: RuntimeSessionId,
    ) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        match self.fallback(&open).await? {
            Some(_) => Err(AdapterError::Unsupported("fork a session")),
            None => Ok(Box::new(self.start(open).await?.fork(&native).await?)),
        }
    }

    async fn reattach(&self, record: &Record) -> Option<Reattached> {
        let socket = Socket::within(&self.holder.folder(&record.run));
        let point = ResumePoint::read(socket.folder()).await.ok()?;
        let turn = TurnMarker::within(socket.folder()).read().await;
        let (connection, process, since) = launch::adopt(&self.holder, record, &socket).await?;
        let server = Server::initialize(connection, process, socket).await.ok()?;
        match server.reattach(point, turn, since).await {
            Ok(reattached) => Some(reattached),
            Err(error) => {
                tracing::warn!(%error, "A Codex session that outlived a daemon could not be gone on with.");
                None
            }
        }
    }

    async fn past_sessions(&self, env: &RuntimeEnv) -> io::Result<Vec<NativeSession>> {
        let (CodexHome(home), cwd) = (CodexHome::from_env(&self.command, env), PathBuf::from(&env.cwd));
        let heads = self.heads.clone();
        tokio::task::spawn_blocking(move || history::sessions(&heads, &home, &cwd)).await?
    }

    async fn past_messages(&self, env: &RuntimeEnv, id: &RuntimeSessionId) -> io::Result<Option<Vec<NativeMessage>>> {
        let (CodexHome(home), id) = (CodexHome::from_env(&self.command, env), id.clone());
        let cwd = PathBuf::from(&env.cwd);
        tokio::task::spawn_blocking(move || history::messages(&home, &cwd, id.as_str())).await?
    }

    async fn slash_commands(&self, env: &RuntimeEnv) -> Vec<SlashCommand> {
        let (home, cwd) = (CodexHome::from_env(&self.command, env), PathBuf::from(&env.cwd));
        slash::commands(home.0, cwd).await
    }

    async fn past_stamp(&self, env: &RuntimeEnv, id: &RuntimeSessionId) -> Option<u64> {
        let (CodexHome(home), id) = (CodexHome::from_env(&self.command, env), id.clone());
        tokio::task::spawn_blocking(move || history::stamp(&home, id.as_str())).await.ok()?
    }
}
