//! Settings that a paired device may choose for a session, because they run nothing, read no file and reach no other
//! machine.
//!
//! Each adapter lists those of its runtime; all other settings need the right to change the host.

use serde_json::{Map, Value};

/// The longest name, in bytes.
const NAME: usize = 128;
/// The biggest value of a [`Takes::Count`].
const COUNT: u64 = 1_000_000;

/// A setting of a runtime's own configuration that a device may choose.
#[derive(Clone, Copy, Debug)]
pub struct PlainSetting {
    /// The keys from the top of the runtime's settings down to it.
    pub path: &'static [&'static str],
    /// Which values a device may choose.
    pub takes: Takes,
}

/// The values that a device may choose for a setting.
#[derive(Clone, Copy, Debug)]
pub enum Takes {
    /// `true` or `false`.
    Flag,
    /// A whole number from 0 to a million.
    Count,
    /// A text that [`is_plain_name`] accepts.
    Name,
    /// Exactly one of these texts.
    OneOf(&'static [&'static str]),
}

impl Takes {
    fn accepts(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Flag, Value::Bool(_)) => true,
            (Self::Count, value) => value.as_u64().is_some_and(|count| count <= COUNT),
            (Self::Name, Value::String(name)) => is_plain_name(name),
            (Self::OneOf(words), Value::String(word)) => words.contains(&word.as_str()),
            _ => false,
        }
    }
}

/// Whether this can be the name of a model or the like: no space, no quote, and nothing that could be read as a command
/// option or as a path outside of its folder.
pub fn is_plain_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._:/@+-[]".contains(&byte);
    !name.is_empty()
        && name.len() <= NAME
        && name.bytes().all(is_plain)
        && !name.starts_with(['-', '.', '/', '@'])
        && !name.contains("..")
}

/// The first of these settings that is not listed or has a value that its entry does not accept, as `section.name`.
pub fn first_unlisted(listed: &[PlainSetting], settings: &Map<String, Value>) -> Option<String> {
    unlisted_below(listed, &mut Vec::new(), settings)
}

fn unlisted_below<'a>(
    listed: &[PlainSetting],
    above: &mut Vec<&'a str>,
    settings: &'a Map<String, Value>,
) -> Option<String> {
    settings.iter().find_map(|(name, value)| {
        above.push(name);
        let is_section = listed.iter().any(|one| one.path.len() > above.len() && one.path.starts_with(above));
        let unlisted = match (listed.iter().find(|one| one.path == above.as_slice()), value) {
            (Some(one), value) if one.takes.accepts(value) => None,
            (None, Value::Object(section)) if is_section => unlisted_below(listed, above, section),
            _ => Some(above.join(".")),
        };
        above.pop();
        unlisted
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const LISTED: &[PlainSetting] = &[
        PlainSetting { path: &["model", "name"], takes: Takes::Name },
        PlainSetting { path: &["effort"], takes: Takes::OneOf(&["low", "high"]) },
        PlainSetting { path: &["tips"], takes: Takes::Flag },
        PlainSetting { path: &["turns"], takes: Takes::Count },
    ];

    #[test]
    fn only_what_is_listed_with_a_value_of_its_kind_is_plain() {
        let cases = [
            (json!({}), None),
            (json!({ "model": { "name": "gemini-2.5-pro" }, "effort": "low", "tips": false, "turns": 3 }), None),
            (json!({ "effort": "low", "hooks": {} }), Some("hooks")),
            (json!({ "model": { "name": "a", "command": "sh" } }), Some("model.command")),
            (json!({ "model": "a" }), Some("model")),
            (json!({ "model.name": "a" }), Some("model.name")),
            (json!({ "effort": "enormous" }), Some("effort")),
            (json!({ "effort": { "low": 1 } }), Some("effort")),
            (json!({ "tips": "$(sh)" }), Some("tips")),
            (json!({ "turns": -1 }), Some("turns")),
        ];
        for (settings, expected) in cases {
            let found = first_unlisted(LISTED, settings.as_object().unwrap());
            assert_eq!(found.as_deref(), expected, "{settings}");
        }
    }

    #[test]
    fn the_names_of_models_are_plain_and_options_and_paths_are_not() {
        for name in ["opus", "claude-opus-4-5[1m]", "openai/gpt-5.1", "anthropic.claude:v1", "arn:aws:x/y", "a@b"] {
            assert!(is_plain_name(name), "{name}");
        }
        let long = "m".repeat(NAME + 1);
        for name in ["", "-p", "--settings", "/etc/passwd", "../x", "a/../../b", "a b", "a\nb", "$(x)", "\"", &long] {
            assert!(!is_plain_name(name), "{name}");
        }
    }
}
