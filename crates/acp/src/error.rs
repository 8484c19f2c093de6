//! The errors that an editor is answered with.

use agent_client_protocol_schema::v1 as acp;
use roost_model::failure::{FailureCode, TaskError};
use roost_rpc::{Fault, FaultCode};
use serde_json::{Map, Value, json};

use crate::profile::OWN_META;

const PARSE: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;
const INTERNAL: i32 = -32603;
const AUTH_REQUIRED: i32 = -32000;
pub(crate) const NOT_FOUND: i32 = -32002;
const CANCELLED: i32 = -32800;

pub(crate) fn parse(message: impl Into<String>) -> acp::Error {
    acp::Error::new(PARSE, message)
}

pub(crate) fn invalid_request(message: impl Into<String>) -> acp::Error {
    acp::Error::new(INVALID_REQUEST, message)
}

pub(crate) fn no_method(method: &str) -> acp::Error {
    acp::Error::new(METHOD_NOT_FOUND, format!("there is no method \"{method}\""))
}

pub(crate) fn invalid_params(message: impl Into<String>) -> acp::Error {
    acp::Error::new(INVALID_PARAMS, message)
}

pub(crate) fn internal(message: impl Into<String>) -> acp::Error {
    acp::Error::new(INTERNAL, message)
}

/// The daemon went away while something waited for it.
pub(crate) fn gone() -> acp::Error {
    internal("the daemon has closed the connection")
}

pub(crate) fn cancelled() -> acp::Error {
    acp::Error::new(CANCELLED, "the request was cancelled")
}

/// A session that does not exist. The recorded clients of seed 002 (`is_legacy`) expect the code for parameters.
pub(crate) fn no_session(id: &str, is_legacy: bool) -> acp::Error {
    let code = if is_legacy { INVALID_PARAMS } else { NOT_FOUND };
    acp::Error::new(code, format!("no session \"{id}\"")).data(json!({ "sessionId": id }))
}

/// What the daemon or the connection to it said.
pub(crate) fn from_daemon(error: roost_client::Error) -> acp::Error {
    match error {
        roost_client::Error::Fault(fault) => from_fault(fault),
        other => internal(other.to_string()),
    }
}

fn from_fault(fault: Fault) -> acp::Error {
    use FaultCode::*;
    let code = match fault.kind() {
        Some(SessionNotFound) => NOT_FOUND,
        Some(
            InvalidParams | PathTraversal | DirectoryNotFound | FileNotFound | FileTooLarge | TooLarge | Forbidden
            | WorkspaceNotFound,
        ) => INVALID_PARAMS,
        _ => INTERNAL,
    };
    let mut data = fault.data;
    if let Some(id) = data.get("session_id").cloned() {
        data.insert("sessionId".into(), id);
    }
    acp::Error::new(code, fault.message).data(Value::Object(data))
}

/// A task that failed: never a clean end of the turn.
pub(crate) fn from_task(reason: &str, error: &TaskError) -> acp::Error {
    let code = if error.code == FailureCode::AuthError { AUTH_REQUIRED } else { INTERNAL };
    let mut data = Map::new();
    data.insert("code".into(), json!(error.code));
    data.insert("retryable".into(), json!(error.retryable));
    data.insert("reason".into(), json!(reason));
    let ended_by = if error.code == FailureCode::RuntimeExited { "exit" } else { "runtime" };
    data.insert("_meta".into(), json!({ OWN_META: { "endedBy": ended_by } }));
    if let Some(runtime) = &error.runtime {
        data.insert("runtime".into(), json!(runtime.id()));
    }
    if let Some(tail) = &error.stderr_tail {
        data.insert("stderr".into(), json!(tail));
    }
    acp::Error::new(code, error.message.clone()).data(Value::Object(data))
}
