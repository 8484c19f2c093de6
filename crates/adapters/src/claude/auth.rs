//! Whether somebody is logged in, judged by the names of files and variables, never by their contents.

use std::collections::BTreeMap;
use std::path::PathBuf;

use roost_model::runtime::{AuthModel, AuthStatus};
use serde_json::{Map, Value};

/// The advice for people when a login is missing.
pub(super) const HOW_TO_LOG_IN: &str =
    "Log in with `claude auth login`, or set ANTHROPIC_API_KEY under [runtimes.claude.env] in roost.toml.";

/// Variables that replace a login: API keys, tokens, and the switches to a cloud provider.
const KEYS: [&str; 6] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_USE_VERTEX",
];

/// The folder of Claude Code's state: `CLAUDE_CONFIG_DIR`, else `~/.claude`.
pub(super) fn config_dir(env: &BTreeMap<String, String>) -> PathBuf {
    match env.get("CLAUDE_CONFIG_DIR").filter(|dir| !dir.is_empty()) {
        Some(dir) => dir.into(),
        None => home(env).join(".claude"),
    }
}

/// The user's home.
pub(super) fn home(env: &BTreeMap<String, String>) -> PathBuf {
    env.get("HOME").map_or("/", String::as_str).into()
}

/// The file in which Claude Code keeps its state, with what it knows of each project: beside `~/.claude`, or in
/// `CLAUDE_CONFIG_DIR`.
pub(super) fn state_file(env: &BTreeMap<String, String>) -> PathBuf {
    let dir = env.get("CLAUDE_CONFIG_DIR").filter(|dir| !dir.is_empty());
    dir.map_or_else(|| home(env), PathBuf::from).join(".claude.json")
}

/// Whether Claude Code has credentials on disk or a key in this environment.
pub(super) async fn status(env: &BTreeMap<String, String>) -> AuthStatus {
    let config = config_dir(env);
    let has_credentials = tokio::fs::try_exists(config.join(".credentials.json")).await.unwrap_or(false);
    let has_api_key = KEYS.iter().any(|key| env.get(*key).is_some_and(|value| !value.is_empty()));
    let details: [(&str, Value); 3] = [
        ("configDir", config.display().to_string().into()),
        ("hasCredentials", has_credentials.into()),
        ("hasApiKey", has_api_key.into()),
    ];
    AuthStatus {
        ok: true,
        logged_in: has_credentials || has_api_key,
        auth_model: AuthModel::Both,
        account_label: None,
        details: Some(details.map(|(name, value)| (name.to_owned(), value)).into_iter().collect::<Map<_, _>>()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_login_is_a_file_or_a_variable_and_its_value_is_not_told() {
        let home = tempfile::TempDir::new().unwrap();
        let mut env = BTreeMap::from([("HOME".to_owned(), home.path().display().to_string())]);
        assert!(!status(&env).await.logged_in);

        env.insert("ANTHROPIC_API_KEY".into(), "sk-very-secret".into());
        let keyed = status(&env).await;
        assert!(keyed.logged_in);
        assert!(!serde_json::to_string(&keyed).unwrap().contains("secret"));

        env.remove("ANTHROPIC_API_KEY");
        std::fs::create_dir(home.path().join(".claude")).unwrap();
        std::fs::write(home.path().join(".claude/.credentials.json"), "secret").unwrap();
        assert!(status(&env).await.logged_in);
        env.insert("CLAUDE_CONFIG_DIR".into(), "/nonexistent".into());
        assert!(!status(&env).await.logged_in);
    }
}
