//! Strategies that generate messages for property tests of parsers. Arbitrary text almost never gets past the first
//! brace, so these are JSON objects made of the protocol's own names.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value};

/// An object whose first member is `tag` with one of `kinds`, followed by members with mostly these `names`.
pub(crate) fn message(
    tag: &'static str,
    kinds: &'static [&'static str],
    names: &'static [&'static str],
) -> impl Strategy<Value = Map<String, Value>> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        select(kinds).prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
    ];
    let member = move |value| (prop_oneof![4 => select(names).prop_map(String::from), 1 => ".{0,8}"], value);
    let value = leaf.prop_recursive(4, 48, 6, move |inner| {
        let object =
            vec(member(inner.clone().boxed()), 0..6).prop_map(|members| Value::Object(Map::from_iter(members)));
        prop_oneof![vec(inner, 0..4).prop_map(Value::from), object]
    });
    (select(kinds), vec(member(value.boxed()), 0..6)).prop_map(move |(kind, members)| {
        let mut message = Map::from_iter([(tag.to_owned(), Value::from(kind))]);
        message.extend(members.into_iter().filter(|(name, _)| name != tag));
        message
    })
}

/// A prefix of a text that lacks at least its last character.
pub(crate) fn cut(text: &str, at: Index) -> &str {
    let ends: Vec<_> = text.char_indices().map(|(end, _)| end).collect();
    &text[..ends[at.index(ends.len())]]
}
