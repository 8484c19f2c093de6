//! Addresses of resources in results, as clients of the aggregate see them.

use serde_json::value::RawValue;

use crate::namespace::Namespace;
use crate::raw_object::{RawObject, to_raw};
use crate::resource_uri;

/// The result with the addresses in its content replaced; everything else stays as it was written.
pub(super) fn qualify(result: Box<RawValue>, namespace: &Namespace) -> Box<RawValue> {
    // Most results have none, and need not be read.
    if !result.get().contains("\"uri\"") {
        return result;
    }
    let Some(mut members) = RawObject::parse(&result) else { return result };
    let mut is_changed = false;
    for name in ["content", "contents", "messages"] {
        let Some(items) = members.get(name).and_then(items_of) else { continue };
        let items: Vec<_> = items.into_iter().map(|item| qualify_item(item, namespace)).collect();
        members.set(name, to_raw(&items));
        is_changed = true;
    }
    if is_changed { members.to_raw() } else { result }
}

fn items_of(value: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(value.get()).ok()
}

/// A content block, an embedded resource, or a message with a content block.
fn qualify_item(item: &RawValue, namespace: &Namespace) -> Box<RawValue> {
    let Some(mut members) = RawObject::parse(item) else { return item.to_owned() };
    if let Some(uri) = members.text("uri") {
        members.set_text("uri", &resource_uri::qualify(namespace, &uri));
    }
    for name in ["resource", "content"] {
        let Some(inner) = members.get(name).filter(|inner| RawObject::parse(inner).is_some()) else { continue };
        let inner = qualify_item(inner, namespace);
        members.set(name, inner);
    }
    members.to_raw()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_in_content_are_qualified_and_nothing_else() {
        let docs = Namespace::from_text("docs");
        for (result, expected) in [
            (r#"{"content":[{"type":"text","text":"a"}]}"#, None),
            (
                r#"{"content":[{"type":"resource_link","uri":"a://b","x": 1.0}]}"#,
                Some(r#"{"content":[{"type":"resource_link","uri":"roost://docs/a://b","x":1.0}]}"#),
            ),
            (
                r#"{"contents":[{"uri":"a://b","text":"\"uri\""}]}"#,
                Some(r#"{"contents":[{"uri":"roost://docs/a://b","text":"\"uri\""}]}"#),
            ),
            (
                r#"{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"a://b"}}}]}"#,
                Some(
                    r#"{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"roost://docs/a://b"}}}]}"#,
                ),
            ),
            (r#"{"structuredContent":{"uri":"a://b"}}"#, None),
        ] {
            let seen = qualify(RawValue::from_string(result.into()).unwrap(), &docs);
            assert_eq!(seen.get(), expected.unwrap_or(result));
        }
    }
}
