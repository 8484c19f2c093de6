//! Parses a method's parameters, and tells a missing parameter from any other mistake by its type.
//!
//! A `serde_json::Error` names a missing field only in its text. Derived code reports one by calling
//! [`de::Error::missing_field`] on the error type of the map that it reads. So the outermost map is read here with an
//! error type that keeps the name, and everything within it by serde_json as always. A required field of a nested
//! struct would not be recognised; no parameter has one.

use std::fmt;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, Expected, MapAccess, Unexpected, Visitor};
use serde::forward_to_deserialize_any;

/// Why parameters cannot be parsed.
#[derive(Debug)]
pub(crate) enum ParamsError<E = serde_json::Error> {
    /// The required parameter of this name is absent.
    Missing(&'static str),
    /// Anything else, such as a value of another type.
    Invalid(E),
}

/// Parses the parameters of one method from a JSON object.
pub(crate) fn parse_params<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, ParamsError> {
    let mut json = serde_json::Deserializer::from_str(text);
    let params = T::deserialize(OutermostDeserializer(&mut json))?;
    json.end().map_err(ParamsError::Invalid)?;
    Ok(params)
}

impl<E: fmt::Display> fmt::Display for ParamsError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(field) => write!(f, "missing field `{field}`"),
            Self::Invalid(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> std::error::Error for ParamsError<E> {}

/// Delegates what serde_json words in its own way, so that every message stays the same.
impl<E: de::Error> de::Error for ParamsError<E> {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Invalid(E::custom(message))
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::Invalid(E::invalid_type(unexpected, expected))
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::Invalid(E::invalid_value(unexpected, expected))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::Missing(field)
    }
}

/// Reads the outermost value with [`ParamsError`].
struct OutermostDeserializer<D>(D);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for OutermostDeserializer<D> {
    type Error = ParamsError<D::Error>;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self.0.deserialize_any(OutermostVisitor(visitor)) {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(field)) => Err(ParamsError::Missing(field)),
            Err(error) => Err(ParamsError::Invalid(error)),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// Passes the outermost map on. A missing field is a value here, because serde_json allows no other error than its own.
struct OutermostVisitor<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for OutermostVisitor<V> {
    type Value = Result<V::Value, &'static str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        match self.0.visit_map(OutermostMap(map)) {
            Ok(value) => Ok(Ok(value)),
            Err(ParamsError::Missing(field)) => Ok(Err(field)),
            Err(ParamsError::Invalid(error)) => Err(error),
        }
    }
}

/// The outermost map; its values are read by serde_json.
struct OutermostMap<A>(A);

impl<'de, A: MapAccess<'de>> MapAccess<'de> for OutermostMap<A> {
    type Error = ParamsError<A::Error>;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Self::Error> {
        self.0.next_key_seed(seed).map_err(ParamsError::Invalid)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Self::Error> {
        self.0.next_value_seed(seed).map_err(ParamsError::Invalid)
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Params {
        #[serde(alias = "identifier")]
        id: String,
        count: u32,
        #[serde(default)]
        raw: Option<Box<RawValue>>,
    }

    #[test]
    fn a_missing_field_is_told_by_name_and_everything_else_as_serde_json_words_it() {
        let params: Params = parse_params(r#"{ "identifier": "a", "count": 1, "raw": { "b": 1.50 } }"#).unwrap();
        assert_eq!((&*params.id, params.count, params.raw.unwrap().get()), ("a", 1, r#"{ "b": 1.50 }"#));
        let missing = [("{}", "id"), (r#"{"id":"a"}"#, "count"), (r#"{"count":1}"#, "id")];
        for (text, expected) in missing {
            assert!(matches!(parse_params::<Params>(text), Err(ParamsError::Missing(field)) if field == expected));
        }
        let invalid = [
            r#"{"id":5}"#,
            r#"{"id":null}"#,
            r#"{"count":-1,"id":"a"}"#,
            r#"{"count":1.5}"#,
            r#"{"id":"a","id":"b"}"#,
            r#"{"id":"a","count":1,"more":1}"#,
            r#"{"id":"missing field `id`","count":"x"}"#,
            r#"{"id":"a""#,
            r#"{"id":"a","count":1} x"#,
        ];
        for text in invalid {
            let Err(ParamsError::Invalid(error)) = parse_params::<Params>(text) else { panic!("{text}") };
            assert_eq!(error.to_string(), serde_json::from_str::<Params>(text).unwrap_err().to_string(), "{text}");
        }
    }
}
