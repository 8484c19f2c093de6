//! Codex's home folder: where it is, whether somebody is logged in there, and which files Codex reads from it by
//! itself.

use std::path::{Path, PathBuf};

use roost_model::runtime::{AuthModel, AuthStatus, RuntimeEnv};
use roost_model::sources::{ImplicitSources, SourceKind};
use serde_json::{Map, Value, json};

use super::provider;
use crate::host::{AgentCommand, implicit_sources};

/// Variables that hold an API key.
const KEYS: [&str; 2] = ["CODEX_API_KEY", "OPENAI_API_KEY"];

/// Codex's home folder: `CODEX_HOME`, or `.codex` in the user's home.
#[derive(Clone, Debug)]
pub(super) struct CodexHome(pub(super) PathBuf);

impl CodexHome {
    /// The folder that Codex uses with this environment; variables of the command come first.
    pub(super) fn from_env(command: &AgentCommand, env: &RuntimeEnv) -> Self {
        match variable(command, env, "CODEX_HOME") {
            Some(home) => Self(home.into()),
            None => Self(Path::new(variable(command, env, "HOME").unwrap_or("/")).join(".codex")),
        }
    }
}

/// A variable of the command, or else of the session; an empty value counts as absent.
fn variable<'a>(command: &'a AgentCommand, env: &'a RuntimeEnv, name: &str) -> Option<&'a str> {
    let own = command.env.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
    own.or_else(|| env.env.get(name).map(String::as_str)).filter(|value| !value.is_empty())
}

/// Whether Codex can authenticate: by an API key in the environment, by what `codex login` stored, or without either
/// if the settings (`settings`, then `config.toml`) name a provider that needs no login. Reports only whether there
/// are secrets, never the secrets.
pub(super) async fn auth_status(command: &AgentCommand, env: &RuntimeEnv, settings: &Map<String, Value>) -> AuthStatus {
    let CodexHome(home) = CodexHome::from_env(command, env);
    let own = tokio::fs::read_to_string(home.join("config.toml")).await.unwrap_or_default();
    let needs_login = provider::needs_login(settings, &own, |name| variable(command, env, name).is_some());
    let has_key = KEYS.iter().any(|key| variable(command, env, key).is_some());
    let login = tokio::fs::read(home.join("auth.json")).await.ok();
    let login = login.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok()).unwrap_or_default();
    let is_there = |field: &str| login.get(field).is_some_and(|value| !value.is_null());
    let (has_key, has_oauth) = (has_key || is_there("OPENAI_API_KEY"), is_there("tokens"));
    let details = json!({ "configDir": home.display().to_string(), "hasApiKey": has_key, "hasOauth": has_oauth,
        "needsLogin": needs_login });
    AuthStatus {
        ok: true,
        logged_in: has_key || has_oauth,
        auth_model: AuthModel::Both,
        account_label: None,
        details: details.as_object().cloned(),
    }
}

/// What a person can do to log in; `None` if Codex is ready.
pub(super) async fn login_hint(
    command: &AgentCommand,
    env: &RuntimeEnv,
    settings: &Map<String, Value>,
) -> Option<String> {
    if auth_status(command, env, settings).await.is_ready() {
        return None;
    }
    let CodexHome(home) = CodexHome::from_env(command, env);
    let program = command.program.to_string_lossy();
    Some(format!(
        "run `CODEX_HOME={} {program} login`, set CODEX_API_KEY, or configure a model provider that needs no login",
        home.display()
    ))
}

/// The files that Codex reads by itself: its settings, rules and hooks, and the instructions that it says it found.
pub(super) async fn sources(home: &Path, cwd: &Path, instructions: &[String]) -> ImplicitSources {
    let (home, cwd, instructions) = (home.to_owned(), cwd.to_owned(), instructions.to_owned());
    implicit_sources("Codex", move || {
        let mut files = vec![
            (home.join("config.toml"), SourceKind::Config),
            (cwd.join(".codex").join("config.toml"), SourceKind::Config),
            (home.join("hooks.json"), SourceKind::Policy),
        ];
        let rules = std::fs::read_dir(home.join("rules")).into_iter().flatten().flatten();
        let mut rules: Vec<_> = rules.map(|rule| rule.path()).filter(|path| path.is_file()).collect();
        rules.sort();
        files.extend(rules.into_iter().map(|path| (path, SourceKind::Policy)));
        files.extend(instructions.into_iter().map(|path| (path.into(), SourceKind::ProjectInstruction)));
        files
    })
    .await
}
