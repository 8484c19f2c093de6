//! OpenCode's own folders: whether somebody is logged in there, and what OpenCode reads from them by itself.

use std::path::{Path, PathBuf};

use roost_proto::canonical;
use roost_proto::runtime::{AuthModel, AuthStatus, RuntimeEnv};
use roost_proto::sources::{ImplicitSource, ImplicitSources, SourceKind};
use serde_json::{Value, json};

use super::launch::environment;
use crate::acp::AgentCommand;

/// Variables that hold an API key of a provider that OpenCode knows.
const KEYS: [&str; 5] =
    ["ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"];

/// OpenCode's folders in one environment.
#[derive(Clone, Debug)]
pub(super) struct Folders {
    config: PathBuf,
    data: PathBuf,
}

impl Folders {
    /// The folders that a runtime with this environment uses.
    pub(super) fn of(command: &AgentCommand, env: &RuntimeEnv) -> Self {
        let all = environment(command, env);
        let home = all.get("HOME").map_or_else(|| PathBuf::from("/"), PathBuf::from);
        let folder = |variable: &str, usual: &str| {
            all.get(variable).filter(|path| !path.is_empty()).map_or_else(|| home.join(usual), PathBuf::from)
        };
        Self {
            config: folder("XDG_CONFIG_HOME", ".config").join("opencode"),
            data: folder("XDG_DATA_HOME", ".local/share").join("opencode"),
        }
    }
}

impl Folders {
    /// Where the conversations are.
    pub(super) fn database(&self) -> PathBuf {
        self.data.join("opencode.db")
    }
}

/// Whether somebody is logged in: a key in the environment, or what `opencode auth login` leaves. A provider in the
/// settings is told beside it; it may need no login. No secret is kept.
pub(super) async fn auth_status(command: &AgentCommand, env: &RuntimeEnv, has_provider: bool) -> AuthStatus {
    let Folders { data, .. } = Folders::of(command, env);
    let all = environment(command, env);
    let has_key = KEYS.iter().any(|key| all.get(key).is_some_and(|value| !value.is_empty()));
    let login = tokio::fs::read(data.join("auth.json")).await.ok();
    let login = login.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok()).unwrap_or_default();
    let has_login = login.as_object().is_some_and(|logins| !logins.is_empty());
    let details = json!({
        "dataDir": data.display().to_string(),
        "hasApiKey": has_key,
        "hasLogin": has_login,
        "hasProvider": has_provider,
    });
    AuthStatus {
        ok: true,
        logged_in: has_key || has_login,
        auth_model: AuthModel::Both,
        account_label: None,
        details: details.as_object().cloned(),
    }
}

/// Whether two paths lead to the same folder.
pub(super) async fn is_same_folder(one: &str, other: &str) -> bool {
    let real = async |path: &str| tokio::fs::canonicalize(path).await.unwrap_or_else(|_| PathBuf::from(path));
    one == other || real(one).await == real(other).await
}

/// The files that OpenCode reads by itself.
pub(super) async fn sources(folders: Folders, cwd: PathBuf) -> ImplicitSources {
    let found = tokio::task::spawn_blocking(move || {
        let settings = ["opencode.json", "opencode.jsonc"];
        let mut files: Vec<_> = settings.iter().map(|file| (folders.config.join(file), SourceKind::Config)).collect();
        files.push((folders.config.join("AGENTS.md"), SourceKind::ProjectInstruction));
        for folder in cwd.ancestors() {
            files.extend(settings.iter().map(|file| (folder.join(file), SourceKind::Config)));
            files.push((folder.join("AGENTS.md"), SourceKind::ProjectInstruction));
        }
        files.into_iter().filter_map(|(path, kind)| source(&path, kind)).collect::<Vec<_>>()
    });
    let sources = found.await.unwrap_or_default();
    if sources.is_empty() {
        return ImplicitSources::disabled("OpenCode found neither settings nor instructions");
    }
    ImplicitSources { disabled: false, reason: None, sources, precedence: None }
}

fn source(path: &Path, kind: SourceKind) -> Option<ImplicitSource> {
    let hash = match std::fs::read(path) {
        Ok(bytes) => Some(canonical::hash_bytes(&bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(_) => None,
    };
    let redacted = hash.is_none().then_some(true);
    Some(ImplicitSource { path: path.display().to_string(), kind, hash, disabled: None, redacted })
}
