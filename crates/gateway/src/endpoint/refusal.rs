//! Why a request gets an error instead of a result.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::era::MODERN;
use crate::raw_object::to_raw;

/// The message is no JSON.
pub(crate) const PARSE_ERROR: i64 = -32700;
/// The message is no request of the protocol.
pub(crate) const INVALID_REQUEST: i64 = -32600;
/// There is no such method, or the server lacks what it is for.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
/// The parameters are wrong, or name what is not there.
pub(crate) const INVALID_PARAMS: i64 = -32602;
/// The gateway or the service failed.
pub(crate) const INTERNAL_ERROR: i64 = -32603;
/// The legacy code for a resource that does not exist.
pub(crate) const RESOURCE_NOT_FOUND: i64 = -32002;
/// A header and the body say different things.
pub(crate) const HEADER_MISMATCH: i64 = -32020;
/// The client lacks a capability that the request needs.
pub(crate) const MISSING_CAPABILITY: i64 = -32021;
/// The revision is not served.
pub(crate) const UNSUPPORTED_VERSION: i64 = -32022;

/// The characters of our own words that the record of a call keeps; some of them come from services.
const MAX_RECORDED: usize = 500;

/// An error that answers a request: one of ours, or the service's as it wrote it.
#[derive(Debug)]
pub enum McpRefusal {
    /// The gateway refuses.
    Own {
        /// The code of JSON-RPC or MCP.
        code: i64,
        /// What happened, to what, and what to do next.
        message: String,
        /// More for programs; null if there is nothing.
        data: Value,
    },
    /// The service answered with this error object.
    Service(Box<RawValue>),
}

impl McpRefusal {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self::Own { code, message: message.into(), data: Value::Null }
    }

    pub(crate) fn with(code: i64, message: impl Into<String>, data: Value) -> Self {
        Self::Own { code, message: message.into(), data }
    }

    pub(crate) fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, message)
    }

    pub(crate) fn no_method(method: &str) -> Self {
        Self::new(METHOD_NOT_FOUND, format!("there is no method {method} here"))
    }

    pub(crate) fn unsupported_version(requested: &str) -> Self {
        let message = format!("the revision {requested} is not served; use {MODERN}, or begin with initialize");
        Self::with(UNSUPPORTED_VERSION, message, json!({ "supported": [MODERN], "requested": requested }))
    }

    /// The code of the error; 0 if a service gave none.
    pub fn code(&self) -> i64 {
        match self {
            Self::Own { code, .. } => *code,
            Self::Service(error) => serde_json::from_str::<Value>(error.get())
                .ok()
                .and_then(|error| error["code"].as_i64())
                .unwrap_or_default(),
        }
    }

    /// The status with which HTTP answers this error to a modern client.
    pub fn http_status(&self) -> u16 {
        match self.code() {
            METHOD_NOT_FOUND => 404,
            PARSE_ERROR | INVALID_REQUEST | HEADER_MISMATCH | MISSING_CAPABILITY | UNSUPPORTED_VERSION => 400,
            _ => 200,
        }
    }

    /// The message is no request of the protocol.
    pub fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(INVALID_REQUEST, message)
    }

    /// The message is no JSON.
    pub fn no_json() -> Self {
        Self::new(PARSE_ERROR, "the message is no JSON")
    }

    /// The message of the error, for people.
    pub fn message(&self) -> String {
        match self {
            Self::Own { message, .. } => message.clone(),
            Self::Service(error) => serde_json::from_str::<Value>(error.get())
                .ok()
                .and_then(|error| Some(error["message"].as_str()?.to_owned()))
                .unwrap_or_default(),
        }
    }

    /// What the record of a call says of the error. A service's own words could repeat what the call was given.
    pub(super) fn for_record(&self) -> String {
        match self {
            Self::Own { message, .. } => message.chars().take(MAX_RECORDED).collect(),
            Self::Service(_) => format!("the service answered with error {}", self.code()),
        }
    }

    /// The error object.
    pub fn to_raw(&self) -> Box<RawValue> {
        match self {
            Self::Own { code, message, data: Value::Null } => to_raw(&json!({ "code": code, "message": message })),
            Self::Own { code, message, data } => to_raw(&json!({ "code": code, "message": message, "data": data })),
            Self::Service(error) => error.clone(),
        }
    }
}
