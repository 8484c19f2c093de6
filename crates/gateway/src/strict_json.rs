//! JSON that every parser understands alike, for what is judged here and carried out elsewhere.

use std::fmt;

use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

/// Reads a value. Fails where a member is there twice, at any depth, because parsers differ in which one counts; and where
/// it is nested deeper than [`Value`] can be.
pub(crate) fn parse(raw: &RawValue) -> serde_json::Result<Value> {
    serde_json::from_str::<Strict>(raw.get()).map(|strict| strict.0)
}

/// Whether some parsers take `name` for `known` although it is written otherwise: those that ignore case.
pub(crate) fn is_lookalike(name: &str, known: &str) -> bool {
    // By way of the capitals, `ſ` and `K` are an s and a k, too, as in Go.
    name != known && name.to_uppercase().to_lowercase() == known.to_lowercase()
}

/// A value whose objects have each member once.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        StrictValue.deserialize(deserializer).map(Self)
    }
}

struct StrictValue;

impl<'de> DeserializeSeed<'de> for StrictValue {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StrictValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element_seed(Self)? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let value = members.next_value_seed(Self)?;
            if all.contains_key(&name) {
                return Err(A::Error::custom(format!("the member \"{name}\" is there twice")));
            }
            all.insert(name, value);
        }
        Ok(Value::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_they_are_unless_a_member_is_there_twice() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for (text, is_read) in [
            (r#"{"a":[1,-2,0.5,1e300,"x",null,true],"b":{"a":{}}}"#, true),
            ("18446744073709551615", true),
            (r#"{"a":1,"a":1}"#, false),
            (r#"{"a":1,"\u0061":2}"#, false),
            (r#"[{"b":{"c":0,"d":0,"c":0}}]"#, false),
            (&deep, false),
        ] {
            let raw = RawValue::from_string(text.into()).unwrap();
            let expected = is_read.then(|| serde_json::from_str::<Value>(text).unwrap());
            assert_eq!(parse(&raw).ok(), expected, "{text}");
        }
    }

    #[test]
    fn names_that_differ_in_case_only_look_alike() {
        for (name, known, expected) in [
            ("name", "name", false),
            ("Name", "name", true),
            ("argumentſ", "arguments", true),
            ("tasKId", "taskId", true),
            ("INPUTSCHEMA", "inputSchema", true),
            ("names", "name", false),
        ] {
            assert_eq!(is_lookalike(name, known), expected, "{name}");
        }
    }
}
