//! The REST routes of seeds 003 and 004: each is a method of the table with its parameters in the query or the body.

use std::sync::Arc;

use axum::extract::{Query, RawPathParams, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, on, post};
use axum::{Extension, Router};
use bytes::Bytes;
use roost_rpc::{Cost, Fault, FaultCode, Id, Method, Outcome, Route, RpcCall, Verb};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::guard::{AdmittedRequest, has_type};
use crate::host::Host;
use crate::http::{limited, run};

/// A report of runs may name itself here instead of in its body.
const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// Where runs are reported.
pub(crate) const RUN_REPORTS: &str = "/api/agents/events";
/// One JSON document per line, in which many events can be reported at once.
pub(crate) const NDJSON: &str = "application/x-ndjson";

/// A route's own fields, made from its parameters and the method's result.
type Shape = fn(&Map<String, Value>, Value) -> Value;

/// The routes of all methods that have one.
pub(crate) fn routes() -> Router<Arc<Host>> {
    let all = Method::ALL.iter().flat_map(|method| method.routes());
    all.fold(Router::new(), |router, Route { verb, path, method }| {
        let shape = match method {
            Method::SessionList => with_page_position,
            Method::SessionMessages => with_cache_flag,
            Method::SessionDelete => with_delete_message,
            Method::AgentRun => with_prompt,
            Method::GitDiff => diffs_by_path,
            _ => unchanged,
        };
        let handler = match verb {
            Verb::Get => query_handler(MethodFilter::GET, method, shape),
            Verb::Delete => delete_handler(method, shape),
            Verb::Post if method == Method::RunReport => post(report_runs),
            Verb::Post => body_handler(method, shape),
        };
        router.route(&path, handler)
    })
}

/// `git/diff` of all files, as an object by path.
fn diffs_by_path(_: &Map<String, Value>, mut result: Value) -> Value {
    let Some(Value::Array(files)) = result.get_mut("diffs").map(Value::take) else { return result };
    let path = |file: &Value| {
        let staged = if file["is_staged"] == true { " (staged)" } else { "" };
        format!("{}{staged}", file["path"].as_str().unwrap_or_default())
    };
    let truncated: Vec<_> = files.iter().filter(|file| file["is_truncated"] == true).map(path).collect();
    let diffs: Map<_, _> = files.iter().map(|file| (path(file), file["diff"].clone())).collect();
    json!({ "diffs": diffs, "truncated_paths": truncated })
}

fn unchanged(_: &Map<String, Value>, result: Value) -> Value {
    result
}

/// `session/list` with the page's position and the latest session.
fn with_page_position(params: &Map<String, Value>, mut result: Value) -> Value {
    let current = result["sessions"].get(0).map_or(json!(""), |first| first["session_id"].clone());
    result["current"] = current;
    result["limit"] = params.get("limit").cloned().unwrap_or(json!(50));
    result["offset"] = params.get("offset").cloned().unwrap_or(json!(0));
    result
}

fn with_cache_flag(_: &Map<String, Value>, mut result: Value) -> Value {
    result["cache_hit"] = json!(false);
    result
}

fn with_prompt(params: &Map<String, Value>, mut result: Value) -> Value {
    result["prompt"] = params.get("prompt").cloned().unwrap_or_default();
    result
}

/// A handler that reads the parameters from the query string.
fn query_handler(verb: MethodFilter, method: Method, shape: Shape) -> MethodRouter<Arc<Host>> {
    on(
        verb,
        move |State(host): State<Arc<Host>>,
              Extension(admitted): Extension<AdmittedRequest>,
              path: RawPathParams,
              query: Query<Vec<(String, String)>>| {
            let mut params = from_query(query.0);
            params.extend(from_path(&path));
            serve(host, admitted, method, params, shape)
        },
    )
}

fn with_delete_message(params: &Map<String, Value>, mut result: Value) -> Value {
    let message = if params.contains_key("session_id") { "Session deleted" } else { "All sessions deleted" };
    result["message"] = json!(message);
    result
}

/// A handler that reads the parameters from a JSON body; an empty body means none.
fn body_handler(method: Method, shape: Shape) -> MethodRouter<Arc<Host>> {
    post(
        move |State(host): State<Arc<Host>>,
              Extension(admitted): Extension<AdmittedRequest>,
              path: RawPathParams,
              body: Bytes| async move {
            let params = match body.is_empty() {
                true => Ok(Map::new()),
                false => serde_json::from_slice::<Map<_, _>>(&body),
            };
            match params {
                Ok(mut params) => {
                    params.extend(from_path(&path));
                    serve(host, admitted, method, params, shape).await
                }
                Err(error) => refuse(&Fault::new(FaultCode::ParseError, error)),
            }
        },
    )
}

/// Parameters that are parts of the path; they win over others of the same name.
fn from_path(path: &RawPathParams) -> Map<String, Value> {
    path.iter().map(|(name, value)| (name.to_owned(), json!(value))).collect()
}

/// A handler that reads the parameters from the query string, and from a JSON body if there is one.
fn delete_handler(method: Method, shape: Shape) -> MethodRouter<Arc<Host>> {
    on(
        MethodFilter::DELETE,
        move |State(host): State<Arc<Host>>,
              Extension(admitted): Extension<AdmittedRequest>,
              path: RawPathParams,
              query: Query<Vec<(String, String)>>,
              body: Bytes| async move {
            let mut params = from_query(query.0);
            match if body.is_empty() { Ok(Map::new()) } else { serde_json::from_slice(&body) } {
                Ok(given) => params.extend(given),
                Err(error) => return refuse(&Fault::new(FaultCode::ParseError, error)),
            }
            params.extend(from_path(&path));
            serve(host, admitted, method, params, shape).await
        },
    )
}

/// `run/report` from one event, or from one event per line.
async fn report_runs(
    State(host): State<Arc<Host>>,
    Extension(admitted): Extension<AdmittedRequest>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let is_ndjson = has_type(&headers, NDJSON);
    let events: Result<Vec<Value>, _> = match is_ndjson {
        true => serde_json::Deserializer::from_slice(&body).into_iter().collect(),
        false => serde_json::from_slice(&body).map(|event: Value| vec![event]),
    };
    let events = match events {
        Ok(events) => events,
        Err(error) => return refuse(&Fault::new(FaultCode::ParseError, error)),
    };
    let mut params = Map::new();
    params.insert("events".into(), events.into());
    if let Some(key) = headers.get(IDEMPOTENCY_KEY).and_then(|key| key.to_str().ok()) {
        params.insert("idempotency_key".into(), key.into());
    }
    serve(host, admitted, Method::RunReport, params, unchanged).await
}

/// Parameters from a query string: numbers and booleans are recognised, except in fields that hold text.
fn from_query(pairs: Vec<(String, String)>) -> Map<String, Value> {
    let value = |text: String| match text.as_str() {
        "true" => json!(true),
        "false" => json!(false),
        _ => text.parse::<u64>().map_or(json!(text), |number| json!(number)),
    };
    // An id is text even where it is all digits.
    let is_text = |name: &str| {
        name.ends_with("_id")
            || [
                "auth_ref",
                "before",
                "after",
                "order",
                "path",
                "directory",
                "branch",
                "author",
                "since",
                "until",
                "name",
                "q",
                "query",
                "pattern",
                "extensions",
                "file_types",
            ]
            .contains(&name)
    };
    pairs
        .into_iter()
        .map(|(name, text)| if is_text(&name) { (name, json!(text)) } else { (name, value(text)) })
        .collect()
}

async fn serve(
    host: Arc<Host>,
    admitted: AdmittedRequest,
    method: Method,
    params: Map<String, Value>,
    shape: Shape,
) -> Response {
    let raw = RawValue::from_string(Value::Object(params.clone()).to_string()).ok();
    let call = RpcCall { id: Some(Id::NULL), method: method.name().into(), params: raw };
    let Some(response) = run(&host, &admitted.caller, call).await else {
        return StatusCode::NO_CONTENT.into_response();
    };
    match response.outcome {
        Outcome::Error(fault) if method.cost() != Cost::Read && is_gits_own(&fault) => {
            let body = json!({
                "success": false, "error": fault.message, "code": fault.data.get("code"), "details": fault.data,
            });
            ([(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
        }
        Outcome::Error(fault) => refuse(&fault),
        Outcome::Result(result) => {
            let result = serde_json::from_str(result.get()).unwrap_or_default();
            let body = shape(&params, result).to_string();
            ([(header::CONTENT_TYPE, "application/json")], body).into_response()
        }
    }
}

/// Whether git itself refused the operation: for these clients that is a response 200 with `success: false`.
fn is_gits_own(fault: &Fault) -> bool {
    matches!(fault.kind(), Some(FaultCode::GitOperationFailed | FaultCode::GitConflict))
}

pub(crate) fn refuse(fault: &Fault) -> Response {
    let body = json!({ "error": fault.message, "code": fault.data.get("code"), "details": fault.data }).to_string();
    let kind = fault.kind().unwrap_or(FaultCode::InternalError);
    if kind == FaultCode::RateLimited {
        return limited(fault, body);
    }
    let status = StatusCode::from_u16(kind.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}
