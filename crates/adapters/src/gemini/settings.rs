//! Merges the Gemini settings of a session.

use roost_engine::adapter::AdapterError;
use serde_json::{Map, Value};

use crate::layers::merge;

/// JSON pointers to settings that would let Gemini run tools without asking the host.
const UNSEEN: [&str; 3] = ["/general/defaultApprovalMode", "/tools/allowed", "/tools/autoAccept"];

/// The runtime's settings with the session's over them; an error if one of them decides about tool calls.
pub(super) fn settings(
    runtime: &Map<String, Value>,
    session: Option<&Map<String, Value>>,
) -> Result<Map<String, Value>, AdapterError> {
    let document = Value::Object(merge(runtime, session));
    if let Some(name) = UNSEEN.iter().find(|name| document.pointer(name).is_some()) {
        let name = name.trim_start_matches('/').replace('/', ".");
        return Err(AdapterError::Spawn(format!(
            "`{name}` cannot be set in Gemini's config: Roost decides about tool calls; choose the session's mode instead"
        )));
    }
    let Value::Object(merged) = document else { return Ok(Map::new()) };
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn a_session_has_the_last_word_but_not_about_who_is_asked() {
        let runtime = map(json!({ "general": { "maxAttempts": 1, "vimMode": true }, "model": { "name": "a" } }));
        let merged = settings(&runtime, Some(&map(json!({ "general": { "maxAttempts": 2 }, "ui": {} })))).unwrap();
        let expected = json!({ "general": { "maxAttempts": 2, "vimMode": true }, "model": { "name": "a" }, "ui": {} });
        assert_eq!(merged, map(expected));
        let error = settings(&runtime, Some(&map(json!({ "tools": { "allowed": ["x"] } })))).unwrap_err();
        assert!(error.to_string().contains("`tools.allowed`"), "{error}");
    }
}
