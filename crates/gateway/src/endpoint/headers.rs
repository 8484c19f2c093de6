//! The headers of a modern request over HTTP: what stands in them must be what stands in the body.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Endpoint;
use super::door::IncomingRequest;
use super::refusal::{HEADER_MISMATCH, McpRefusal};
use super::request::{VERSION, modern_profile};
use super::surface::View;
use crate::catalog::Viewer;
use crate::raw_object::RawObject;

/// The marks around a value that is encoded.
const ENCODED: (&str, &str) = ("=?base64?", "?=");
/// How deep a schema is searched for parameters with headers.
const MAX_DEPTH: usize = 8;

/// A parameter of a tool that clients also send in a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ParamHeader {
    /// Where the value stands in the arguments.
    path: Vec<String>,
    /// The name of the header behind `Mcp-Param-`.
    name: String,
}

impl ParamHeader {
    /// The parameters with headers in the input schema of a tool.
    pub(super) fn all(definition: &RawValue) -> Vec<Self> {
        let mut found = Vec::new();
        // Most tools have none, and need not be read.
        if definition.get().contains("x-mcp-header")
            && let Ok(definition) = serde_json::from_str::<Value>(definition.get())
        {
            collect(&definition["inputSchema"], &mut Vec::new(), &mut found);
        }
        found
    }
}

fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Vec<ParamHeader>) {
    let Some(properties) = schema["properties"].as_object().filter(|_| path.len() < MAX_DEPTH) else { return };
    for (name, property) in properties {
        path.push(name.clone());
        if let Some(header) = property["x-mcp-header"].as_str() {
            found.push(ParamHeader { path: path.clone(), name: header.to_owned() });
        }
        collect(property, path, found);
        path.pop();
    }
}

impl Endpoint {
    /// Checks what a modern request says about itself, in its body and in its headers.
    pub fn check_headers<'h>(
        &self,
        view: &View,
        incoming: &IncomingRequest<'_>,
        header: impl Fn(&str) -> Option<&'h str>,
    ) -> Result<(), McpRefusal> {
        let params = incoming.members()?;
        let revision = params.object("_meta").and_then(|meta| meta.text(VERSION));
        if let Some(revision) = revision {
            compare("MCP-Protocol-Version", header("mcp-protocol-version"), &revision)?;
        }
        modern_profile(&params)?;
        compare("Mcp-Method", header("mcp-method"), incoming.method)?;
        let named = match incoming.method {
            "tools/call" | "prompts/get" => params.text("name"),
            "resources/read" => params.text("uri"),
            _ => None,
        };
        let Some(named) = named else { return Ok(()) };
        compare("Mcp-Name", header("mcp-name"), &named)?;
        if incoming.method == "tools/call" {
            let surface = self.surface(view, Viewer::Local);
            let headers = surface.tool(&named).map(|tool| tool.param_headers.as_slice()).unwrap_or_default();
            check_params(headers, &params, header)?;
        }
        Ok(())
    }
}

fn check_params<'h>(
    headers: &[ParamHeader],
    params: &RawObject<'_>,
    header: impl Fn(&str) -> Option<&'h str>,
) -> Result<(), McpRefusal> {
    if headers.is_empty() {
        return Ok(());
    }
    let arguments = params.get("arguments").and_then(|arguments| serde_json::from_str::<Value>(arguments.get()).ok());
    let arguments = arguments.unwrap_or_default();
    for ParamHeader { path, name } in headers {
        let name = format!("Mcp-Param-{name}");
        let sent = header(&name.to_lowercase());
        let value = path.iter().try_fold(&arguments, |value, step| value.get(step));
        match value {
            None | Some(Value::Null) if sent.is_none() => {}
            None | Some(Value::Null) => return Err(mismatch(format!("{name} names a value that the body lacks"))),
            Some(Value::String(text)) => compare(&name, sent, text)?,
            Some(value) => compare(&name, sent, &value.to_string())?,
        }
    }
    Ok(())
}

/// Refuses a header that is missing, cannot be decoded, or says something else than the body.
fn compare(name: &str, sent: Option<&str>, expected: &str) -> Result<(), McpRefusal> {
    let Some(sent) = sent else { return Err(mismatch(format!("the header {name} is missing"))) };
    let Some(sent) = decode(sent.trim()) else { return Err(mismatch(format!("the header {name} cannot be decoded"))) };
    match sent == expected {
        true => Ok(()),
        false => Err(mismatch(format!("the header {name} and the body say different things"))),
    }
}

fn decode(value: &str) -> Option<String> {
    let (prefix, suffix) = ENCODED;
    match value.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(suffix)) {
        None => Some(value.to_owned()),
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
    }
}

fn mismatch(why: String) -> McpRefusal {
    McpRefusal::new(HEADER_MISMATCH, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoded_value_is_decoded_and_any_other_is_taken_literally() {
        for (value, expected) in [
            ("plain", Some("plain")),
            ("=?base64?SGVsbG8=?=", Some("Hello")),
            ("=?base64?SGVsbG8?=", None),
            ("=?base64?SGVs!!!bG8=?=", None),
            ("=?base64?SGVsbG8=", Some("=?base64?SGVsbG8=")),
            ("SGVsbG8=?=", Some("SGVsbG8=?=")),
        ] {
            assert_eq!(decode(value).as_deref(), expected, "{value}");
        }
    }

    #[test]
    fn parameters_with_headers_are_found_at_any_depth() {
        let tool = r#"{"name":"a","inputSchema":{"properties":{
            "region":{"type":"string","x-mcp-header":"Region"},
            "other":{"type":"string"},
            "in":{"type":"object","properties":{"x":{"type":"number","x-mcp-header":"X"}}}}}}"#;
        let found = ParamHeader::all(&RawValue::from_string(tool.into()).unwrap());
        let found: Vec<_> = found.iter().map(|one| (one.path.join("."), one.name.as_str())).collect();
        assert_eq!(found, [("region".into(), "Region"), ("in.x".into(), "X")]);
    }
}
