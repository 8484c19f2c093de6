//! One row: a call, and what comes of it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::terminal::Terminal;

/// Values that earlier rows saved from their answers, by name.
pub(super) type Variables = BTreeMap<&'static str, Value>;

/// One call, and what comes of it.
pub(super) struct Row {
    /// A method, or the verb and the path of a route.
    pub(super) call: &'static str,
    pub(super) params: Value,
    /// What is done at the terminal before the call.
    pub(super) first: Option<fn(&Terminal)>,
    /// The event that the row waits for before its call.
    pub(super) once: Option<&'static str>,
    pub(super) outcome: Outcome,
    /// The events that are expected besides, in this order.
    pub(super) expects_event: Vec<(&'static str, Value)>,
    /// The variables that are saved from the answer, each with a JSON pointer.
    pub(super) saves: Vec<(&'static str, &'static str)>,
}

/// The expected outcome of a call.
pub(super) enum Outcome {
    /// An answer that holds this.
    Answer(Value),
    /// An answer that holds this, in a form of the route's own.
    Shaped(Value),
    /// An error with this word.
    Refusal(&'static str),
}

/// A call that is answered with this.
pub(super) fn gives(call: &'static str, params: Value, answer: Value) -> Row {
    Row {
        call,
        params,
        first: None,
        once: None,
        outcome: Outcome::Answer(answer),
        expects_event: Vec::new(),
        saves: Vec::new(),
    }
}

/// A call that is refused with this word.
pub(super) fn refuses(call: &'static str, params: Value, word: &'static str) -> Row {
    Row { outcome: Outcome::Refusal(word), ..gives(call, params, json!({})) }
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

    /// Expects this event.
    pub(super) fn expects_event(mut self, event: &'static str, params: Value) -> Self {
        self.expects_event.push((event, params));
        self
    }

    /// Saves what is at this JSON pointer of the answer under this name.
    pub(super) fn saves(mut self, name: &'static str, place: &'static str) -> Self {
        self.saves.push((name, place));
        self
    }

    /// The route answers in a form of its own.
    pub(super) fn shaped(mut self) -> Self {
        if let Outcome::Answer(answer) = self.outcome {
            self.outcome = Outcome::Shaped(answer);
        }
        self
    }
}

/// The value with its variables replaced.
pub(super) fn filled(value: &Value, variables: &Variables) -> Value {
    match value {
        Value::String(text) => {
            if let Some(whole) = text.strip_prefix('$').and_then(|name| variables.get(name)) {
                return whole.clone();
            }
            let mut text = text.clone();
            for (name, value) in variables.iter().rev() {
                text = text.replace(&format!("${name}"), value.as_str().unwrap_or_default());
            }
            json!(text)
        }
        Value::Array(items) => items.iter().map(|item| filled(item, variables)).collect(),
        Value::Object(fields) => fields.iter().map(|(name, field)| (name.clone(), filled(field, variables))).collect(),
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
    let variables = Variables::from([("id", json!("7")), ("home", json!("/h"))]);
    assert_eq!(filled(&json!({ "a": ["$id", "$home/x"] }), &variables), json!({ "a": ["7", "/h/x"] }));
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
