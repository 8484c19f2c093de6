//! The words of JSON Schema that the tools need.

use serde_json::{Map, Value, json};

/// An object with these properties, of which some are required; others are refused.
pub(super) fn object(properties: &[(&str, Value)], required: &[&str]) -> Value {
    let properties: Map<_, _> = properties.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// A result with these members and possibly more.
pub(super) fn result(members: &[(&str, &str)]) -> Value {
    let member = |(name, kind): &(&str, &str)| ((*name).to_owned(), kind_of(kind));
    let properties: Map<_, _> = members.iter().map(member).collect();
    let required: Vec<_> = members.iter().filter(|(_, kind)| !kind.ends_with('?')).map(|(name, _)| *name).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

fn kind_of(kind: &str) -> Value {
    match kind.trim_end_matches('?') {
        "strings" => json!({ "type": "array", "items": { "type": "string" } }),
        "objects" => json!({ "type": "array", "items": { "type": "object" } }),
        "nullable" => json!({ "type": ["object", "null"] }),
        "nullable string" => json!({ "type": ["string", "null"] }),
        kind => json!({ "type": kind }),
    }
}

pub(super) fn no_arguments() -> Value {
    object(&[], &[])
}

pub(super) fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

pub(super) fn texts(description: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": description })
}

pub(super) fn flag(description: &str, default: bool) -> Value {
    json!({ "type": "boolean", "description": description, "default": default })
}

/// A number within bounds; one beyond them is taken to the nearest.
pub(super) fn number(description: &str, least: u64, most: u64, default: u64) -> Value {
    json!({ "type": "integer", "description": format!("{description} ({least} to {most})"), "default": default })
}

/// The argument that names a service.
pub(super) fn of_service() -> Value {
    object(&[("service_id", text(SERVICE))], &["service_id"])
}

pub(super) const SERVICE: &str = "The id of the service, as runtime__list_services has it";
