//! Parameters that a modern server wants to see in headers, so that whatever is before it can route by them.
//!
//! A tool says so with `x-mcp-header` in its input schema; a tool that says it wrongly must not be offered.

use std::collections::{HashMap, HashSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem;
use parking_lot::RwLock;
use reqwest::header::{HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::raw_object::RawObject;

const KEYWORD: &str = "x-mcp-header";
/// How deep a schema is searched.
const MAX_DEPTH: usize = 16;

/// The headers that the tools of one service want, by tool.
#[derive(Default)]
pub(super) struct ParamHeaders(RwLock<HashMap<String, Vec<ParamHeader>>>);

/// One parameter that is sent in a header, too.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ParamHeader {
    header: HeaderName,
    /// Where the parameter is in the arguments.
    path: Vec<String>,
}

impl ParamHeaders {
    /// Learns from a list of tools. Returns the list without the tools whose use of headers is wrong, if there are some.
    pub(super) fn learn(&self, result: &RawValue) -> Option<Box<RawValue>> {
        memmem::find(result.get().as_bytes(), KEYWORD.as_bytes())?;
        let mut list = RawObject::parse(result)?;
        let tools: Vec<&RawValue> = serde_json::from_str(list.get("tools")?.get()).ok()?;
        let mut kept = Vec::with_capacity(tools.len());
        for tool in &tools {
            let Some((name, headers)) = wanted_headers(tool) else { continue };
            let mut known = self.0.write();
            match headers.is_empty() {
                true => known.remove(&name),
                false => known.insert(name, headers),
            };
            kept.push(*tool);
        }
        if kept.len() == tools.len() {
            return None;
        }
        let kept = serde_json::value::to_raw_value(&kept).ok()?;
        list.set("tools", kept);
        Some(list.to_raw())
    }

    /// The headers of a call of a tool.
    pub(super) fn of_call(&self, tool: &str, arguments: Option<&RawValue>) -> Vec<(HeaderName, HeaderValue)> {
        let known = self.0.read();
        let Some((wanted, arguments)) = known.get(tool).zip(arguments) else { return Vec::new() };
        let Ok(arguments) = serde_json::from_str::<Value>(arguments.get()) else { return Vec::new() };
        let value_of = |wanted: &ParamHeader| {
            let value = wanted.path.iter().try_fold(&arguments, |value, name| value.get(name))?;
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                Value::Bool(flag) => flag.to_string(),
                Value::Null | Value::Array(_) | Value::Object(_) => return None,
            };
            Some((wanted.header.clone(), header_value(&text)?))
        };
        wanted.iter().filter_map(value_of).collect()
    }
}

/// A text as the value of a header. What a header cannot carry as it is, or could be mistaken, is encoded.
pub(super) fn header_value(text: &str) -> Option<HeaderValue> {
    let is_plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && text.trim_matches(' ') == text
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    match is_plain {
        true => HeaderValue::from_str(text).ok(),
        false => HeaderValue::from_str(&format!("=?base64?{}?=", STANDARD.encode(text))).ok(),
    }
}

/// The name of a tool and the headers that it wants; `None` if it wants them wrongly.
fn wanted_headers(tool: &RawValue) -> Option<(String, Vec<ParamHeader>)> {
    #[derive(Deserialize)]
    struct Tool {
        name: String,
        #[serde(default, rename = "inputSchema")]
        input_schema: Value,
    }
    let tool: Tool = serde_json::from_str(tool.get()).ok()?;
    let mut headers = Vec::new();
    collect(&tool.input_schema, &mut Vec::new(), &mut headers)?;
    let mut seen = HashSet::new();
    headers.iter().all(|wanted| seen.insert(wanted.header.clone())).then_some((tool.name, headers))
}

/// Finds the headers that a schema wants; `None` if one is wrong.
fn collect(schema: &Value, path: &mut Vec<String>, headers: &mut Vec<ParamHeader>) -> Option<()> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object).filter(|_| path.len() < MAX_DEPTH)
    else {
        return Some(());
    };
    for (name, property) in properties {
        path.push(name.clone());
        if let Some(wanted) = property.get(KEYWORD) {
            let is_primitive =
                matches!(property.get("type").and_then(Value::as_str), Some("string" | "integer" | "boolean"));
            let header = wanted.as_str().filter(|header| is_primitive && !header.is_empty())?;
            // Refuses what is no token; names of headers know no capitals.
            let header = HeaderName::from_bytes(format!("mcp-param-{header}").as_bytes()).ok()?;
            headers.push(ParamHeader { header, path: path.clone() });
        }
        collect(property, path, headers)?;
        path.pop();
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn raw(value: &Value) -> Box<RawValue> {
        serde_json::value::to_raw_value(value).unwrap()
    }

    fn tool(name: &str, properties: Value) -> Value {
        json!({ "name": name, "inputSchema": { "type": "object", "properties": properties } })
    }

    #[test]
    fn parameters_are_mirrored_as_the_tool_wants() {
        let headers = ParamHeaders::default();
        let properties = json!({
            "region": { "type": "string", "x-mcp-header": "Region" },
            "level": { "type": "integer", "x-mcp-header": "Level" },
            "flag": { "type": "boolean", "x-mcp-header": "Flag" },
            "inner": { "type": "object", "properties": { "deep": { "type": "string", "x-mcp-header": "Deep" } } },
            "query": { "type": "string" },
        });
        assert!(headers.learn(&raw(&json!({ "tools": [tool("t", properties)] }))).is_none());
        let arguments =
            json!({ "region": "münchen", "level": 5, "flag": null, "inner": { "deep": " x" }, "query": "q" });
        let sent = headers.of_call("t", Some(&raw(&arguments)));
        let sent: Vec<_> = sent.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
        let expected = [
            ("mcp-param-region", "=?base64?bcO8bmNoZW4=?="),
            ("mcp-param-level", "5"),
            ("mcp-param-deep", "=?base64?IHg=?="),
        ];
        assert_eq!(sent, expected);
        assert!(headers.of_call("other", Some(&raw(&arguments))).is_empty());
    }

    #[test]
    fn a_tool_that_uses_headers_wrongly_is_left_out() {
        let wants = |kind: &str, header: &str| json!({ "a": { "type": kind, "x-mcp-header": header } });
        let twice =
            json!({ "a": { "type": "string", "x-mcp-header": "R" }, "b": { "type": "string", "x-mcp-header": "r" } });
        let wrong = [
            wants("string", ""),
            wants("number", "A"),
            wants("object", "A"),
            wants("string", "A B"),
            wants("string", "é"),
            twice,
        ];
        let mut tools: Vec<Value> = wrong.into_iter().map(|properties| tool("wrong", properties)).collect();
        tools.push(tool("right", wants("string", "A")));
        let kept = ParamHeaders::default().learn(&raw(&json!({ "tools": tools, "ttlMs": 0 }))).unwrap();
        let expected = json!({ "tools": [tool("right", wants("string", "A"))], "ttlMs": 0 });
        assert_eq!(serde_json::from_str::<Value>(kept.get()).unwrap(), expected);
    }

    #[test]
    fn what_a_header_cannot_carry_is_encoded() {
        for (text, expected) in [
            ("plain text", "plain text"),
            ("", ""),
            (" a", "=?base64?IGE=?="),
            ("a\r\nb", "=?base64?YQ0KYg==?="),
            ("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="),
        ] {
            assert_eq!(header_value(text).unwrap().to_str().unwrap(), expected);
        }
    }
}
