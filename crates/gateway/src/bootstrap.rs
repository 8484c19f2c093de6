//! Registers the gateway in other programs: which file each of them reads, and what has to stand there.
//!
//! Decisions:
//! * Over stdio a program starts `roost gateway serve --stdio`, which needs no token: the local socket knows its user.
//! * Over HTTP the file names a variable and never holds a token. A program whose settings cannot name one is refused.
//! * A file that cannot be read safely is refused and left as it is; everything else in a file stays.

mod agents_md;
mod change;
mod client_program;

use std::path::PathBuf;

use roost_settings::SettingsChange;
use serde_json::Value;

pub use agents_md::{add_guidance, remove_guidance};
pub use change::{Bootstrap, Carry, FileOutcome};
pub use client_program::ClientProgram;

/// The name under which programs know the gateway.
pub const NAME: &str = "roost";
/// The name that clarity-runtime gave it, which is found and removed, too.
pub const FORMER_NAME: &str = "clarity_gateway";
/// The variable that has the token of a program that comes over HTTP.
pub const TOKEN_VARIABLE: &str = "ROOST_TOKEN";

/// How a program reaches the gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It starts a program that speaks MCP on its standard input and output.
    Stdio {
        /// A path, or a name in `PATH`.
        command: String,
        /// None of them is read by a shell.
        args: Vec<String>,
    },
    /// It sends requests to this address.
    Http {
        /// With its path, such as `http://127.0.0.1:8766/mcp`.
        endpoint: String,
    },
}

/// The folders in which programs keep their settings.
#[derive(Clone, Debug)]
pub struct SettingsFolders {
    /// The user's home.
    pub home: PathBuf,
    /// The folder of settings below it, usually `~/.config`.
    pub config: PathBuf,
    /// Codex's own folder, if it is not `~/.codex`.
    pub codex: Option<PathBuf>,
    /// Claude Code's own folder, if `CLAUDE_CONFIG_DIR` names one.
    pub claude: Option<PathBuf>,
}

/// What a program's settings say about the gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// The settings file, whether it exists or not.
    pub file: PathBuf,
    /// Whether the file exists.
    pub exists: bool,
    /// How the program reaches the gateway, if it knows it.
    pub reach: Option<Reach>,
}

/// Why a program's settings cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BootstrapError {
    /// The settings cannot be read or changed.
    #[error("{file}: {reason}; the file is as it was")]
    File {
        /// The settings file.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The settings cannot name a variable, and a token never stands in a file.
    #[error("{0} cannot read a token from a variable; register it with the transport stdio")]
    NoVariables(&'static str),
}

impl ClientProgram {
    /// The change that registers the gateway; empty if it is registered just so.
    pub fn register(self, folders: &SettingsFolders, reach: &Reach) -> Result<SettingsChange, BootstrapError> {
        let entry = self.entry(reach)?;
        self.plan(folders, |text| {
            let text = self.without(text, FORMER_NAME)?;
            self.with(&text, &entry)
        })
    }

    /// The change that removes the gateway, also under its former name; empty if it is not there. If nothing else was changed
    /// since it was registered, the file will be as it was before, byte for byte.
    pub fn unregister(self, folders: &SettingsFolders) -> Result<SettingsChange, BootstrapError> {
        let change = self.plan(folders, |text| self.without(&self.without(text, FORMER_NAME)?, NAME))?;
        let original = change.before().and_then(|now| {
            let entry = self.found(now, NAME).ok()??;
            change.backups().find(|backup| self.became(backup, &entry, now))
        });
        Ok(match original {
            Some(original) => change.with_after(original),
            None => change,
        })
    }

    /// Whether this text became that one by being given the entry, and had no registration before.
    fn became(self, before: &str, entry: &Value, now: &str) -> bool {
        let has_none = [FORMER_NAME, NAME].iter().all(|name| matches!(self.found(before, name), Ok(None)));
        has_none && self.with(before, entry).is_ok_and(|after| after == now)
    }

    /// What the program's settings say about the gateway.
    pub fn registration(self, folders: &SettingsFolders) -> Result<Registration, BootstrapError> {
        let mut reach = None;
        let change = self.plan(folders, |text| {
            for name in [FORMER_NAME, NAME] {
                reach = self.found(text, name)?.as_ref().and_then(read_entry).or(reach.take());
            }
            Ok(text.to_owned())
        })?;
        Ok(Registration { file: change.file().to_owned(), exists: change.before().is_some(), reach })
    }

    fn plan(
        self,
        folders: &SettingsFolders,
        edit: impl FnOnce(&str) -> Result<String, String>,
    ) -> Result<SettingsChange, BootstrapError> {
        let file = self.file(folders);
        let failed = |reason| BootstrapError::File { file: file.display().to_string(), reason };
        SettingsChange::plan(&file, edit).map_err(failed)
    }
}

/// How an entry of any program's settings reaches a server.
fn read_entry(entry: &Value) -> Option<Reach> {
    let text = |name: &str| entry.get(name).and_then(Value::as_str).map(ToOwned::to_owned);
    if let Some(endpoint) = text("url").or_else(|| text("httpUrl")) {
        return Some(Reach::Http { endpoint });
    }
    let words = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(Value::as_str).map(ToOwned::to_owned).collect()
    };
    match entry.get("command")? {
        Value::String(command) => {
            Some(Reach::Stdio { command: command.clone(), args: entry.get("args").map(words).unwrap_or_default() })
        }
        line => {
            let mut words = words(line).into_iter();
            Some(Reach::Stdio { command: words.next()?, args: words.collect() })
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    fn folders(home: &TempDir) -> SettingsFolders {
        let home = home.path().to_owned();
        SettingsFolders { config: home.join(".config"), home, codex: None, claude: None }
    }

    fn stdio() -> Reach {
        Reach::Stdio { command: "/opt/roost".into(), args: ["gateway", "serve", "--stdio"].map(Into::into).to_vec() }
    }

    fn http() -> Reach {
        Reach::Http { endpoint: "http://127.0.0.1:8766/mcp".into() }
    }

    #[test]
    fn every_program_is_told_in_its_own_words() {
        for client in ClientProgram::ALL {
            let home = TempDir::new().unwrap();
            for (kind, reach) in [("stdio", stdio()), ("http", http())] {
                let told = match client.register(&folders(&home), &reach) {
                    Ok(change) => change.after().to_owned(),
                    Err(error) => error.to_string(),
                };
                insta::assert_snapshot!(format!("{}_{kind}", client.id()), told);
            }
        }
    }

    #[test]
    fn a_registration_is_found_changed_and_removed_without_a_trace() {
        for client in ClientProgram::ALL {
            let servers = client.servers();
            let texts = match client {
                ClientProgram::Codex => {
                    vec!["# mine\nmodel = \"x\"\n".to_owned(), "[mcp_servers]\n".into(), String::new()]
                }
                _ => vec![
                    "{\n  \"mine\": 1\n}\n".to_owned(),
                    "{\"mine\":1}".into(),
                    format!("{{\n\t\"{servers}\": {{}},\n\t\"mine\": 1\n}}"),
                    format!("{{ \"{servers}\": {{ \"other\": {{ \"url\": \"http://x\" }} }} }}\n"),
                    "{}".into(),
                ],
            };
            for before in texts {
                let home = TempDir::new().unwrap();
                let folders = folders(&home);
                let file = client.file(&folders);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(&file, &before).unwrap();
                assert_eq!(client.registration(&folders).unwrap().reach, None);
                for _ in 0..2 {
                    client.register(&folders, &stdio()).unwrap().write().unwrap();
                    assert_eq!(client.registration(&folders).unwrap().reach, Some(stdio()), "{}", client.id());
                    assert!(client.register(&folders, &stdio()).unwrap().is_empty(), "a second time changes nothing");
                    client.unregister(&folders).unwrap().write().unwrap();
                    let after = client.registration(&folders).unwrap();
                    assert_eq!((after.exists, after.reach), (true, None));
                    assert_eq!(fs::read_to_string(&file).unwrap(), before, "{}", client.id());
                }
                client.register(&folders, &stdio()).unwrap().write().unwrap();
                if let Ok(change) = client.register(&folders, &http()) {
                    change.write().unwrap();
                    assert_eq!(client.registration(&folders).unwrap().reach, Some(http()), "{}", client.id());
                }
                client.unregister(&folders).unwrap().write().unwrap();
                assert_eq!(client.registration(&folders).unwrap().reach, None);
            }
        }
    }

    #[test]
    fn what_was_changed_since_the_registration_stays() {
        let home = TempDir::new().unwrap();
        let folders = folders(&home);
        let file = ClientProgram::Claude.file(&folders);
        fs::write(&file, "{\"mine\": 1}").unwrap();
        ClientProgram::Claude.register(&folders, &stdio()).unwrap().write().unwrap();
        let registered = fs::read_to_string(&file).unwrap();
        fs::write(&file, registered.replace("\"mine\": 1", "\"mine\": 2")).unwrap();
        ClientProgram::Claude.unregister(&folders).unwrap().write().unwrap();
        let after: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        assert_eq!(after, serde_json::json!({ "mine": 2 }));
    }

    #[test]
    fn the_registration_of_clarity_runtime_is_replaced() {
        let home = TempDir::new().unwrap();
        let folders = folders(&home);
        fs::create_dir_all(home.path().join(".codex")).unwrap();
        let codex = home.path().join(".codex/config.toml");
        fs::write(&codex, "[mcp_servers.clarity_gateway]\nurl = \"http://localhost:4707/mcp\"\n").unwrap();
        let found = ClientProgram::Codex.registration(&folders).unwrap().reach;
        assert_eq!(found, Some(Reach::Http { endpoint: "http://localhost:4707/mcp".into() }));
        let change = ClientProgram::Codex.register(&folders, &stdio()).unwrap();
        assert!(!change.after().contains(FORMER_NAME), "{}", change.after());
    }

    #[test]
    fn a_file_that_cannot_be_read_is_refused_and_left_alone() {
        for client in ClientProgram::ALL {
            let home = TempDir::new().unwrap();
            let folders = folders(&home);
            let file = client.file(&folders);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            for broken in ["{ \"mcpServers\": ", "= 1", "\u{0}"] {
                fs::write(&file, broken).unwrap();
                for refused in [client.register(&folders, &stdio()), client.unregister(&folders)] {
                    assert!(matches!(refused, Err(BootstrapError::File { .. })), "{} {broken:?}", client.id());
                }
                assert_eq!(fs::read_to_string(&file).unwrap(), broken);
            }
        }
    }
}
