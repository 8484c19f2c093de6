//! The model provider that Codex's settings name, and whether it needs a login.

use serde_json::{Map, Value};

/// Providers that are built into Codex and run on the user's machine.
const LOCAL_PROVIDERS: [&str; 3] = ["ollama", "ollama-chat", "lmstudio"];

/// Whether Codex needs a login with these settings over its own `config.toml` (`file`). True for the default provider.
/// `is_set` says whether an environment variable is set.
pub(super) fn needs_login(settings: &Map<String, Value>, file: &str, is_set: impl Fn(&str) -> bool) -> bool {
    let file = toml::from_str::<Map<String, Value>>(file).unwrap_or_default();
    let found = |name: &str| [settings, &file].into_iter().find_map(|all| find_setting(all, name));
    let Some(provider) = found("model_provider").and_then(|name| Some(name.as_str()?.to_owned())) else { return true };
    match found(&format!("model_providers.{provider}")) {
        None => !LOCAL_PROVIDERS.contains(&provider.as_str()),
        Some(own) if own.get("requires_openai_auth").is_some_and(|value| *value == Value::Bool(true)) => true,
        Some(own) => own.get("env_key").and_then(Value::as_str).is_some_and(|key| !is_set(key)),
    }
}

/// Finds a setting by its dotted name, whether the settings nest it or spell the dots out.
fn find_setting(settings: &Map<String, Value>, name: &str) -> Option<Value> {
    if let Some(value) = settings.get(name) {
        return Some(value.clone());
    }
    name.match_indices('.')
        .find_map(|(dot, _)| find_setting(settings.get(&name[..dot])?.as_object()?, &name[dot + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_provider_of_ones_own_needs_no_login_if_its_key_is_there() {
        let own = "model_provider = 'own'\n[model_providers.own]\nenv_key = 'OWN_KEY'\n";
        let table = [
            (json!({}), "", true),
            (json!({}), own, false),
            (json!({}), "model_provider = 'own'\n[model_providers.own]\nenv_key = 'OTHER'\n", true),
            (json!({}), "model_provider = 'own'\n[model_providers.own]\nbase_url = 'x'\n", false),
            (json!({}), "model_provider = 'own'\n[model_providers.own]\nrequires_openai_auth = true\n", true),
            (json!({ "model_provider": "openai" }), own, true),
            (json!({ "model_provider": "ollama" }), "", false),
            (json!({ "model_provider": "a", "model_providers.a": { "env_key": "OWN_KEY" } }), "", false),
            (json!({ "model_provider": "a", "model_providers": { "a": { "base_url": "x" } } }), "", false),
            (json!({}), "not toml", true),
        ];
        for (settings, file, expected) in table {
            let needs = needs_login(settings.as_object().unwrap(), file, |name| name == "OWN_KEY");
            assert_eq!(needs, expected, "{settings} {file}");
        }
    }
}
