//! Numbers in JSON and the schemas of values, the same for every ABI.
//!
//! JSON readers that keep numbers as doubles lose integers beyond 2^53, and JSON has no NaN and no infinity: such values
//! pass as strings, in both directions.

use serde_json::{Map, Value, json};

/// The largest integer that every JSON reader keeps.
const MAX_SAFE: u64 = (1 << 53) - 1;

/// The schema of an integer that every JSON reader keeps.
pub(crate) fn integer(min: i64, max: i64) -> Value {
    json!({ "type": "integer", "minimum": min, "maximum": max })
}

/// The schema of an integer of 64 bits: a number, or its decimal digits as a string.
pub(crate) fn wide_integer(signed: bool) -> Value {
    let pattern = if signed { "^-?[0-9]{1,19}$" } else { "^[0-9]{1,20}$" };
    let minimum = if signed { json!(i64::MIN) } else { json!(0) };
    let maximum = if signed { json!(i64::MAX) } else { json!(u64::MAX) };
    json!({ "anyOf": [
        { "type": "integer", "minimum": minimum, "maximum": maximum },
        { "type": "string", "pattern": pattern },
    ] })
}

/// The schema of a floating point number.
pub(crate) fn float() -> Value {
    json!({ "anyOf": [{ "type": "number" }, { "enum": ["NaN", "Infinity", "-Infinity"] }] })
}

/// The schema of an object with these properties and no others.
pub(crate) fn object(properties: Map<String, Value>, required: Vec<String>) -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), properties.into());
    if !required.is_empty() {
        schema.insert("required".into(), required.into());
    }
    schema.insert("additionalProperties".into(), false.into());
    schema
}

/// An integer of 64 bits: from a number without a fraction, or from its decimal digits.
pub(crate) fn read_integer(value: &Value) -> Result<i128, String> {
    let wrong = || format!("expected an integer, not {}", brief(value));
    match value {
        Value::Number(number) => {
            if let Some(whole) = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from)) {
                return Ok(whole);
            }
            match number.as_f64() {
                Some(float) if float.fract() == 0.0 && float.abs() <= MAX_SAFE as f64 => Ok(float as i128),
                Some(float) if float.fract() == 0.0 => {
                    Err(format!("{} is beyond what a JSON number keeps; give its digits as a string", brief(value)))
                }
                _ => Err(wrong()),
            }
        }
        Value::String(text) => text.trim().parse().map_err(|_| wrong()),
        _ => Err(wrong()),
    }
}

/// A floating point number: from a number, from digits, or from the name of what JSON has no number for.
pub(crate) fn read_float(value: &Value) -> Result<f64, String> {
    let wrong = || format!("expected a number, not {}", brief(value));
    match value {
        Value::Number(number) => number.as_f64().ok_or_else(wrong),
        Value::String(text) => match text.trim() {
            "NaN" => Ok(f64::NAN),
            "Infinity" => Ok(f64::INFINITY),
            "-Infinity" => Ok(f64::NEG_INFINITY),
            digits if digits.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.')) => {
                digits.parse().map_err(|_| wrong())
            }
            _ => Err(wrong()),
        },
        _ => Err(wrong()),
    }
}

/// An integer as JSON: a number if every reader keeps it, else its digits.
pub(crate) fn write_integer(value: i128) -> Value {
    match i64::try_from(value) {
        Ok(small) if small.unsigned_abs() <= MAX_SAFE => small.into(),
        _ => value.to_string().into(),
    }
}

/// A floating point number as JSON.
pub(crate) fn write_float(value: f64) -> Value {
    match serde_json::Number::from_f64(value) {
        Some(number) => number.into(),
        None if value.is_nan() => "NaN".into(),
        None if value > 0.0 => "Infinity".into(),
        None => "-Infinity".into(),
    }
}

/// A value for a message: what it is and, if it is short, which.
pub(crate) fn brief(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(_) => "an object".into(),
        Value::String(text) if text.chars().count() > 40 => "a long string".into(),
        short => short.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn integers_are_read_exactly_or_not_at_all() {
        for (value, expected) in [
            (json!(3), Some(3)),
            (json!(3.0), Some(3)),
            (json!("9223372036854775807"), Some(i128::from(i64::MAX))),
            (json!(u64::MAX), Some(i128::from(u64::MAX))),
            (json!(9_007_199_254_740_994.0), None),
            (json!(1e300), None),
            (json!(1.5), None),
            (json!("1.5"), None),
            (json!(""), None),
            (json!(true), None),
            (json!(null), None),
            (json!([1]), None),
        ] {
            assert_eq!(read_integer(&value).ok(), expected, "{value}");
        }
    }

    #[test]
    fn what_json_has_no_number_for_passes_as_a_string() {
        for name in ["NaN", "Infinity", "-Infinity"] {
            assert_eq!(write_float(read_float(&json!(name)).unwrap()), json!(name));
        }
        for wrong in [json!("inf"), json!("nan"), json!("x"), json!(true), json!(null)] {
            assert!(read_float(&wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn every_integer_survives_json(value: i64) {
            prop_assert_eq!(read_integer(&write_integer(value.into())), Ok(value.into()));
        }

        #[test]
        fn every_float_survives_json(value: f64) {
            let back = read_float(&write_float(value)).unwrap();
            prop_assert!(back.to_bits() == value.to_bits() || back.is_nan() && value.is_nan());
        }
    }
}
