//! The words of JSON Schema that the tools need.

use serde_json::{Map, Value, json};

/// An object with these properties, of which some are required; others are refused.
pub(super) fn object(properties: &[(&str, Value)], required: &[&str]) -> Value {
    let properties: Map<_, _> = properties.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// What a member of a result holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Member {
    Text,
    OptionalText,
    TextOrNull,
    Texts,
    OptionalTexts,
    Flag,
    Count,
    Object,
    ObjectOrNull,
    Objects,
}

impl Member {
    fn is_required(self) -> bool {
        !matches!(self, Self::OptionalText | Self::OptionalTexts)
    }

    fn schema(self) -> Value {
        match self {
            Self::Text | Self::OptionalText => json!({ "type": "string" }),
            Self::TextOrNull => json!({ "type": ["string", "null"] }),
            Self::Texts | Self::OptionalTexts => json!({ "type": "array", "items": { "type": "string" } }),
            Self::Flag => json!({ "type": "boolean" }),
            Self::Count => json!({ "type": "integer" }),
            Self::Object => json!({ "type": "object" }),
            Self::ObjectOrNull => json!({ "type": ["object", "null"] }),
            Self::Objects => json!({ "type": "array", "items": { "type": "object" } }),
        }
    }
}

/// A result with these members and possibly more.
pub(super) fn result(members: &[(&str, Member)]) -> Value {
    let properties: Map<_, _> = members.iter().map(|(name, member)| ((*name).to_owned(), member.schema())).collect();
    let required: Vec<_> = members.iter().filter(|(_, member)| member.is_required()).map(|(name, _)| *name).collect();
    json!({ "type": "object", "properties": properties, "required": required })
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
