//! OpenCode's folders: whether somebody is logged in there, and which files OpenCode reads from them by itself.

use std::path::{Path, PathBuf};

use roost_model::runtime::{AuthModel, AuthStatus, RuntimeEnv};
use roost_model::sources::{ImplicitSources, SourceKind};
use serde_json::{Map, Value, json};

use super::launch::{CONFIG_VARIABLE, environment};
use crate::host::{AgentCommand, implicit_sources};

/// Variables that hold an API key of a provider that OpenCode knows.
const KEYS: [&str; 5] =
    ["ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"];

/// A limit on the files that are recorded; more than anybody has.
const MAX_FILES: usize = 256;

/// OpenCode's folders in one environment.
#[derive(Clone, Debug)]
pub(super) struct OpencodeFolders {
    home: PathBuf,
    config: PathBuf,
    /// An additional folder of settings: `OPENCODE_CONFIG_DIR`.
    extra: Option<PathBuf>,
    /// An additional file of settings: `OPENCODE_CONFIG`.
    named: Option<PathBuf>,
    data: PathBuf,
}

impl OpencodeFolders {
    /// The folders that OpenCode uses with this environment: the XDG folders, with the usual defaults below `HOME`.
    pub(super) fn from_env(command: &AgentCommand, env: &RuntimeEnv) -> Self {
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

impl OpencodeFolders {
    /// The user's own folders of settings.
    pub(super) fn settings(&self) -> Vec<PathBuf> {
        [Some(&self.config), self.extra.as_ref()].into_iter().flatten().cloned().collect()
    }

    /// The database with the conversations.
    pub(super) fn database(&self) -> PathBuf {
        self.data.join("opencode.db")
    }
}

/// Whether OpenCode can authenticate: by an API key in the environment, by what `opencode auth login` stored, or
/// without either if the settings bring a provider of their own. Reports only whether there are secrets, never the
/// secrets.
pub(super) async fn auth_status(command: &AgentCommand, env: &RuntimeEnv, settings: &Map<String, Value>) -> AuthStatus {
    let OpencodeFolders { data, config, .. } = OpencodeFolders::from_env(command, env);
    let all = environment(command, env);
    let inherited = all.get(CONFIG_VARIABLE).map(|text| text.as_encoded_bytes().to_vec()).unwrap_or_default();
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

/// Whether these settings define the provider of their model, or any provider if they name no model.
fn has_provider(settings: &Map<String, Value>) -> bool {
    let providers = settings.get("provider").and_then(Value::as_object);
    let model = settings.get("model").and_then(Value::as_str).and_then(|model| model.split_once('/'));
    providers.is_some_and(|providers| match model {
        Some((provider, _)) => providers.contains_key(provider),
        None => !providers.is_empty(),
    })
}

/// Whether two paths lead to the same folder, symbolic links resolved.
pub(super) async fn is_same_folder(one: &str, other: &str) -> bool {
    let real = async |path: &str| tokio::fs::canonicalize(path).await.unwrap_or_else(|_| PathBuf::from(path));
    one == other || real(one).await == real(other).await
}

/// The files that OpenCode reads by itself, at most [`MAX_FILES`] of them.
pub(super) async fn sources(folders: OpencodeFolders, cwd: PathBuf) -> ImplicitSources {
    implicit_sources("OpenCode", move || files(&folders, &cwd).into_iter().take(MAX_FILES)).await
}

/// Every path where OpenCode looks for settings and instructions: its own folders, the working directory and all of
/// its parents.
fn files(folders: &OpencodeFolders, cwd: &Path) -> Vec<(PathBuf, SourceKind)> {
    let mut files: Vec<_> = folders.named.iter().map(|file| (file.clone(), SourceKind::Config)).collect();
    let settings =
        |folder: &Path| ["opencode.json", "opencode.jsonc"].map(|file| (folder.join(file), SourceKind::Config));
    for folder in folders.settings() {
        files.extend(settings(&folder));
        files.extend(extension_files(&folder));
    }
    files.push((folders.config.join("AGENTS.md"), SourceKind::ProjectInstruction));
    files.push((folders.home.join(".claude/CLAUDE.md"), SourceKind::ProjectInstruction));
    for folder in cwd.ancestors() {
        files.extend(settings(folder));
        let names = ["AGENTS.md", "CLAUDE.md", "CONTEXT.md"];
        files.extend(names.map(|file| (folder.join(file), SourceKind::ProjectInstruction)));
        let own = folder.join(".opencode");
        files.extend(settings(&own));
        files.extend(extension_files(&own));
    }
    files
}

/// The agents, commands, modes, skills, plugins and tools in one of OpenCode's folders.
fn extension_files(folder: &Path) -> Vec<(PathBuf, SourceKind)> {
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
