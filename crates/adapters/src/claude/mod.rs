//! Claude Code, by its command: `claude -p` with stream-json both ways and the control protocol inside.
//!
//! One process is one session. The CLI's session id is Roost's own id wherever the CLI accepts it.
//!
//! Decisions:
//! * Every tool call is decided by the host: a `PreToolUse` hook answers "ask", which makes the CLI ask about calls
//!   that it would run unasked, whatever its own rules and modes say. In the mode `yolo` the host allows every call;
//!   the flag that skips permissions is never used, and refused if it is configured.
//! * Settings (`config` of roost.toml, overridden by the session's) and tool servers go over stdin, not on the command
//!   line, where other users could read their secrets. Settings are the CLI's own document, passed on unchanged.
//! * The user's and the project's own settings and `CLAUDE.md` are used as in a terminal; `args = ["--setting-sources",
//!   ""]` turns them off. So are the user's tool servers, and those of the project that the user agreed to. Their permission
//!   rules are a layer of the policy ([`permissions`]).
//! * A turn ends with its `result`, but only if the CLI has acknowledged the prompt by then, because it also begins
//!   turns by itself. A turn that it begins while no task runs is interrupted, so that nothing happens unrecorded.
//! * `AskUserQuestion` is reported as a question, not as a tool call.

mod auth;
mod background;
mod capabilities;
mod connection;
mod content;
mod facts;
mod history;
mod host_server;
mod launch;
mod map;
mod messages;
mod outcome;
mod permissions;
#[cfg(test)]
mod permissions_tests;
mod plain;
mod plan;
mod project_servers;
mod project_settings;
mod questions;
mod reader;
mod session;
mod session_registry;
mod settings_files;
mod slash;
mod sources;
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
use roost_model::runtime::{AuthStatus, RuntimeCapabilities, RuntimeEnv, RuntimeName, SlashCommand};
use roost_process::Holder;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::built_in::BuiltIn;
use crate::head_cache::HeadCache;
use crate::host::locks::Locks;
use crate::host::{AgentCommand, VersionProbe, environment};
use crate::layers::merge;
use crate::source_files::TrustedFiles;
use facts::FACTS;
use launch::Conversation;
use project_servers::ProjectServers;
use session::{ClaudeSession, SessionFiles};
use sources::{SettingScopes, SourcePaths};

pub(crate) static BUILT_IN: BuiltIn = BuiltIn {
    id: "claude",
    facts: &FACTS,
    adapter: |setup| Arc::new(adapter(setup.command, setup.config, setup.holder).with_trusted(setup.trusted)),
};

/// The adapter of Claude Code, started by this command; `config` is a settings document of the CLI's own format.
pub fn adapter(command: AgentCommand, config: Map<String, Value>, holder: Arc<Holder>) -> ClaudeAdapter {
    let (trusted, locks, versions, forgotten, heads) = Default::default();
    ClaudeAdapter { command, config, holder, trusted, locks, versions, forgotten, heads }
}

/// The setting by which the CLI leaves out the shell commands of slash commands and skills.
const NO_SHELL_IN_COMMANDS: &str = "disableSkillShellExecution";

/// The adapter of Claude Code.
pub struct ClaudeAdapter {
    command: AgentCommand,
    config: Map<String, Value>,
    holder: Arc<Holder>,
    trusted: TrustedFiles,
    locks: Locks,
    versions: VersionProbe,
    /// Sessions that the CLI turned out not to know. When one is created again, it gets a random id instead of Roost's.
    forgotten: Mutex<HashSet<SessionId>>,
    /// Caches the first lines of the conversations on disk, for the list of past sessions.
    heads: Arc<HeadCache<history::ConversationHead>>,
}

impl ClaudeAdapter {
    /// Takes what these files of projects allow and the tool servers that they name, as they are.
    #[must_use]
    pub fn with_trusted(mut self, trusted: TrustedFiles) -> Self {
        self.trusted = trusted;
        self
    }

    fn variables(&self, env: &RuntimeEnv) -> BTreeMap<String, String> {
        launch::variables(&self.command, env)
    }

    fn config_dir(&self, env: &RuntimeEnv) -> PathBuf {
        auth::config_dir(&self.variables(env))
    }

    fn config_dir_of(&self, open: &OpenSession) -> PathBuf {
        auth::config_dir(&launch::variables(&self.command.for_session(open), &open.env))
    }

    fn source_paths(&self, command: &AgentCommand, open: &OpenSession) -> SourcePaths {
        let (env, scopes) = (launch::variables(command, &open.env), SettingScopes::from_args(&command.args));
        SourcePaths {
            home: auth::home(&env),
            config: auth::config_dir(&env),
            state_file: auth::state_file(&env),
            cwd: open.env.cwd.clone().into(),
            scopes,
            loaded: scopes,
            trusted: self.trusted.clone(),
        }
    }

    /// The CLI's id for a new conversation: Roost's session id, or a random one if that is taken or is no UUID.
    async fn new_id(&self, open: &OpenSession) -> String {
        let ours = &open.session_id;
        let forgotten = self.forgotten.lock().remove(ours);
        let usable = !forgotten && Uuid::try_parse(ours.as_str()).is_ok();
        // An id is taken as soon as the CLI has written a transcript, even if the first task then failed.
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
        let mut command = self.command.for_session(&open);
        let source_paths = self.source_paths(&command, &open);
        if let Conversation::Known(id) = &conversation {
            session_registry::refuse_if_open_elsewhere(source_paths.config.clone(), id).await?;
        }
        let mut settings = merge(&self.config, open.input.runtime_config.as_ref());
        refuse_without_hooks(&settings, &source_paths).await?;
        // The shell commands in a slash command or a skill run without the hook, so nobody would be asked about them.
        settings.entry(NO_SHELL_IN_COMMANDS).or_insert(true.into());
        // The CLI knows no tool servers in its settings; these are set with the session's.
        let configured_servers = match settings.remove("mcpServers") {
            Some(Value::Object(servers)) => servers,
            _ => Map::new(),
        };
        let project_servers = find_project_servers(&source_paths, &settings, &command).await?;
        let (source_paths, mut notices) = withhold_settings(source_paths, &settings, &mut command).await?;
        notices.extend_from_slice(&project_servers.notices);
        let started = launch::launch(&self.holder, &command, &open, &project_servers, &conversation).await?;
        let files = SessionFiles { source_paths, project_servers, settings, configured_servers, notices };
        ClaudeSession::begin(started, lock, &conversation, open, files).await
    }
}

async fn find_project_servers(
    source_paths: &SourcePaths,
    settings: &Map<String, Value>,
    command: &AgentCommand,
) -> Result<ProjectServers, AdapterError> {
    let (source_paths, settings, args) = (source_paths.clone(), settings.clone(), command.args.clone());
    let found = tokio::task::spawn_blocking(move || ProjectServers::find(&source_paths, &settings, &args)).await;
    found.map_err(|error| AdapterError::Spawn(format!("the project's tool servers cannot be looked up: {error}")))
}

/// Withholds the project's settings that nobody agreed to; what people should know of it comes with the paths.
async fn withhold_settings(
    mut source_paths: SourcePaths,
    settings: &Map<String, Value>,
    command: &mut AgentCommand,
) -> Result<(SourcePaths, Vec<String>), AdapterError> {
    let (mut args, settings) = (std::mem::take(&mut command.args), settings.clone());
    let withheld = tokio::task::spawn_blocking(move || {
        let notices = project_settings::withhold_settings(&mut source_paths, &settings, &mut args);
        (source_paths, args, notices)
    });
    let withheld = withheld.await;
    let (source_paths, args, notices) = withheld
        .map_err(|error| AdapterError::Spawn(format!("the project's settings cannot be looked up: {error}")))?;
    command.args = args;
    Ok((source_paths, notices))
}

/// Refuses to start if a settings document disables hooks: without the host's hook the CLI would run tools unasked.
async fn refuse_without_hooks(settings: &Map<String, Value>, source_paths: &SourcePaths) -> Result<(), AdapterError> {
    let refused = |place: &str, how: &str| {
        AdapterError::Spawn(format!(
            "`disableAllHooks` in {place} switches off the hook by which Roost is asked about every tool call; {how}"
        ))
    };
    if sources::disables_hooks(settings) {
        return Err(refused("the settings of this session", "take it out of roost.toml or --runtime-config"));
    }
    let looking = source_paths.clone();
    match tokio::task::spawn_blocking(move || looking.file_disabling_hooks()).await {
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
    async fn slash_commands(&self, env: &RuntimeEnv) -> Vec<SlashCommand> {
        slash::commands(self.config_dir(env), PathBuf::from(&env.cwd)).await
    }

    async fn past_stamp(&self, env: &RuntimeEnv, id: &RuntimeSessionId) -> Option<u64> {
        let (config, cwd, id) = (self.config_dir(env), PathBuf::from(&env.cwd), id.clone());
        tokio::task::spawn_blocking(move || history::stamp(&config, &cwd, id.as_str())).await.ok()?
    }
}
