//! Every key, as the types have it: the one list behind the environment variables and the reference.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::sections::Config;

/// A key of `roost.toml` that takes one value.
pub(super) struct Key {
    /// The section that it is in; `None` at the top level.
    pub(super) section: Option<String>,
    /// The name within the section.
    pub(super) name: String,
    /// The JSON schema of its value, with description and default.
    pub(super) schema: Value,
}

impl Key {
    /// The environment variable that sets it: `ROOST_`, the section and the name.
    pub(super) fn variable(&self) -> String {
        let path = self.section.iter().chain([&self.name]).map(|part| part.to_uppercase());
        format!("ROOST_{}", path.collect::<Vec<_>>().join("_"))
    }

    /// Converts the text of a variable: strings need no quotes, and lists may be separated by commas.
    pub(super) fn value(&self, text: &str) -> toml::Value {
        if is_text(&self.schema) {
            text.into()
        } else if is_text(&self.schema["items"]) && !text.starts_with('[') {
            text.split(',').map(|part| part.trim().to_owned()).collect::<Vec<_>>().into()
        } else {
            // What is no JSON stays text, for the type to say what it expected.
            serde_json::from_str(text).unwrap_or_else(|_| text.into())
        }
    }
}

/// Whether a value of this schema is written without quotes.
fn is_text(schema: &Value) -> bool {
    let any = |name: &str| schema[name].as_array().into_iter().flatten();
    let is_string = |kind: &Value| kind == "string";
    is_string(&schema["type"]) || any("type").any(is_string) || any("anyOf").chain(any("oneOf")).any(is_text)
}

/// Every key that one value can be given for.
pub(super) fn keys() -> Vec<Key> {
    let key = |section: Option<&str>, (name, schema): (&String, &Value)| Key {
        section: section.map(Into::into),
        name: name.clone(),
        schema: schema.clone(),
    };
    let mut keys = Vec::new();
    for (name, schema) in &properties(&schema()) {
        match properties(schema) {
            inner if inner.is_empty() => keys.push(key(None, (name, schema))),
            inner => keys.extend(inner.iter().map(|entry| key(Some(name), entry))),
        }
    }
    keys
}

/// The schema of the whole configuration, without references.
pub(super) fn schema() -> Value {
    let generator = SchemaSettings::default().with(|settings| settings.inline_subschemas = true).into_generator();
    generator.into_root_schema_for::<Config>().to_value()
}

/// The keys of a table.
pub(super) fn properties(schema: &Value) -> Map<String, Value> {
    schema["properties"].as_object().cloned().unwrap_or_default()
}
