//! A home in which an agent talks to a scripted model and to nobody else.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Agent, bin};

/// The rest of every agent's `PATH`: where a shell and git are.
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// The model that each agent is told to use; its own name decides which tools it offers.
const CLAUDE_MODEL: &str = "claude-sonnet-4-5";
const CODEX_MODEL: &str = "gpt-5.5";

/// A temporary home and working folder for agents that ask the model at one URL; removed on drop.
pub struct Sandbox {
    dir: TempDir,
    model: String,
}

impl Sandbox {
    /// A new home; `model` is the [`url`](crate::model::ModelServer::url) of the model.
    pub fn new(model: &str) -> Self {
        let sandbox = Self { dir: TempDir::new().unwrap(), model: model.to_owned() };
        fs::create_dir(sandbox.work()).unwrap();
        write_settings(&sandbox.home(), model);
        sandbox
    }

    /// The `HOME` of the agents that [`Sandbox::command`] starts.
    pub fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// The working directory of these agents, beside their home.
    pub fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// A command that starts an agent here, without anything of this process's environment.
    pub fn command(&self, agent: Agent) -> Command {
        let mut command = Command::new(agent.program());
        command.current_dir(self.work()).env_clear().envs(variables(agent, &self.home(), &self.model));
        command
    }
}

/// Writes the settings files by which Codex and the Gemini CLI use the model at this URL, and creates `tmp`, which
/// [`variables`] names as `TMPDIR`. The other agents get their settings from the environment.
pub fn write_settings(home: &Path, model: &str) {
    let write = |file: &str, text: &str| {
        let file = home.join(file);
        fs::create_dir_all(file.parent().expect("it is below the home")).unwrap();
        fs::write(file, text).unwrap();
    };
    write(".codex/config.toml", &codex_config(model));
    write(".gemini/settings.json", &gemini_settings().to_string());
    fs::create_dir_all(home.join("tmp")).unwrap();
}

/// The complete environment of an agent: its home, the URL of the model, and its switches against telemetry, updates and
/// downloads.
pub fn variables(agent: Agent, home: &Path, model: &str) -> Vec<(&'static str, String)> {
    let home = home.display();
    let mut all = vec![
        ("PATH", format!("{}:{SYSTEM_PATH}", bin().display())),
        ("HOME", home.to_string()),
        // Not the system's: Codex refuses to have its home below it.
        ("TMPDIR", format!("{home}/tmp")),
        ("TERM", "dumb".into()),
        ("LANG", "C.UTF-8".into()),
        ("NO_COLOR", "1".into()),
    ];
    all.extend(match agent {
        Agent::Claude | Agent::ClaudeAcp => vec![
            ("ANTHROPIC_API_KEY", "dummy".into()),
            ("ANTHROPIC_BASE_URL", model.to_owned()),
            ("ANTHROPIC_MODEL", CLAUDE_MODEL.into()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".into()),
            ("CLAUDE_CODE_MAX_RETRIES", "1".into()),
            ("DISABLE_AUTOUPDATER", "1".into()),
            ("DISABLE_ERROR_REPORTING", "1".into()),
            ("DISABLE_TELEMETRY", "1".into()),
            // The scripted model calls tools by their names; newer versions hide those of tool servers behind a search.
            ("ENABLE_TOOL_SEARCH", "false".into()),
        ],
        Agent::Codex | Agent::CodexAcp => vec![
            ("CODEX_HOME", format!("{home}/.codex")),
            ("RUST_LOG", "error".into()),
            ("SCRIPTED_KEY", "dummy".into()),
        ],
        Agent::Gemini => vec![
            ("GEMINI_API_KEY", "dummy".into()),
            ("GEMINI_CLI_NO_RELAUNCH", "true".into()),
            ("GEMINI_CLI_TRUST_WORKSPACE", "true".into()),
            ("GOOGLE_GEMINI_BASE_URL", model.to_owned()),
        ],
        Agent::OpenCode => vec![
            ("OPENCODE_CONFIG_CONTENT", opencode_config(model, "ask").to_string()),
            ("OPENCODE_DISABLE_AUTOUPDATE", "1".into()),
            ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1".into()),
            ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1".into()),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1".into()),
            // It would install packages at its first start.
            ("npm_config_offline", "true".into()),
        ],
    });
    all
}

/// The content of `OPENCODE_CONFIG_CONTENT`: the URL of the model, and `ask`, `allow` or `deny` for every tool.
pub fn opencode_config(model: &str, permission: &str) -> Value {
    let scripted = json!({
        "npm": "@ai-sdk/openai-compatible",
        "name": "Scripted",
        "options": { "baseURL": format!("{model}/v1"), "apiKey": "dummy" },
        "models": {
            "scripted-1": {
                "name": "Scripted 1",
                "tool_call": true,
                "attachment": true,
                "modalities": { "input": ["text", "image"], "output": ["text"] },
                "limit": { "context": 100_000, "output": 8000 },
            },
        },
    });
    json!({
        "autoupdate": false,
        "share": "disabled",
        "model": "scripted/scripted-1",
        "small_model": "scripted/scripted-1",
        "permission": { "*": permission },
        "provider": { "scripted": scripted },
    })
}

fn codex_config(model: &str) -> String {
    format!(
        r#"model = "{CODEX_MODEL}"
model_provider = "scripted"
check_for_update_on_startup = false
approval_policy = "on-request"
sandbox_mode = "workspace-write"

[analytics]
enabled = false

[features]
apps = false
plugins = false
remote_plugin = false

[model_providers.scripted]
name = "scripted"
base_url = "{model}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 1
stream_max_retries = 1
"#
    )
}

fn gemini_settings() -> Value {
    json!({
        "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false, "maxAttempts": 1 },
        "privacy": { "usageStatisticsEnabled": false },
        "security": { "auth": { "selectedType": "gemini-api-key" } },
        "telemetry": { "enabled": false },
    })
}
