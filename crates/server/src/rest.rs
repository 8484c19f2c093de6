//! The REST routes of seed 004: each is a method of the table with its parameters in the query or the body.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, on, post};
use axum::{Extension, Router};
use bytes::Bytes;
use roost_rpc::{Call, Cost, Fault, FaultCode, Id, Method, Outcome, Route, Verb};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::guard::Admitted;
use crate::host::Host;
use crate::http::{limited, run};

/// A route's own fields, made from its parameters and the method's result.
type Shape = fn(&Map<String, Value>, Value) -> Value;

/// Every route that stands for a method.
pub(crate) fn routes() -> Router<Arc<Host>> {
    let all = Method::ALL.iter().flat_map(|method| method.routes());
    all.fold(Router::new(), |router, Route { verb, path, method }| {
        let shape = match method {
            Method::SessionList => sessions,
            Method::SessionMessages => messages,
            Method::SessionDelete => deleted,
            Method::AgentRun => ran,
            Method::GitDiff => diffs,
            _ => same,
        };
        let handler = match verb {
            Verb::Get => asked(MethodFilter::GET, method, shape),
            Verb::Delete => asked(MethodFilter::DELETE, method, shape),
            Verb::Post => sent(method, shape),
        };
        router.route(&path, handler)
    })
}

/// Diffs of all files are a table by path here.
fn diffs(_: &Map<String, Value>, mut result: Value) -> Value {
    let Some(Value::Array(files)) = result.get_mut("diffs").map(Value::take) else { return result };
    let path = |file: &Value| {
        let staged = if file["is_staged"] == true { " (staged)" } else { "" };
        format!("{}{staged}", file["path"].as_str().unwrap_or_default())
    };
    let truncated: Vec<_> = files.iter().filter(|file| file["is_truncated"] == true).map(path).collect();
    let diffs: Map<_, _> = files.iter().map(|file| (path(file), file["diff"].clone())).collect();
    json!({ "diffs": diffs, "truncated_paths": truncated })
}

fn same(_: &Map<String, Value>, result: Value) -> Value {
    result
}

/// A page of sessions tells where it stands.
fn sessions(params: &Map<String, Value>, mut result: Value) -> Value {
    let current = result["sessions"].get(0).map_or(json!(""), |first| first["session_id"].clone());
    result["current"] = current;
    result["limit"] = params.get("limit").cloned().unwrap_or(json!(50));
    result["offset"] = params.get("offset").cloned().unwrap_or(json!(0));
    result
}

fn messages(_: &Map<String, Value>, mut result: Value) -> Value {
    result["cache_hit"] = json!(false);
    result
}

fn ran(params: &Map<String, Value>, mut result: Value) -> Value {
    result["prompt"] = params.get("prompt").cloned().unwrap_or_default();
    result
}

/// With its parameters in the query.
fn asked(verb: MethodFilter, method: Method, shape: Shape) -> MethodRouter<Arc<Host>> {
    on(
        verb,
        move |State(host): State<Arc<Host>>,
              Extension(admitted): Extension<Admitted>,
              query: Query<Vec<(String, String)>>| {
            serve(host, admitted, method, from_query(query.0), shape)
        },
    )
}

fn deleted(params: &Map<String, Value>, mut result: Value) -> Value {
    let message = if params.contains_key("session_id") { "Session deleted" } else { "All sessions deleted" };
    result["message"] = json!(message);
    result
}

/// With its parameters in the body.
fn sent(method: Method, shape: Shape) -> MethodRouter<Arc<Host>> {
    post(move |State(host): State<Arc<Host>>, Extension(admitted): Extension<Admitted>, body: Bytes| async move {
        let params = match body.is_empty() {
            true => Ok(Map::new()),
            false => serde_json::from_slice(&body),
        };
        match params {
            Ok(params) => serve(host, admitted, method, params, shape).await,
            Err(error) => refuse(&Fault::new(FaultCode::ParseError, error)),
        }
    })
}

/// Numbers and booleans are such in a query too.
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
    admitted: Admitted,
    method: Method,
    params: Map<String, Value>,
    shape: Shape,
) -> Response {
    let raw = RawValue::from_string(Value::Object(params.clone()).to_string()).ok();
    let call = Call { id: Some(Id::NULL), method: method.name().into(), params: raw };
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

/// What git itself refused to do is an answer to these clients, and no failure of the call.
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
