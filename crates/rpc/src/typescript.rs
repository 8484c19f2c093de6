//! Writes the method table as TypeScript, for clients that are checked when they are compiled.

use std::collections::BTreeMap;
use std::fmt::Write;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::notification::EventName;
use super::{FaultCode, Method, PROTOCOL_VERSION};

const HEAD: &str = "\
// Generated from the method table in crates/rpc/src. Do not edit: change the table, then run
// ROOST_BLESS=1 cargo test -p roost-rpc
";

/// The whole module: a type for every method's parameters and result and for every event, and the tables of all three.
pub fn module() -> String {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut types = BTreeMap::new();
    let mut methods = String::new();
    for &method in Method::ALL {
        let params = method.params_name();
        types.insert(params.to_string(), method.params_schema(&mut generator).into());
        let result = type_of(&method.result_schema(&mut generator).into());
        methods += &comment(method.summary(), "  ");
        _ = writeln!(methods, "  \"{}\": {{ params: {params}; result: {result} }};", method.name());
    }
    let mut events = String::new();
    for &event in EventName::ALL {
        let params = type_of(&event.params_schema(&mut generator).into());
        let neutral = event.name().strip_prefix("claude_").map(|rest| format!("agent_{rest}"));
        for name in [Some(event.name()), neutral.as_deref()].into_iter().flatten() {
            events += &comment(event.summary(), "  ");
            _ = writeln!(events, "  {name}: {params};");
        }
    }
    types.extend(generator.take_definitions(false));

    let mut module = format!("{HEAD}\n/** The version of the protocol that this module speaks. */\n");
    _ = writeln!(module, "export const PROTOCOL_VERSION = \"{PROTOCOL_VERSION}\";\n");
    module += "/** Every error by its word in `error.data.code`, with its number in `error.code`. */\n";
    module += "export const ERRORS = {\n";
    for code in FaultCode::ALL {
        module += &comment(code.summary(), "  ");
        _ = writeln!(module, "  {}: {},", code.word(), code.number());
    }
    module += "} as const;\n\n";
    _ = writeln!(
        module,
        "/** Every method: what is sent and what comes back. */\nexport interface Methods {{\n{methods}}}\n"
    );
    module += "/** Every event by its name without the prefix `event/`; `agent_…` are those of `neutral_names`. */\n";
    _ = writeln!(module, "export interface Events {{\n{events}}}");
    for (name, schema) in &types {
        module.push('\n');
        module += &declaration(name, schema);
    }
    module
}

/// Declares a named type, with its description as a comment.
fn declaration(name: &str, schema: &Value) -> String {
    let about = description(schema, "");
    let own = schema["properties"].as_object().map(|properties| fields(properties, schema));
    let choice = variants(schema).map(|variants| variants.map(choice).collect::<String>());
    match (own, choice) {
        (Some(own), None) => format!("{about}export interface {name} {{\n{own}}}\n"),
        (Some(own), Some(choice)) => format!("{about}export type {name} = {{\n{own}}} & (\n{choice});\n"),
        (None, Some(choice)) => format!("{about}export type {name} =\n{};\n", choice.trim_end()),
        (None, None) => format!("{about}export type {name} = {};\n", type_of(schema)),
    }
}

fn choice(variant: &Value) -> String {
    format!("{}  | {}\n", description(variant, "  "), type_of(variant))
}

/// A schema as a type expression.
fn type_of(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|to| to.rsplit('/').next()) {
        return name.into();
    }
    if let Some(only) = schema.get("const") {
        return only.to_string();
    }
    if let Some(values) = schema["enum"].as_array() {
        return joined(values.iter().map(Value::to_string), " | ");
    }
    let union = variants(schema).map(|variants| joined(variants.map(type_of), " | "));
    let own = schema["properties"].as_object().map(|properties| inline(properties, schema));
    match (own, union) {
        (Some(own), Some(union)) => format!("{own} & ({union})"),
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => match &schema["type"] {
            Value::Array(words) => joined(words.iter().map(|word| plain(word, schema)), " | "),
            word => plain(word, schema),
        },
    }
}

/// A schema that has no more than a `type`, as a type expression.
fn plain(word: &Value, schema: &Value) -> String {
    match word.as_str() {
        Some("string") => "string".into(),
        Some("integer" | "number") => "number".into(),
        Some("boolean") => "boolean".into(),
        Some("null") => "null".into(),
        Some("array") => match type_of(&schema["items"]) {
            item if item.contains(' ') => format!("({item})[]"),
            item => format!("{item}[]"),
        },
        // A struct without fields says nothing of others; a map does.
        Some("object") => match schema.get("additionalProperties") {
            None => "Record<string, never>".into(),
            Some(value) => format!("Record<string, {}>", type_of(value)),
        },
        _ => "unknown".into(),
    }
}

/// The alternatives of a schema. A variant for unknown names is left out: TypeScript cannot say "any text but these",
/// and with "any text" it could not tell the others apart.
fn variants(schema: &Value) -> Option<impl Iterator<Item = &Value>> {
    let variants = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array())?;
    let known = |variant: &&Value| !variant["properties"].as_object().is_some_and(|all| all.values().any(excludes));
    Some(variants.iter().filter(known))
}

fn excludes(schema: &Value) -> bool {
    schema.get("not").is_some()
}

fn inline(properties: &Map<String, Value>, schema: &Value) -> String {
    let field = |(name, value): (&String, &Value)| field(name, value, schema);
    format!("{{ {} }}", properties.iter().map(field).collect::<Vec<_>>().join("; "))
}

fn fields(properties: &Map<String, Value>, schema: &Value) -> String {
    let line =
        |(name, value): (&String, &Value)| format!("{}  {};\n", description(value, "  "), field(name, value, schema));
    properties.iter().map(line).collect()
}

/// Declares a field. An optional one is marked with `?` instead of `null`, because Roost never writes `null` for it.
fn field(name: &str, value: &Value, parent: &Value) -> String {
    let required =
        parent["required"].as_array().is_some_and(|required| required.iter().any(|required| required == name));
    match type_of(value) {
        ty if required => format!("{name}: {ty}"),
        ty => format!("{name}?: {}", ty.trim_end_matches(" | null")),
    }
}

fn joined(types: impl Iterator<Item = String>, with: &str) -> String {
    types.collect::<Vec<_>>().join(with)
}

fn description(schema: &Value, indent: &str) -> String {
    schema["description"].as_str().map(|text| comment(text, indent)).unwrap_or_default()
}

fn comment(text: &str, indent: &str) -> String {
    format!("{indent}/** {} */\n", text.replace('\n', " "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn schemas_become_types() {
        let table = [
            (json!(true), "unknown"),
            (json!({}), "unknown"),
            (json!({ "$ref": "#/$defs/Mode", "description": "How." }), "Mode"),
            (json!({ "type": "string", "format": "date-time" }), "string"),
            (json!({ "type": ["integer", "null"] }), "number | null"),
            (json!({ "type": "string", "const": "ask" }), r#""ask""#),
            (json!({ "type": "string", "enum": ["a", "b"] }), r#""a" | "b""#),
            (json!({ "type": "array", "items": { "$ref": "#/$defs/Mode" } }), "Mode[]"),
            (json!({ "type": "array", "items": { "type": ["string", "null"] } }), "(string | null)[]"),
            (json!({ "type": "object" }), "Record<string, never>"),
            (json!({ "type": "object", "additionalProperties": true }), "Record<string, unknown>"),
            (
                json!({ "type": "object", "additionalProperties": { "type": "array", "items": { "type": "string" } } }),
                "Record<string, string[]>",
            ),
            (json!({ "anyOf": [{ "$ref": "#/$defs/Mode" }, { "type": "null" }] }), "Mode | null"),
            (
                json!({ "properties": { "a": { "type": "null" }, "b": { "type": ["string", "null"] } }, "required": ["a"] }),
                "{ a: null; b?: string }",
            ),
            (
                json!({ "properties": { "seq": { "type": "integer" } }, "required": ["seq"], "oneOf": [
                    { "properties": { "type": { "const": "x" } }, "required": ["type"] },
                    { "properties": { "type": { "type": "string", "not": { "enum": ["x"] } } } },
                ] }),
                r#"{ seq: number } & ({ type: "x" })"#,
            ),
        ];
        for (schema, expected) in table {
            assert_eq!(type_of(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn names_are_declared_with_what_is_said_of_them() {
        let point = json!({
            "description": "A place.", "type": "object", "required": ["x"],
            "properties": { "x": { "type": "number", "description": "Across." } },
        });
        let expected = "/** A place. */\nexport interface Point {\n  /** Across. */\n  x: number;\n}\n";
        assert_eq!(declaration("Point", &point), expected);
        let word = json!({ "oneOf": [{ "const": "yes", "description": "It may." }, { "const": "no" }] });
        let expected = "export type Word =\n  /** It may. */\n  | \"yes\"\n  | \"no\";\n";
        assert_eq!(declaration("Word", &word), expected);
    }
}
