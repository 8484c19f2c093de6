//! Codex, through `codex app-server` on a private unix socket.
//!
//! Decisions:
//! * One server per session, so that a session's end is a process's end and every thread of a server is the session's.
//! * Codex is asked to ask about everything (`approvalPolicy: "untrusted"`) in every mode; the mode only chooses its
//!   sandbox (see [`sandbox`]) and what our policy answers. What runs unasked all the same (searches of the web,
//!   looks at images) is recorded as such.
//! * A command or a change of files is reported when it is asked about, runs or is done: only the question tells all of
//!   its input. A second question about the same call, for more rights, is another attempt.
//! * A refusal has no place for its reason: the reason goes first, as a message to the turn.
//! * An interrupt leaves commands running; they are ended before the task is.
//! * A server outlives a daemon that is killed, for a minute: the turn goes on, and the next daemon listens again. What
//!   Codex waits for it asks once more, so the ids of calls and questions follow from Codex's own.
//! * A Codex that is too old for all this runs by `codex exec`, with less (see [`exec`]).

mod asks;
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
mod note;
mod notify;
mod past;
mod plain;
mod prompt;
mod provider;
mod questions;
mod reader;
mod sandbox;
mod session;
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
use roost_model::runtime::{AuthStatus, RuntimeCapabilities, RuntimeEnv, RuntimeName};
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
use note::{Note, TurnNote};
pub use notify::forward;
use session::{CodexSession, Server};
use socket::Socket;
use version::Version;

/// The adapter of Codex.
pub struct CodexAdapter {
    command: AgentCommand,
    config: Map<String, Value>,
    holder: Arc<Holder>,
    version: Version,
    /// How the conversations on disk begin.
    heads: Arc<HeadCache<Option<history::Head>>>,
}

pub(crate) static BUILT_IN: BuiltIn = BuiltIn {
    id: "codex",
    facts: &FACTS,
    adapter: |setup| Arc::new(adapter(setup.command, setup.config, setup.holder)),
};

/// Codex, started by this command (what comes before `app-server`) with these settings of its own (its `-c` keys).
pub fn adapter(command: AgentCommand, config: Map<String, Value>, holder: Arc<Holder>) -> CodexAdapter {
    CodexAdapter { command, config, holder, version: Version::default(), heads: Arc::default() }
}

impl CodexAdapter {
    async fn start(&self, open: OpenSession) -> Result<CodexSession, AdapterError> {
        let settings = launch::settings(&self.config, open.input.runtime_config.as_ref())?;
        let command = self.command.of_session(&open);
        let (connection, process, socket) = launch::launch(&self.holder, &command, &open, &settings).await?;
        let server = Server::initialize(connection, process, socket).await?;
        let home = CodexHome::of(&command, &open.env);
        Ok(CodexSession::new(server, open, home, settings))
    }

    /// Codex would go on anywhere with any of its threads; one of another directory is not this session's.
    async fn refuse_foreign(&self, open: &OpenSession, native: &RuntimeSessionId) -> Result<(), AdapterError> {
        let (CodexHome(home), cwd) = (CodexHome::of(&self.command, &open.env), PathBuf::from(&open.env.cwd));
        let id = native.clone();
        let looked = tokio::task::spawn_blocking(move || {
            history::file(&home, id.as_str()).ok().flatten().is_some_and(|file| history::is_foreign(&file, &cwd))
        });
        match looked.await {
            Ok(true) => Err(AdapterError::UnknownSession(native.clone())),
            _ => Ok(()),
        }
    }

    /// A session by `codex exec`, if this Codex is too old for more.
    async fn fallback(&self, open: &OpenSession) -> Result<Option<ExecSession>, AdapterError> {
        self.version.look(&self.holder, &self.command, &open.env).await;
        let Some(version) = self.version.too_old() else { return Ok(None) };
        let settings = launch::settings(&self.config, open.input.runtime_config.as_ref())?;
        let (command, holder) = (self.command.of_session(open), self.holder.clone());
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
        self.version.look(&self.holder, &self.command, env).await
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
        let note = Note::read(socket.folder()).await.ok()?;
        let turn = TurnNote::within(socket.folder()).read().await;
        let (connection, process, since) = launch::adopt(&self.holder, record, &socket).await?;
        let server = Server::initialize(connection, process, socket).await.ok()?;
        match server.reattach(note, turn, since).await {
            Ok(reattached) => Some(reattached),
            Err(error) => {
                tracing::warn!(%error, "A Codex session that outlived a daemon could not be gone on with.");
                None
            }
        }
    }

    async fn past_sessions(&self, env: &RuntimeEnv) -> io::Result<Vec<NativeSession>> {
        let (CodexHome(home), cwd) = (CodexHome::of(&self.command, env), PathBuf::from(&env.cwd));
        let heads = self.heads.clone();
        tokio::task::spawn_blocking(move || history::sessions(&heads, &home, &cwd)).await?
    }

    async fn past_messages(&self, env: &RuntimeEnv, id: &RuntimeSessionId) -> io::Result<Option<Vec<NativeMessage>>> {
        let (CodexHome(home), id) = (CodexHome::of(&self.command, env), id.clone());
        let cwd = PathBuf::from(&env.cwd);
        tokio::task::spawn_blocking(move || history::messages(&home, &cwd, id.as_str())).await?
    }

    async fn past_stamp(&self, env: &RuntimeEnv, id: &RuntimeSessionId) -> Option<u64> {
        let (CodexHome(home), id) = (CodexHome::of(&self.command, env), id.clone());
        tokio::task::spawn_blocking(move || history::stamp(&home, id.as_str())).await.ok()?
    }
}
