//! OpenCode's own folders: whether somebody is logged in there, and what OpenCode reads from them by itself.

use std::path::{Path, PathBuf};

use roost_model::canonical;
use roost_model::runtime::{AuthModel, AuthStatus, RuntimeEnv};
use roost_model::sources::{ImplicitSource, ImplicitSources, SourceKind};
use serde_json::{Map, Value, json};

use super::launch::{CONTENT, environment};
use crate::host::AgentCommand;

/// Variables that hold an API key of a provider that OpenCode knows.
const KEYS: [&str; 5] =
    ["ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"];

/// More files than anybody has; the rest is not looked at.
const MAX_FILES: usize = 256;

/// OpenCode's folders in one environment.
#[derive(Clone, Debug)]
pub(super) struct Folders {
    home: PathBuf,
    config: PathBuf,
    /// More settings, in a folder of their own: `OPENCODE_CONFIG_DIR`.
    extra: Option<PathBuf>,
    /// More settings: `OPENCODE_CONFIG`.
    named: Option<PathBuf>,
    data: PathBuf,
}

impl Folders {
    /// The folders that a runtime with this environment uses.
    pub(super) fn of(command: &AgentCommand, env: &RuntimeEnv) -> Self {
        let all = environment(command, env);
        let home = all.get("HOME").map_or_else(|| PathBuf::from("/"), PathBuf::from);
        let named = |variable: &str| all.get(variable).filter(|path| !path.is_empty()).map(PathBuf::from);
        let folder = |variable: &str, usual: &str| named(variable).unwrap_or_else(|| home.join(usual));
        Self {
            config: folder("XDG_CONFIG_HOME", ".config").join("opencode"),
            extra: named("OPENCODE_CONFIG_DIR"),
            named: named("OPENCODE_CONFIG"),
            data: folder("XDG_DATA_HOME", ".local/share").join("opencode"),
            home,
        }
    }
}

impl Folders {
    /// Where the conversations are.
    pub(super) fn database(&self) -> PathBuf {
        self.data.join("opencode.db")
    }
}

/// Whether somebody is logged in: a key in the environment, or what `opencode auth login` leaves; or whether nobody has
/// to be, because these settings or OpenCode's own have a provider in them. No secret is kept.
pub(super) async fn auth_status(command: &AgentCommand, env: &RuntimeEnv, settings: &Map<String, Value>) -> AuthStatus {
    let Folders { data, config, .. } = Folders::of(command, env);
    let all = environment(command, env);
    let inherited = all.get(CONTENT).map(|text| text.as_encoded_bytes().to_vec()).unwrap_or_default();
    let file = tokio::fs::read(config.join("opencode.json")).await.unwrap_or_default();
    let read = |text: Vec<u8>| serde_json::from_slice::<Map<String, Value>>(&text).unwrap_or_default();
    let has_provider = [settings.clone(), read(inherited), read(file)].iter().any(has_provider);
    let has_key = KEYS.iter().any(|key| all.get(key).is_some_and(|value| !value.is_empty()));
    let login = tokio::fs::read(data.join("auth.json")).await.ok();
    let login = login.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok()).unwrap_or_default();
    let has_login = login.as_object().is_some_and(|logins| !logins.is_empty());
    let details = json!({
        "dataDir": data.display().to_string(),
        "hasApiKey": has_key,
        "hasLogin": has_login,
        "needsLogin": !has_provider,
    });
    AuthStatus {
        ok: true,
        logged_in: has_key || has_login,
        auth_model: AuthModel::Both,
        account_label: None,
        details: details.as_object().cloned(),
    }
}

/// Whether the model of these settings is one of a provider that they bring along.
fn has_provider(settings: &Map<String, Value>) -> bool {
    let providers = settings.get("provider").and_then(Value::as_object);
    let model = settings.get("model").and_then(Value::as_str).and_then(|model| model.split_once('/'));
    providers.is_some_and(|providers| match model {
        Some((provider, _)) => providers.contains_key(provider),
        None => !providers.is_empty(),
    })
}

/// Whether two paths lead to the same folder.
pub(super) async fn is_same_folder(one: &str, other: &str) -> bool {
    let real = async |path: &str| tokio::fs::canonicalize(path).await.unwrap_or_else(|_| PathBuf::from(path));
    one == other || real(one).await == real(other).await
}

/// The files that OpenCode reads by itself.
pub(super) async fn sources(folders: Folders, cwd: PathBuf) -> ImplicitSources {
    let found = tokio::task::spawn_blocking(move || {
        let files = files(&folders, &cwd).into_iter().take(MAX_FILES);
        files.filter_map(|(path, kind)| source(&path, kind)).collect::<Vec<_>>()
    });
    let sources = found.await.unwrap_or_default();
    if sources.is_empty() {
        return ImplicitSources::disabled("OpenCode found neither settings nor instructions");
    }
    ImplicitSources { disabled: false, reason: None, sources, precedence: None }
}

/// Where OpenCode looks.
fn files(folders: &Folders, cwd: &Path) -> Vec<(PathBuf, SourceKind)> {
    let mut files: Vec<_> = folders.named.iter().map(|file| (file.clone(), SourceKind::Config)).collect();
    let settings =
        |folder: &Path| ["opencode.json", "opencode.jsonc"].map(|file| (folder.join(file), SourceKind::Config));
    for folder in [Some(&folders.config), folders.extra.as_ref()].into_iter().flatten() {
        files.extend(settings(folder));
        files.extend(parts(folder));
    }
    files.push((folders.config.join("AGENTS.md"), SourceKind::ProjectInstruction));
    files.push((folders.home.join(".claude/CLAUDE.md"), SourceKind::ProjectInstruction));
    for folder in cwd.ancestors() {
        files.extend(settings(folder));
        let words = ["AGENTS.md", "CLAUDE.md", "CONTEXT.md"];
        files.extend(words.map(|file| (folder.join(file), SourceKind::ProjectInstruction)));
        let own = folder.join(".opencode");
        files.extend(settings(&own));
        files.extend(parts(&own));
    }
    files
}

/// Agents, commands, plugins and the like in one of OpenCode's folders.
fn parts(folder: &Path) -> Vec<(PathBuf, SourceKind)> {
    let kinds = [
        (["agent", "agents"], SourceKind::ProjectInstruction),
        (["command", "commands"], SourceKind::ProjectInstruction),
        (["mode", "modes"], SourceKind::ProjectInstruction),
        (["skill", "skills"], SourceKind::ProjectInstruction),
        (["plugin", "plugins"], SourceKind::Other),
        (["tool", "tools"], SourceKind::ToolManifest),
    ];
    let named = kinds.into_iter().flat_map(|(names, kind)| names.map(|name| (name, kind)));
    let mut files = Vec::new();
    for (name, kind) in named {
        let mut folders = vec![folder.join(name)];
        while let Some(entries) = folders.pop().map(std::fs::read_dir) {
            for entry in entries.into_iter().flatten().flatten() {
                match entry.file_type() {
                    Ok(of) if of.is_dir() => folders.push(entry.path()),
                    Ok(_) if files.len() < MAX_FILES => files.push((entry.path(), kind)),
                    _ => {}
                }
            }
        }
    }
    files.sort_by(|one, other| one.0.cmp(&other.0));
    files
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
