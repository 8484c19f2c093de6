//! JSON-RPC 2.0: parses a line or frame into calls, and encodes the responses.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Number, Value};

use super::fault::{Fault, FaultCode};

/// Most calls in one batch.
pub const MAX_BATCH: usize = 64;
/// Deepest nesting of arrays and objects that is accepted; serde would recurse as deep as the frame goes.
pub const MAX_DEPTH: usize = 100;

/// The id of a request, sent back unchanged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Id {
    /// An id that is text.
    Text(String),
    /// An id that is a number, also a negative one or a fraction.
    Number(Number),
    /// `null`, which also stands in the response to a frame that could not be read.
    Null(()),
}

impl Id {
    /// The id of the response to a frame that could not be read.
    pub const NULL: Self = Self::Null(());
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => number.fmt(f),
            Self::Null(()) => f.write_str("null"),
        }
    }
}

/// A JSON-RPC request, or a notification if it has no id.
#[derive(Debug)]
pub struct RpcCall {
    /// `None` for a notification, which gets no response.
    pub id: Option<Id>,
    /// Name of the method, not checked yet.
    pub method: String,
    /// The parameters, not parsed yet; `None` means `{}`.
    pub params: Option<Box<RawValue>>,
}

/// The content of one frame. An entry that is not a valid call is the error response to send for it.
#[derive(Debug)]
pub enum RpcFrame {
    /// A single call.
    One(Result<RpcCall, Box<Response>>),
    /// A batch; its responses are sent together.
    Batch(Vec<Result<RpcCall, Box<Response>>>),
}

impl RpcFrame {
    /// Parses a frame. If it is not JSON at all, the error is the response to send.
    pub fn read(frame: &[u8]) -> Result<Self, Box<Response>> {
        let refuse = |code, why: &dyn fmt::Display| Box::new(Response::error(Id::NULL, Fault::new(code, why)));
        let parse = |error: serde_json::Error| refuse(FaultCode::ParseError, &error);
        if depth(frame) > MAX_DEPTH {
            let why = format_args!("arrays and objects may lie {MAX_DEPTH} deep in each other, not deeper");
            return Err(refuse(FaultCode::ParseError, &why));
        }
        let first = frame.iter().find(|byte| !byte.is_ascii_whitespace());
        if first != Some(&b'[') {
            let raw: &RawValue = serde_json::from_slice(frame).map_err(parse)?;
            return Ok(Self::One(RpcCall::read(raw)));
        }
        let members: Vec<&RawValue> = serde_json::from_slice(frame).map_err(parse)?;
        let refuse = |why: &dyn fmt::Display| Err(refuse(FaultCode::InvalidRequest, why));
        match members.len() {
            0 => refuse(&"the batch is empty; send at least one request"),
            many if many > MAX_BATCH => {
                refuse(&format_args!("the batch has {many} requests; send at most {MAX_BATCH}"))
            }
            _ => Ok(Self::Batch(members.into_iter().map(RpcCall::read).collect())),
        }
    }
}

impl RpcCall {
    fn read(raw: &RawValue) -> Result<Self, Box<Response>> {
        #[derive(Deserialize)]
        struct Wire<'a> {
            #[serde(default)]
            jsonrpc: Option<Value>,
            #[serde(borrow, default, deserialize_with = "present_or_null")]
            id: Option<&'a RawValue>,
            #[serde(default)]
            method: Option<Value>,
            #[serde(borrow, default)]
            params: Option<&'a RawValue>,
        }
        let refuse = |id: Id, why: &str| Err(Box::new(Response::error(id, Fault::new(FaultCode::InvalidRequest, why))));
        let Ok(wire) = serde_json::from_str::<Wire<'_>>(raw.get()) else {
            return refuse(Id::NULL, "a request is an object with `jsonrpc`, `method` and, if answered, `id`");
        };
        let id = match wire.id.map(|id| serde_json::from_str::<Id>(id.get())) {
            None => None,
            Some(Ok(id)) => Some(id),
            Some(Err(_)) => return refuse(Id::NULL, "`id` must be text, a number or null"),
        };
        let answer_to = id.clone().unwrap_or(Id::NULL);
        if wire.jsonrpc.as_ref().and_then(Value::as_str) != Some("2.0") {
            return refuse(answer_to, "`jsonrpc` must be \"2.0\"");
        }
        let Some(Value::String(method)) = wire.method else {
            return refuse(answer_to, "`method` must be the name of a method");
        };
        // A client's `null` means that it has nothing to say.
        let params = wire.params.filter(|params| params.get() != "null").map(ToOwned::to_owned);
        Ok(Self { id, method, params })
    }
}

/// The deepest nesting of arrays and objects; counted on the bytes, because parsing would already recurse.
fn depth(frame: &[u8]) -> usize {
    let (mut depth, mut deepest, mut in_text, mut escaped) = (0_usize, 0, false, false);
    for byte in frame {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'[' | b'{' if !in_text => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Keeps `"id": null` apart from no id at all: the first is answered.
fn present_or_null<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// The response to a request.
#[derive(Debug, Serialize)]
pub struct Response {
    jsonrpc: &'static str,
    /// The request's id.
    pub id: Id,
    /// Its result or error, flattened into the response.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// The result of a request.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The method's result, encoded.
    Result(Box<RawValue>),
    /// The error that is sent in place of a result.
    Error(Fault),
}

impl Response {
    /// The response to the request with this id.
    pub fn new(id: Id, outcome: Result<Box<RawValue>, Fault>) -> Self {
        let outcome = outcome.map_or_else(Outcome::Error, Outcome::Result);
        Self { jsonrpc: "2.0", id, outcome }
    }

    /// An error response.
    pub fn error(id: Id, fault: Fault) -> Self {
        Self::new(id, Err(fault))
    }

    /// The response as one line of JSON.
    pub fn encode(&self) -> String {
        // An id and an encoded result cannot fail to encode; a fault holds only JSON.
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code that a frame is refused with, and the id that the refusal bears.
    fn refusal(frame: &str) -> Option<(i32, String)> {
        let response = match RpcFrame::read(frame.as_bytes()) {
            Err(response) | Ok(RpcFrame::One(Err(response))) => response,
            Ok(_) => return None,
        };
        let Outcome::Error(fault) = response.outcome else { return None };
        Some((fault.code, response.id.to_string()))
    }

    #[test]
    fn what_is_no_request_is_refused_with_the_id_where_it_has_one() {
        let deep = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{}1{}}}",
            "[".repeat(9000),
            "]".repeat(9000)
        );
        let table = [
            ("", -32700, "null"),
            ("{", -32700, "null"),
            ("nonsense", -32700, "null"),
            (deep.as_str(), -32700, "null"),
            ("1", -32600, "null"),
            ("[]", -32600, "null"),
            (r#"{"jsonrpc":"2.0","id":1}"#, -32600, "1"),
            (r#"{"jsonrpc":"1.0","id":"a","method":"x"}"#, -32600, "a"),
            (r#"{"id":1,"method":"x"}"#, -32600, "1"),
            (r#"{"jsonrpc":"2.0","id":{},"method":"x"}"#, -32600, "null"),
            (r#"{"jsonrpc":"2.0","id":true,"method":"x"}"#, -32600, "null"),
            (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, -32600, "1"),
        ];
        for (frame, code, id) in table {
            let start: String = frame.chars().take(60).collect();
            assert_eq!(refusal(frame), Some((code, id.to_owned())), "{start}");
        }
    }

    #[test]
    fn ids_of_every_legal_type_come_back_as_they_came() {
        for id in ["1", "-7", "1.5", "\"a\"", "null"] {
            let frame = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x"}}"#);
            let Ok(RpcFrame::One(Ok(call))) = RpcFrame::read(frame.as_bytes()) else { panic!("{id}") };
            assert_eq!(serde_json::to_string(&call.id.unwrap()).unwrap(), id);
        }
    }

    #[test]
    fn without_an_id_it_is_a_notification() {
        let Ok(RpcFrame::One(Ok(call))) = RpcFrame::read(br#"{"jsonrpc":"2.0","method":"x","params":null}"#) else {
            panic!("it is a call")
        };
        assert!(call.id.is_none() && call.params.is_none());
    }

    #[test]
    fn a_batch_is_read_member_by_member() {
        let Ok(RpcFrame::Batch(members)) = RpcFrame::read(br#" [{"jsonrpc":"2.0","id":1,"method":"x"}, 5]"#) else {
            panic!("it is a batch")
        };
        assert!(members[0].is_ok() && members[1].is_err());
        let many = format!("[{}1]", "1,".repeat(MAX_BATCH));
        assert_eq!(refusal(&many), Some((-32600, "null".into())));
    }
}
