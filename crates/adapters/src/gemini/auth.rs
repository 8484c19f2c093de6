//! Whether somebody is logged in, judged by the names of files and variables, never by their contents.

use std::collections::BTreeMap;
use std::path::PathBuf;

use roost_model::runtime::{AuthModel, AuthStatus};
use serde_json::json;

use super::home;

/// The advice for people when a login is missing.
pub(super) const HOW_TO_LOG_IN: &str = "Start `gemini` in a terminal and log in there, or set GEMINI_API_KEY (for a \
                                        gateway GOOGLE_GEMINI_BASE_URL) under [runtimes.gemini.env] in roost.toml.";

/// Variables that hold an API key.
const KEYS: [&str; 2] = ["GEMINI_API_KEY", "GOOGLE_API_KEY"];

/// The folder of Gemini's state: `.gemini` in `GEMINI_CLI_HOME`, else in `HOME`.
pub(super) fn home(env: &BTreeMap<String, String>) -> PathBuf {
    let given = [home::VARIABLE, "HOME"].iter().find_map(|name| env.get(*name).filter(|home| !home.is_empty()));
    PathBuf::from(given.map_or("/", String::as_str)).join(home::FOLDER)
}

/// Whether the settings must select the login by API key: there is a key, and no gateway, which works without that.
pub(super) fn needs_type(env: &[(String, String)]) -> bool {
    let is_set = |wanted: &str| env.iter().any(|(name, value)| name == wanted && !value.is_empty());
    is_set("GEMINI_API_KEY") && !is_set("GOOGLE_GEMINI_BASE_URL")
}

/// Whether Gemini has an OAuth login on disk or an API key in this environment.
pub(super) async fn status(env: &BTreeMap<String, String>) -> AuthStatus {
    let home = home(env);
    let has_oauth = tokio::fs::try_exists(home.join("oauth_creds.json")).await.unwrap_or(false);
    let has_key = KEYS.iter().any(|key| env.get(*key).is_some_and(|value| !value.is_empty()));
    let details = json!({ "configDir": home.display().to_string(), "hasApiKey": has_key, "hasOauth": has_oauth });
    AuthStatus {
        ok: true,
        logged_in: has_key || has_oauth,
        auth_model: AuthModel::Both,
        account_label: None,
        details: details.as_object().cloned(),
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

        env.insert("GEMINI_API_KEY".into(), "very-secret".into());
        let keyed = status(&env).await;
        assert!(keyed.logged_in && !serde_json::to_string(&keyed).unwrap().contains("secret"));

        env.remove("GEMINI_API_KEY");
        std::fs::create_dir(home.path().join(".gemini")).unwrap();
        std::fs::write(home.path().join(".gemini/oauth_creds.json"), "secret").unwrap();
        assert!(status(&env).await.logged_in);
        env.insert("GEMINI_CLI_HOME".into(), "/nonexistent".into());
        assert!(!status(&env).await.logged_in);
    }
}
