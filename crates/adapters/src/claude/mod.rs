//! Claude Code, by its command: `claude -p` with stream-json both ways and the control protocol inside.
//!
//! One process is one session, and the session's id is ours wherever the CLI can be made to use it.
//!
//! Decisions:
//! * Every tool call is decided by the host: a `PreToolUse` hook answers "ask", which makes the CLI ask about calls that
//!   it would run unasked, whatever its own rules and modes say. `yolo` is the host saying yes each time; the flag that
//!   skips permissions is never used (and refused for root).
//! * Settings (`config` of roost.toml, the session's over it) and tool servers go over stdin, not on the command line,
//!   where their secrets could be read. They are the CLI's own settings document, passed on as it is.
//! * The user's and the project's own settings and `CLAUDE.md` are used as in a terminal; `args = ["--setting-sources",
//!   ""]` turns them off. Tool servers of theirs are not used: the session has its own.
//! * A turn ends with its `result`, and only if the CLI has acknowledged our prompt by then: it also begins turns by
//!   itself. One that it begins while no task runs is cut at once, so that nothing goes on unseen.
//! * `AskUserQuestion` is a question here, not a tool call.

mod auth;
mod capabilities;
mod connection;
mod content;
mod elsewhere;
mod facts;
mod history;
mod host_server;
mod launch;
mod map;
mod messages;
mod outcome;
mod plain;
mod plan;
mod questions;
mod session;
mod sources;
mod talk;
mod tools;
#[cfg(test)]
mod trace_tests;
mod turn;
mod version;
mod wire;

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use roost_engine::adapter::{AdapterError, Availability, LoginCommand, OpenSession, RuntimeAdapter, RuntimeSession};
use roost_engine::facts::RuntimeFacts;
use roost_engine::{NativeMessage, NativeSession};
use roost_model::ids::{RuntimeSessionId, SessionId};
use roost_model::runtime::{AuthStatus, RuntimeCapabilities, RuntimeEnv, RuntimeName};
use roost_process::Holder;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::built_in::BuiltIn;
use crate::head_cache::HeadCache;
use crate::host::locks::Locks;
use crate::host::{AgentCommand, VersionProbe, environment};
use facts::FACTS;
use launch::Conversation;
use session::ClaudeSession;
use sources::{Places, Used};

pub(crate) static BUILT_IN: BuiltIn = BuiltIn {
    id: "claude",
    facts: &FACTS,
    adapter: |setup| Arc::new(adapter(setup.command, setup.config, setup.holder)),
};

/// The adapter of Claude Code, started by this command, with this document of its settings.
pub fn adapter(command: AgentCommand, config: Map<String, Value>, holder: Arc<Holder>) -> ClaudeAdapter {
    let (locks, versions, forgotten, heads) = Default::default();
    ClaudeAdapter { command, config, holder, locks, versions, forgotten, heads }
}

/// The adapter of Claude Code.
pub struct ClaudeAdapter {
    command: AgentCommand,
    config: Map<String, Value>,
    holder: Arc<Holder>,
    locks: Locks,
    versions: VersionProbe,
    /// Sessions that the CLI turned out not to know any more: they are rebuilt under a new id of its own.
    forgotten: Mutex<HashSet<SessionId>>,
    /// How the conversations on disk begin.
    heads: Arc<HeadCache<history::Head>>,
}

impl ClaudeAdapter {
    fn variables(&self, env: &RuntimeEnv) -> BTreeMap<String, String> {
        launch::variables(&self.command, env)
    }

    fn config_dir(&self, env: &RuntimeEnv) -> PathBuf {
        auth::config_dir(&self.variables(env))
    }

    fn config_dir_of(&self, open: &OpenSession) -> PathBuf {
        auth::config_dir(&launch::variables(&self.command.of_session(open), &open.env))
    }

    /// The CLI's settings for a session: the configured ones, with the session's own in their place where it has some.
    fn settings(&self, open: &OpenSession) -> Map<String, Value> {
        let mut settings = self.config.clone();
        settings.extend(open.input.runtime_config.clone().unwrap_or_default());
        settings
    }

    /// The CLI's id for a new conversation: ours, unless it is taken.
    async fn new_id(&self, open: &OpenSession) -> String {
        let ours = &open.session_id;
        let forgotten = self.forgotten.lock().remove(ours);
        let usable = !forgotten && Uuid::try_parse(ours.as_str()).is_ok();
        // An id is taken as soon as there is a transcript, even if its first task never got to tell us.
        match usable && !history::exists(self.config_dir_of(open), ours.as_str()).await {
            true => ours.to_string(),
            false => Uuid::new_v4().to_string(),
        }
    }

    async fn open(&self, open: OpenSession, conversation: Conversation) -> Result<ClaudeSession, AdapterError> {
        if let Availability::Missing { reason } = self.availability(&open.env).await {
            return Err(AdapterError::Spawn(reason));
        }
        let lock = self.locks.take(conversation.id()).await?;
        let (command, config) = (self.command.of_session(&open), self.config_dir_of(&open));
        if let Conversation::Known(id) = &conversation {
            elsewhere::refuse_if_open_elsewhere(config.clone(), id).await?;
        }
        let (settings, used) = (self.settings(&open), Used::by(&command.args));
        let places = Places { config, cwd: open.env.cwd.clone().into(), used };
        refuse_without_hooks(&settings, &places).await?;
        let started = launch::launch(&self.holder, &command, &open, &conversation).await?;
        ClaudeSession::begin(started, lock, &conversation, open, places, settings).await
    }
}

/// Without the host's hook the CLI would run tools that nobody is asked about.
async fn refuse_without_hooks(settings: &Map<String, Value>, places: &Places) -> Result<(), AdapterError> {
    let refused = |place: &str, how: &str| {
        AdapterError::Spawn(format!(
            "`disableAllHooks` in {place} switches off the hook by which Roost is asked about every tool call; {how}"
        ))
    };
    if sources::disables_hooks(settings) {
        return Err(refused("the settings of this session", "take it out of roost.toml or --runtime-config"));
    }
    let looking = places.clone();
    match tokio::task::spawn_blocking(move || looking.without_hooks()).await {
        Ok(Some(file)) => {
            let how =
                "take it out, or let Claude Code read none of your files with args = [\"--setting-sources\", \"\"]";
            Err(refused(&file.display().to_string(), how))
        }
        _ => Ok(()),
    }
}

#[async_trait]
impl RuntimeAdapter for ClaudeAdapter {
    fn name(&self) -> RuntimeName {
        RuntimeName::ClaudeAgentSdk
    }

    fn display_name(&self) -> &str {
        "Claude Code"
    }

    fn facts(&self) -> &'static RuntimeFacts {
        &FACTS
    }

    fn capabilities(&self) -> RuntimeCapabilities {
        capabilities::capabilities()
    }

    fn asks_questions(&self) -> bool {
        true
    }

    fn takes_images(&self) -> bool {
        true
    }

    async fn availability(&self, env: &RuntimeEnv) -> Availability {
        let (env, install) =
            (environment(self.variables(env)), "install it with `npm install -g @anthropic-ai/claude-code`");
        self.versions.availability(&self.holder, &self.command, env, install, version::too_old).await
    }

    async fn auth_status(&self, env: &RuntimeEnv) -> AuthStatus {
        auth::status(&self.variables(env)).await
    }

    async fn ensure_login(&self, env: &RuntimeEnv) -> Option<String> {
        let logged_in = self.auth_status(env).await.logged_in;
        (!logged_in).then(|| auth::HOW_TO_LOG_IN.to_owned())
    }

    fn login(&self, env: &RuntimeEnv) -> Option<LoginCommand> {
        Some(self.command.login(&["auth", "login"], env))
    }

    async fn create_session(&self, open: OpenSession) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        let id = self.new_id(&open).await;
        Ok(Box::new(self.open(open, Conversation::New(id)).await?))
    }

    async fn resume_session(
        &self,
        open: OpenSession,
        native: RuntimeSessionId,
    ) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        let ours = open.session_id.clone();
        let unknown = || {
            self.forgotten.lock().insert(ours);
            AdapterError::UnknownSession(native.clone())
        };
        // The CLI takes anything else for a search.
        if Uuid::try_parse(native.as_str()).is_err() {
            return Err(unknown());
        }
        match self.open(open, Conversation::Known(native.to_string())).await {
            Ok(session) => Ok(Box::new(session)),
            Err(AdapterError::UnknownSession(_)) => Err(unknown()),
            Err(error) => Err(error),
        }
    }

    async fn fork_session(
        &self,
        open: OpenSession,
        native: RuntimeSessionId,
    ) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        // The CLI takes anything else for a search.
        if Uuid::try_parse(native.as_str()).is_err() {
            return Err(AdapterError::UnknownSession(native));
        }
        let id = self.new_id(&open).await;
        Ok(Box::new(self.open(open, Conversation::Fork { id, of: native.to_string() }).await?))
    }

    async fn past_sessions(&self, env: &RuntimeEnv) -> io::Result<Vec<NativeSession>> {
        let (heads, config, cwd) = (self.heads.clone(), self.config_dir(env), PathBuf::from(&env.cwd));
        tokio::task::spawn_blocking(move || history::sessions(&heads, &config, &cwd)).await?
    }

    async fn past_messages(&self, env: &RuntimeEnv, id: &RuntimeSessionId) -> io::Result<Option<Vec<NativeMessage>>> {
        let (config, cwd, id) = (self.config_dir(env), PathBuf::from(&env.cwd), id.clone());
        tokio::task::spawn_blocking(move || history::messages(&config, &cwd, id.as_str())).await?
    }
    async fn past_stamp(&self, env: &RuntimeEnv, id: &RuntimeSessionId) -> Option<u64> {
        let (config, cwd, id) = (self.config_dir(env), PathBuf::from(&env.cwd), id.clone());
        tokio::task::spawn_blocking(move || history::stamp(&config, &cwd, id.as_str())).await.ok()?
    }
}
