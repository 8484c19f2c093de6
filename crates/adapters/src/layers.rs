//! Merges settings documents: one layer over another.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Merges `over` into `under` as a JSON merge patch (RFC 7396): objects are merged member by member, `null` removes a
/// member, and any other value, lists too, replaces what was there.
pub(crate) fn lay_over(under: &mut Map<String, Value>, over: Map<String, Value>) {
    for (name, value) in over {
        match value {
            Value::Null => _ = under.remove(&name),
            Value::Object(over) => {
                let member = under.entry(name).or_insert(Value::Null);
                if !member.is_object() {
                    *member = Value::Object(Map::new());
                }
                if let Value::Object(under) = member {
                    lay_over(under, over);
                }
            }
            value => _ = under.insert(name, value),
        }
    }
}

/// The settings of a session: the runtime's from `roost.toml`, with the session's own over them.
pub(crate) fn merge(runtime: &Map<String, Value>, session: Option<&Map<String, Value>>) -> Map<String, Value> {
    let mut merged = Map::new();
    lay_over(&mut merged, runtime.clone());
    lay_over(&mut merged, session.cloned().unwrap_or_default());
    merged
}

/// The same for settings whose names may be dotted. Sections that are an object anywhere are merged as objects; the others
/// keep their dotted names.
pub(crate) fn merge_dotted(runtime: &Map<String, Value>, session: Option<&Map<String, Value>>) -> Map<String, Value> {
    let section = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let all = runtime.iter().chain(session.into_iter().flatten());
    let nested: BTreeSet<_> = all.filter(|(_, value)| value.is_object()).map(|(name, _)| section(name)).collect();
    let normalize = |settings: &Map<String, Value>| {
        let (sections, mut flat): (Map<_, _>, Map<_, _>) =
            settings.clone().into_iter().partition(|(name, _)| nested.contains(&section(name)));
        flat.extend(nest(sections));
        flat
    };
    merge(&normalize(runtime), session.map(normalize).as_ref())
}

/// Builds a nested document from dotted names; of two values for one name the later counts.
pub(crate) fn nest(settings: impl IntoIterator<Item = (String, Value)>) -> Map<String, Value> {
    let mut document = Map::new();
    for (name, value) in settings {
        let mut sections = name.rsplit('.');
        let leaf = sections.next().unwrap_or(&name).to_owned();
        let layer = sections.fold(Map::from_iter([(leaf, value)]), |inner, section| {
            Map::from_iter([(section.to_owned(), Value::Object(inner))])
        });
        insert_all(&mut document, layer);
    }
    document
}

/// Merges objects member by member and keeps `null`, which a later layer may mean.
fn insert_all(under: &mut Map<String, Value>, over: Map<String, Value>) {
    for (name, value) in over {
        match (under.get_mut(&name), value) {
            (Some(Value::Object(under)), Value::Object(over)) => insert_all(under, over),
            (_, value) => _ = under.insert(name, value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn map(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn the_settings_of_a_session_are_merged_into_the_runtimes() {
        let cases = [
            (json!({}), json!({ "a": 1 }), json!({ "a": 1 })),
            (json!({ "a": 1, "b": 2 }), json!({ "a": 3 }), json!({ "a": 3, "b": 2 })),
            (json!({ "a": { "b": 1, "c": 2 } }), json!({ "a": { "b": 3 } }), json!({ "a": { "b": 3, "c": 2 } })),
            (
                json!({ "a": { "b": { "c": 1 } } }),
                json!({ "a": { "b": { "d": 2 } } }),
                json!({ "a": { "b": { "c": 1, "d": 2 } } }),
            ),
            (json!({ "a": [1, 2] }), json!({ "a": [3] }), json!({ "a": [3] })),
            (json!({ "a": { "b": 1 } }), json!({ "a": [] }), json!({ "a": [] })),
            (json!({ "a": 1 }), json!({ "a": { "b": 2 } }), json!({ "a": { "b": 2 } })),
            (json!({ "a": 1, "b": 2 }), json!({ "a": null }), json!({ "b": 2 })),
            (json!({ "a": { "b": 1, "c": 2 } }), json!({ "a": { "b": null } }), json!({ "a": { "c": 2 } })),
            (json!({}), json!({ "a": { "b": null, "c": 1 } }), json!({ "a": { "c": 1 } })),
            (json!({ "a": null, "b": 1 }), json!({}), json!({ "b": 1 })),
        ];
        for (runtime, session, expected) in cases {
            assert_eq!(Value::Object(merge(&map(&runtime), Some(&map(&session)))), expected, "{runtime} {session}");
        }
        assert_eq!(merge(&map(&json!({ "a": 1 })), None), map(&json!({ "a": 1 })));
    }

    #[test]
    fn dotted_names_and_sections_are_merged_with_each_other() {
        let cases = [
            (json!({ "a.b": 1 }), json!({ "a.c": 2 }), json!({ "a.b": 1, "a.c": 2 })),
            (json!({ "a.b": 1, "x.y": true }), json!({ "a": { "b": 2 } }), json!({ "a": { "b": 2 }, "x.y": true })),
            (json!({ "a": { "b": 1, "c": 2 } }), json!({ "a.b": 3 }), json!({ "a": { "b": 3, "c": 2 } })),
            (json!({ "a": { "b": 1, "c": 2 } }), json!({ "a.b": null }), json!({ "a": { "c": 2 } })),
            (json!({ "a.b.c": 1 }), json!({ "a.b": { "d": 2 } }), json!({ "a": { "b": { "c": 1, "d": 2 } } })),
            (json!({ "a.b": 1 }), json!({ "a.b": null }), json!({})),
        ];
        for (runtime, session, expected) in cases {
            let merged = merge_dotted(&map(&runtime), Some(&map(&session)));
            assert_eq!(Value::Object(merged), expected, "{runtime} {session}");
        }
    }

    #[test]
    fn dotted_names_and_sections_become_one_document() {
        let settings =
            [("a.b.c", json!(1)), ("a", json!({ "b": { "d": 2 }, "e.f": 3 })), ("a.b.c", json!(4)), ("g", json!("x"))];
        let nested = nest(settings.map(|(name, value)| (name.to_owned(), value)));
        assert_eq!(Value::Object(nested), json!({ "a": { "b": { "c": 4, "d": 2 }, "e.f": 3 }, "g": "x" }));
    }
}
