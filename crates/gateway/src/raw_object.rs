//! A JSON object of which single members are read or replaced, while the rest stays as it was written.
//!
//! An object in which a member is there twice is not read: parsers differ in which one counts, so whoever comes later could
//! understand something else than what was judged here.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

/// The members of an object, in their order. Values keep the bytes that came.
#[derive(Clone, Debug, Default)]
pub struct RawObject<'a>(Vec<(Cow<'a, str>, Cow<'a, RawValue>)>);

impl<'a> RawObject<'a> {
    /// Reads an object; `None` if the value is something else.
    pub fn parse(value: &'a RawValue) -> Option<Self> {
        serde_json::from_str(value.get()).ok()
    }

    /// The value of a member as it was written.
    pub fn get(&self, name: &str) -> Option<&RawValue> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| &**value)
    }

    /// The value of a member that is a text.
    pub fn text(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.get(name)?.get()).ok()
    }

    /// The value of a member that is an object.
    pub fn object(&self, name: &str) -> Option<RawObject<'_>> {
        RawObject::parse(self.get(name)?)
    }

    /// Replaces a member where it stands, or adds it at the end.
    pub fn set(&mut self, name: impl Into<Cow<'a, str>>, value: Box<RawValue>) {
        let (name, value) = (name.into(), Cow::Owned(value));
        match self.0.iter_mut().find(|(key, _)| *key == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    /// Replaces or adds a member with a text as its value.
    pub fn set_text(&mut self, name: &'a str, value: &str) {
        self.set(name, text(value));
    }

    /// Removes a member; true if it was there.
    pub fn remove(&mut self, name: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|(key, _)| key != name);
        self.0.len() < before
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The members with their values.
    pub fn members(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.0.iter().map(|(key, value)| (&**key, &**value))
    }

    /// The object as JSON.
    pub fn to_raw(&self) -> Box<RawValue> {
        to_raw(self)
    }
}

/// A text as JSON.
pub fn text(value: &str) -> Box<RawValue> {
    to_raw(value)
}

/// A value of ours as JSON.
pub fn to_raw<T: Serialize + ?Sized>(value: &T) -> Box<RawValue> {
    // Only maps with keys that are no texts, and writers that fail, cannot be written; there are none here.
    to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

impl Serialize for RawObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RawObject<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = RawObject<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::with_capacity(4);
                while let Some((MemberName(key), value)) = map.next_entry::<MemberName<'de>, &'de RawValue>()? {
                    members.push((key, Cow::Borrowed(value)));
                }
                match has_twice(&members) {
                    true => Err(A::Error::custom("a member is there twice")),
                    false => Ok(RawObject(members)),
                }
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// Whether two members have the same name.
fn has_twice<V>(members: &[(Cow<'_, str>, V)]) -> bool {
    /// Up to this many members, comparing them all is faster than hashing them.
    const FEW: usize = 16;
    if members.len() <= FEW {
        return members.iter().enumerate().any(|(at, (name, _))| members[..at].iter().any(|(other, _)| other == name));
    }
    let mut names = HashSet::with_capacity(members.len());
    !members.iter().all(|(name, _)| names.insert(name))
}

/// A key that is borrowed where it has no escapes.
#[derive(Deserialize)]
struct MemberName<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.into()).unwrap()
    }

    #[test]
    fn a_member_is_replaced_and_the_others_keep_their_bytes() {
        let source = raw(r#"{ "name" : "a", "x": 1.50, "y\n":{ "z":[ ] } }"#);
        let mut object = RawObject::parse(&source).unwrap();
        object.set_text("name", "b");
        object.set("new", raw("1e2"));
        assert_eq!(object.to_raw().get(), r#"{"name":"b","x":1.50,"y\n":{ "z":[ ] },"new":1e2}"#);
        assert!(object.remove("x") && !object.remove("x"));
        assert_eq!(object.get("y\n").unwrap().get(), r#"{ "z":[ ] }"#);
    }

    #[test]
    fn only_objects_whose_members_are_there_once_are_read() {
        let many: String = (0..40).map(|number| format!(r#""m{}":1,"#, number % 39)).collect();
        let many = format!("{{{}}}", many.trim_end_matches(','));
        for text in ["[]", "1", "null", "\"a\"", r#"{"a":1,"b":2,"a":1}"#, r#"{"a":1,"\u0061":2}"#, &many] {
            assert!(RawObject::parse(&raw(text)).is_none(), "{text}");
        }
    }
}
