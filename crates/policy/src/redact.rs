//! Secrets taken out of texts and JSON before they leave the machine.
//!
//! Three passes over a text, each linear in its length: values that are recognised by their shape (`sk-…`, `ghp_…`,
//! private keys), then values that follow the name of a secret (`password=…`, `"access_token": "…"`, `Authorization:
//! …`), then values that follow an option (`-u me:hunter2`). Redacting a redacted text changes nothing.

mod named;
mod options;
mod shaped;

use std::borrow::Cow;

use serde_json::{Map, Value};

pub use named::is_secret_name;

/// The text that replaces a secret.
pub const REDACTED: &str = "[redacted]";

/// The text without its secrets.
///
/// ```
/// use roost_policy::redact;
///
/// assert_eq!(redact("curl -H 'Authorization: Bearer abc123def456'"), "curl -H 'Authorization: [redacted]'");
/// assert_eq!(redact("max_tokens=4096"), "max_tokens=4096");
/// ```
pub fn redact(text: &str) -> Cow<'_, str> {
    let passes: [fn(&str) -> Cow<'_, str>; 3] = [shaped::redact, named::redact, options::redact];
    passes.into_iter().fold(Cow::Borrowed(text), |text, pass| match text {
        Cow::Borrowed(text) => pass(text),
        Cow::Owned(text) => Cow::Owned(pass(&text).into_owned()),
    })
}

/// The value without its secrets; everything below a field that is named like a secret counts as one.
pub fn redact_json(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(redact(text).into_owned()),
        Value::Array(items) => {
            let secrets = options::secrets_of_list(items);
            items
                .iter()
                .zip(secrets)
                .map(|(item, is_secret)| if is_secret { blank(item) } else { redact_json(item) })
                .collect()
        }
        Value::Object(fields) => {
            // Headers and variables are often written as `{"name": …, "value": …}`.
            let named = ["name", "key"].iter().filter_map(|field| fields.get(*field)?.as_str()).any(is_secret_name);
            let clean = |(name, value): (&String, &Value)| {
                let secret = is_secret_name(name) || (named && name == "value");
                let value = if secret { blank(value) } else { redact_json(value) };
                (redact(name).into_owned(), value)
            };
            fields.iter().map(clean).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Fields below which everything may be a secret, whatever it is called.
const OPAQUE: [&str; 4] = ["env", "environment", "headers", "http_headers"];

/// A runtime's settings without their secrets: variables and headers count as such, whatever they are called.
pub fn redact_settings(settings: &Map<String, Value>) -> Map<String, Value> {
    let clean = |(name, value): (&String, &Value)| {
        let is_opaque = OPAQUE.contains(&name.rsplit('.').next().unwrap_or(name)) || is_secret_name(name);
        let value = match value {
            _ if is_opaque => blank(value),
            Value::Object(fields) => Value::Object(redact_settings(fields)),
            Value::Array(items) => items.iter().map(redact_item).collect(),
            other => redact_json(other),
        };
        (redact(name).into_owned(), value)
    };
    settings.iter().map(clean).collect()
}

fn redact_item(value: &Value) -> Value {
    match redact_json(value) {
        Value::Object(fields) => Value::Object(redact_settings(&fields)),
        other => other,
    }
}

fn blank(value: &Value) -> Value {
    match value {
        Value::Null | Value::Bool(_) => value.clone(),
        Value::String(text) if text.is_empty() => value.clone(),
        Value::String(_) | Value::Number(_) => Value::String(REDACTED.to_owned()),
        Value::Array(items) => items.iter().map(blank).collect(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (redact(name).into_owned(), blank(value))).collect(),
    }
}
