//! Merges settings documents: one layer over another.

use serde_json::{Map, Value};

/// Merges `over` into `under`: objects are merged member by member, any other value is replaced.
pub(crate) fn lay_over(under: &mut Map<String, Value>, over: Map<String, Value>) {
    for (name, value) in over {
        match (under.get_mut(&name), value) {
            (Some(Value::Object(under)), Value::Object(over)) => lay_over(under, over),
            (_, value) => _ = under.insert(name, value),
        }
    }
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
        lay_over(&mut document, layer);
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn dotted_names_and_sections_become_one_document() {
        let settings =
            [("a.b.c", json!(1)), ("a", json!({ "b": { "d": 2 }, "e.f": 3 })), ("a.b.c", json!(4)), ("g", json!("x"))];
        let nested = nest(settings.map(|(name, value)| (name.to_owned(), value)));
        assert_eq!(Value::Object(nested), json!({ "a": { "b": { "c": 4, "d": 2 }, "e.f": 3 }, "g": "x" }));
    }
}
