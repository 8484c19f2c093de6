//! JSON as values of a bounded size: the values of a document can take thirty times as much memory as its text.

use std::cell::Cell;
use std::fmt;
use std::mem::size_of;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::limits::LimitReached;

/// What an element of an array takes; a vector that grows has room for twice its elements.
const ELEMENT_BYTES: usize = 2 * size_of::<Value>();
/// What a member of an object takes besides its name: the name's own size, its hash and its place in the table.
const MEMBER_BYTES: usize = 2 * (size_of::<Value>() + size_of::<String>() + 32);
/// What an array or object takes before it has more than a few parts.
const CONTAINER_BYTES: usize = 4 * MEMBER_BYTES;

/// The value of a document; `None` if it is no JSON, or is nested too deeply for the parser.
pub(super) fn parse(text: &str, limit: usize) -> Result<Option<Value>, LimitReached> {
    let budget = Budget { left: Cell::new(limit), is_exceeded: Cell::new(false) };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let parsed = budget.deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    match budget.is_exceeded.get() {
        true => Err(LimitReached::Memory { wanted: limit.saturating_add(1), limit }),
        false => Ok(parsed.ok()),
    }
}

struct Budget {
    left: Cell<usize>,
    is_exceeded: Cell<bool>,
}

impl Budget {
    fn spend<E: de::Error>(&self, bytes: usize) -> Result<(), E> {
        match self.left.get().checked_sub(bytes) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => {
                self.is_exceeded.set(true);
                Err(E::custom("the document is too large"))
            }
        }
    }
}

impl<'de> DeserializeSeed<'de> for &Budget {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &Budget {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        self.spend(text.len())?;
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        self.spend(CONTAINER_BYTES)?;
        let mut array = Vec::new();
        while let Some(element) = elements.next_element_seed(self)? {
            self.spend(ELEMENT_BYTES)?;
            array.push(element);
        }
        Ok(array.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        self.spend(CONTAINER_BYTES)?;
        let mut object = Map::new();
        while let Some(name) = members.next_key_seed(Name)? {
            self.spend(MEMBER_BYTES + name.len())?;
            object.insert(name, members.next_value_seed(self)?);
        }
        Ok(object.into())
    }
}

/// The name of a member, which is no longer than the document.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        String::deserialize(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_within_its_bound_is_what_the_parser_makes_of_it() {
        for text in [
            r#"{"a":[1,-2,3.5,1e300,18446744073709551615,"x\u00e9",true,null,{}],"b":{"a":1,"a":2}}"#,
            "7",
            "\"\"",
            " [ ] ",
            "[1] x",
            "{",
            "",
        ] {
            assert_eq!(parse(text, 1 << 20).unwrap(), serde_json::from_str(text).ok(), "{text}");
        }
        assert_eq!(parse(&"[".repeat(1000), 1 << 20).unwrap(), None);
    }

    #[test]
    fn values_larger_than_their_bound_are_not_made() {
        for part in ["1,", "[],", "[1],", "{},", r#"{"":1},"#, r#""","#] {
            let text = format!("[{}1]", part.repeat(10_000));
            assert!(matches!(parse(&text, 1 << 20), Err(LimitReached::Memory { .. })), "{part}");
        }
        assert!(parse(&format!("\"{}\"", "x".repeat(2_000)), 1_000).is_err());
    }
}
