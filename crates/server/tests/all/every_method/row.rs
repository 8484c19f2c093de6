//! One row: a call, and what comes of it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::terminal::Terminal;

/// What earlier rows kept.
pub(super) type Kept = BTreeMap<&'static str, Value>;

/// One call, and what comes of it.
pub(super) struct Row {
    /// A method, or the verb and the path of a route.
    pub(super) call: &'static str,
    pub(super) params: Value,
    /// What somebody does at the terminal before.
    pub(super) first: Option<fn(&Terminal)>,
    /// The event that comes before.
    pub(super) once: Option<&'static str>,
    pub(super) comes: Comes,
    /// What comes of it in events besides, in this order.
    pub(super) tells: Vec<(&'static str, Value)>,
    /// The names of what is kept of the answer, by where it is.
    pub(super) keeps: Vec<(&'static str, &'static str)>,
}

/// What comes of a call.
pub(super) enum Comes {
    /// An answer that holds this.
    Answer(Value),
    /// An answer that holds this, in a form of the route's own.
    Shaped(Value),
    /// An error with this word.
    Refusal(&'static str),
}

/// A call that is answered with this.
pub(super) fn gives(call: &'static str, params: Value, answer: Value) -> Row {
    Row { call, params, first: None, once: None, comes: Comes::Answer(answer), tells: Vec::new(), keeps: Vec::new() }
}

/// A call that is refused with this word.
pub(super) fn refuses(call: &'static str, params: Value, word: &'static str) -> Row {
    Row { comes: Comes::Refusal(word), ..gives(call, params, json!({})) }
}

impl Row {
    /// Somebody does something at the terminal before.
    pub(super) fn first(self, first: fn(&Terminal)) -> Self {
        Self { first: Some(first), ..self }
    }

    /// It is called once this event came.
    pub(super) fn once(self, event: &'static str) -> Self {
        Self { once: Some(event), ..self }
    }

    /// This event comes of it.
    pub(super) fn tells(mut self, event: &'static str, params: Value) -> Self {
        self.tells.push((event, params));
        self
    }

    /// What is at this place of the answer is kept under this name.
    pub(super) fn keeps(mut self, name: &'static str, place: &'static str) -> Self {
        self.keeps.push((name, place));
        self
    }

    /// The route answers in a form of its own.
    pub(super) fn shaped(mut self) -> Self {
        if let Comes::Answer(answer) = self.comes {
            self.comes = Comes::Shaped(answer);
        }
        self
    }
}

/// The same with what was kept in place of its names.
pub(super) fn filled(value: &Value, kept: &Kept) -> Value {
    match value {
        Value::String(text) => {
            if let Some(whole) = text.strip_prefix('$').and_then(|name| kept.get(name)) {
                return whole.clone();
            }
            let mut text = text.clone();
            for (name, value) in kept.iter().rev() {
                text = text.replace(&format!("${name}"), value.as_str().unwrap_or_default());
            }
            json!(text)
        }
        Value::Array(items) => items.iter().map(|item| filled(item, kept)).collect(),
        Value::Object(fields) => fields.iter().map(|(name, field)| (name.clone(), filled(field, kept))).collect(),
        other => other.clone(),
    }
}

/// Whether something holds what is expected; if not, where it does not.
pub(super) fn holds(found: &Value, expected: &Value, at: &str) -> Result<(), String> {
    let fits = match (expected, found) {
        (Value::String(any), found) if any == "*" => !found.is_null(),
        (Value::String(part), Value::String(text)) if part.starts_with('~') => text.contains(&part[1..]),
        (Value::Array(expected), Value::Array(items)) if expected.len() == items.len() => {
            let mut all = expected.iter().zip(items).enumerate();
            return all.try_for_each(|(place, (expected, item))| holds(item, expected, &format!("{at}/{place}")));
        }
        (Value::Object(expected), Value::Object(fields)) => {
            return expected.iter().try_for_each(|(name, expected)| {
                holds(fields.get(name).unwrap_or(&Value::Null), expected, &format!("{at}/{name}"))
            });
        }
        (expected, found) => expected == found,
    };
    if fits { Ok(()) } else { Err(format!("{at} is {found} and not {expected}")) }
}

#[test]
fn a_row_is_held_against_what_was_found() {
    let kept = Kept::from([("id", json!("7")), ("home", json!("/h"))]);
    assert_eq!(filled(&json!({ "a": ["$id", "$home/x"] }), &kept), json!({ "a": ["7", "/h/x"] }));
    let found = json!({ "a": [{ "b": 1, "c": "long text" }], "d": {} });
    for (expected, fits) in [
        (json!({}), true),
        (json!({ "a": [{ "b": 1 }], "d": "*" }), true),
        (json!({ "a": [{ "c": "~g t" }] }), true),
        (json!({ "a": [] }), false),
        (json!({ "a": [{ "c": "~nothing" }] }), false),
        (json!({ "e": "*" }), false),
    ] {
        assert_eq!(holds(&found, &expected, "").is_ok(), fits, "{expected}");
    }
}
