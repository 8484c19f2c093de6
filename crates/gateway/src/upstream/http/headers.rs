//! The headers of MCP over HTTP.

use reqwest::Response;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use serde_json::value::RawValue;

use super::super::param_headers::{ParamHeaders, header_value};
use super::HttpSession;
use crate::raw_object::RawObject;
use crate::trace_context::{TRACEPARENT, TraceContext};

pub(super) const SESSION_ID: &str = "mcp-session-id";
const PROTOCOL_VERSION: &str = "mcp-protocol-version";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";

/// The headers of every message in a session; the revision is not known before the handshake.
pub(super) fn of_session(session: &HttpSession, with_revision: bool) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    if with_revision && let Ok(revision) = HeaderValue::from_str(session.era.revision()) {
        headers.insert(PROTOCOL_VERSION, revision);
    }
    if let Some(id) = &session.id {
        headers.insert(SESSION_ID, id.clone());
    }
    headers
}

/// Adds what a modern server wants to read without reading the body.
pub(super) fn add_of_request(
    headers: &mut HeaderMap,
    method: &str,
    params: Option<&RawValue>,
    param_headers: &ParamHeaders,
) {
    if let Some(method) = header_value(method) {
        headers.insert(METHOD, method);
    }
    let member = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return,
    };
    let Some(params) = params.and_then(RawObject::parse) else { return };
    let Some(name) = params.get(member).and_then(|name| serde_json::from_str::<String>(name.get()).ok()) else {
        return;
    };
    if let Some(value) = header_value(&name) {
        headers.insert(NAME, value);
    }
    if method == "tools/call" {
        headers.extend(param_headers.of_call(&name, params.get("arguments")));
    }
}

/// Adds the trace that the parameters name, for what stands between us and the server.
pub(super) fn add_trace(headers: &mut HeaderMap, params: Option<&RawValue>) {
    let Some(params) = params.filter(|params| params.get().contains(TRACEPARENT)) else { return };
    let trace = RawObject::parse(params).and_then(|params| TraceContext::text_of(&params));
    if let Some(trace) = trace.filter(|trace| TraceContext::parse(trace).is_some())
        && let Ok(trace) = HeaderValue::try_from(trace)
    {
        headers.insert(TRACEPARENT, trace);
    }
}

/// The media type of a response without its parameters, in small letters; empty if it has none.
pub(super) fn media_type(response: &Response) -> String {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// What the server wants of a client that it does not let in: the header `WWW-Authenticate`.
pub(super) fn challenge(response: &Response) -> Option<String> {
    response.headers().get(WWW_AUTHENTICATE).and_then(|wanted| wanted.to_str().ok()).map(ToOwned::to_owned)
}
