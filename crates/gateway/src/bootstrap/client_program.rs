//! The programs that can use the gateway: their settings files, and how an MCP server is written there.

use std::path::PathBuf;

use roost_settings::{json, toml};
use serde_json::{Value, json};

use super::{BootstrapError, NAME, Reach, SettingsFolders, TOKEN_VARIABLE};

/// A program that can use the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClientProgram {
    /// The Codex of OpenAI, whose settings are TOML.
    Codex,
    /// Anthropic's Claude Code.
    Claude,
    /// Google's Gemini CLI.
    Gemini,
    /// The agent of opencode.ai, whose settings may be JSON with comments.
    Opencode,
    /// The editor of Zed Industries.
    Zed,
    /// The editor of Anysphere.
    Cursor,
    /// Microsoft's Visual Studio Code.
    Vscode,
}

impl ClientProgram {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 7] =
        [Self::Codex, Self::Claude, Self::Gemini, Self::Opencode, Self::Zed, Self::Cursor, Self::Vscode];

    /// The name by which commands and requests call it.
    pub fn id(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Claude => "claude",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Zed => "zed",
            Self::Cursor => "cursor",
            Self::Vscode => "vscode",
        }
    }

    /// The program that this name calls.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.id() == id)
    }

    /// The settings file that it reads for every project.
    pub fn file(self, folders: &SettingsFolders) -> PathBuf {
        let SettingsFolders { home, config, codex, claude } = folders;
        match self {
            Self::Codex => codex.clone().unwrap_or_else(|| home.join(".codex")).join("config.toml"),
            Self::Claude => claude.as_ref().unwrap_or(home).join(".claude.json"),
            Self::Gemini => home.join(".gemini/settings.json"),
            Self::Opencode => {
                let commented = config.join("opencode/opencode.jsonc");
                if commented.exists() { commented } else { config.join("opencode/opencode.json") }
            }
            Self::Zed => config.join("zed/settings.json"),
            Self::Cursor => home.join(".cursor/mcp.json"),
            Self::Vscode => config.join("Code/User/mcp.json"),
        }
    }

    /// The table or object that has the servers by name.
    pub(super) fn servers(self) -> &'static str {
        match self {
            Self::Codex => "mcp_servers",
            Self::Claude | Self::Gemini | Self::Cursor => "mcpServers",
            Self::Opencode => "mcp",
            Self::Zed => "context_servers",
            Self::Vscode => "servers",
        }
    }

    /// How its settings say that a value is in a variable; `None` if they cannot.
    fn variable(self) -> Option<String> {
        match self {
            // It has a key of its own for the name of the variable.
            Self::Codex => Some(TOKEN_VARIABLE.into()),
            Self::Claude | Self::Gemini => Some(format!("${{{TOKEN_VARIABLE}}}")),
            Self::Opencode => Some(format!("{{env:{TOKEN_VARIABLE}}}")),
            Self::Cursor | Self::Vscode => Some(format!("${{env:{TOKEN_VARIABLE}}}")),
            Self::Zed => None,
        }
    }

    /// The entry of the gateway.
    pub(super) fn entry(self, reach: &Reach) -> Result<Value, BootstrapError> {
        let endpoint = match reach {
            Reach::Stdio { command, args } => {
                let line: Vec<_> = [command].into_iter().chain(args).collect();
                return Ok(match self {
                    Self::Codex | Self::Gemini | Self::Cursor => json!({ "command": command, "args": args }),
                    Self::Claude | Self::Vscode => json!({ "type": "stdio", "command": command, "args": args }),
                    Self::Opencode => json!({ "type": "local", "command": line, "enabled": true }),
                    Self::Zed => json!({ "source": "custom", "command": command, "args": args }),
                });
            }
            Reach::Http { endpoint } => endpoint,
        };
        let variable = self.variable().ok_or(BootstrapError::NoVariables(self.id()))?;
        let headers = json!({ "Authorization": format!("Bearer {variable}") });
        Ok(match self {
            Self::Codex => json!({ "url": endpoint, "bearer_token_env_var": variable }),
            Self::Claude | Self::Vscode => json!({ "type": "http", "url": endpoint, "headers": headers }),
            Self::Gemini => json!({ "httpUrl": endpoint, "headers": headers }),
            Self::Opencode => {
                json!({ "type": "remote", "url": endpoint, "headers": headers, "oauth": false, "enabled": true })
            }
            Self::Cursor | Self::Zed => json!({ "url": endpoint, "headers": headers }),
        })
    }

    /// The settings with this entry.
    pub(super) fn with(self, text: &str, entry: &Value) -> Result<String, String> {
        let path = [self.servers(), NAME];
        match (self, entry) {
            (Self::Codex, Value::Object(members)) => toml::set(text, &path, members),
            _ => json::set(text, &path, entry),
        }
    }

    /// The settings without the server of this name, and without the object of servers if it was the last one.
    pub(super) fn without(self, text: &str, name: &str) -> Result<String, String> {
        let path = [self.servers(), name];
        if self == Self::Codex {
            return toml::remove(text, &path);
        }
        if json::get(text, &path)?.is_none() {
            return Ok(text.to_owned());
        }
        let rest = json::remove(text, &path)?;
        match json::get(&rest, &path[..1])? {
            Some(Value::Object(servers)) if servers.is_empty() => json::remove(&rest, &path[..1]),
            _ => Ok(rest),
        }
    }

    /// The entry of this name, if there is one.
    pub(super) fn found(self, text: &str, name: &str) -> Result<Option<Value>, String> {
        let path = [self.servers(), name];
        match self {
            Self::Codex => Ok(toml::get(text, &path)?.map(Value::Object)),
            _ => json::get(text, &path),
        }
    }
}
