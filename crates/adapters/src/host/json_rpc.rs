//! JSON-RPC with a runtime: messages are read with tolerance and written strictly.
//!
//! Agents print banners, logs and torn messages on the stream that carries their protocol. Only a JSON object in the
//! shape of JSON-RPC is a message; everything else is noise, which is shown to people and otherwise ignored.

use std::borrow::Cow;
use std::collections::HashMap;

use roost_engine::adapter::AdapterError;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::Writer;

/// One message from the runtime.
#[derive(Debug)]
pub(crate) enum Incoming<'a> {
    /// A message that expects no answer.
    Notification { method: Cow<'a, str>, params: &'a RawValue },
    /// A message that must be answered under its `id`.
    Request { id: RpcId, method: Cow<'a, str>, params: &'a RawValue },
    /// The answer to our request of this id.
    Response { id: u64, result: Result<&'a RawValue, RpcError> },
    /// Not a message of the protocol.
    Noise,
}

/// The id of a request of the runtime's; the answer repeats it unchanged, with its JSON type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum RpcId {
    Number(i64),
    Text(String),
}

/// A JSON-RPC error object; members that are missing are read as 0 or empty.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct RpcError {
    #[serde(default)]
    pub(crate) code: i64,
    #[serde(default)]
    pub(crate) message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<Value>,
}

/// The runtime's answer to a request.
pub(crate) type CallResult = Result<Value, RpcError>;

/// Copies an answer out of the line that it borrows from; a result that is no valid JSON becomes null.
pub(crate) fn owned(result: Result<&RawValue, RpcError>) -> CallResult {
    result.map(|raw| serde_json::from_str(raw.get()).unwrap_or(Value::Null))
}

/// The members of every kind of message; which of them are there tells the kind.
#[derive(Deserialize)]
struct RawMessage<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<RpcError>,
}

/// Reads one message; never fails, because what is not protocol is [`Incoming::Noise`].
pub(crate) fn parse(text: &str) -> Incoming<'_> {
    if !text.trim_start().starts_with('{') {
        return Incoming::Noise;
    }
    let Ok(RawMessage { id, method, params, result, error }) = serde_json::from_str(text) else {
        return Incoming::Noise;
    };
    let params = params.unwrap_or(RawValue::NULL);
    match (id.map(RawValue::get), method) {
        (None | Some("null"), Some(method)) => Incoming::Notification { method, params },
        (Some(id), Some(method)) => match serde_json::from_str(id) {
            Ok(id) => Incoming::Request { id, method, params },
            Err(_) => Incoming::Noise,
        },
        (Some(id), None) => match (id.parse(), error) {
            (Ok(id), Some(error)) => Incoming::Response { id, result: Err(error) },
            (Ok(id), None) => Incoming::Response { id, result: Ok(result.unwrap_or(RawValue::NULL)) },
            (Err(_), _) => Incoming::Noise,
        },
        (None, None) => Incoming::Noise,
    }
}

/// The client side of a connection: writes messages and remembers, for every request that is still open, what to do
/// (`T`) with its answer.
pub(crate) struct Peer<T> {
    writer: Writer,
    /// The `jsonrpc` member of every message; `None` for Codex, which leaves it out.
    jsonrpc: Option<&'static str>,
    open: HashMap<u64, T>,
    /// The id of the next request.
    next: u64,
}

/// A message of any kind to the runtime; members that are `None` are left out.
#[derive(Serialize)]
struct Outgoing<'a, I, P> {
    #[serde(skip_serializing_if = "Option::is_none")]
    jsonrpc: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<I>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a P>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a P>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a RpcError>,
}

impl<T> Peer<T> {
    /// A peer without open requests; `jsonrpc` is the version that every message names, if any.
    pub(crate) fn new(writer: Writer, jsonrpc: Option<&'static str>) -> Self {
        Self { writer, jsonrpc, open: HashMap::new(), next: 1 }
    }

    /// Sends a request. If it cannot be sent, returns `then` with the error, so that the caller can reply to it.
    pub(crate) fn call(&mut self, method: &str, params: &Value, then: T) -> Result<(), (T, AdapterError)> {
        let id = self.next;
        self.next += 1;
        let request = Outgoing { id: Some(id), method: Some(method), params: Some(params), ..self.empty() };
        if let Err(error) = self.send(&request) {
            return Err((then, error));
        }
        self.open.insert(id, then);
        Ok(())
    }

    /// Sends a notification, which has no answer.
    pub(crate) fn notify(&self, method: &str, params: Option<&Value>) -> Result<(), AdapterError> {
        self.send(&Outgoing::<u64, _> { method: Some(method), params, ..self.empty() })
    }

    /// Answers a request of the runtime's with a result.
    pub(crate) fn answer(&self, id: &RpcId, result: &impl Serialize) -> Result<(), AdapterError> {
        self.send(&Outgoing { id: Some(id), result: Some(result), ..self.empty() })
    }

    /// Answers a request of the runtime's with an error.
    pub(crate) fn refuse(&self, id: &RpcId, error: &RpcError) -> Result<(), AdapterError> {
        self.send(&Outgoing::<_, Value> { id: Some(id), error: Some(error), ..self.empty() })
    }

    /// Takes what to do with the answer to this request; `None` if no such request is open.
    pub(crate) fn take(&mut self, id: u64) -> Option<T> {
        self.open.remove(&id)
    }

    /// Takes every open request, because the runtime is gone.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = T> {
        self.open.drain().map(|(_, then)| then)
    }

    /// Registers a request that was sent in a recorded run, so that its recorded answer is matched.
    #[cfg(test)]
    pub(crate) fn expect(&mut self, id: u64, then: T) {
        self.open.insert(id, then);
    }

    fn empty<'a, I, P>(&self) -> Outgoing<'a, I, P> {
        let (jsonrpc, id, method, params, result, error) = (self.jsonrpc, None, None, None, None, None);
        Outgoing { jsonrpc, id, method, params, result, error }
    }

    fn send(&self, message: &impl Serialize) -> Result<(), AdapterError> {
        // Wire types have string keys and finite numbers only, so they always serialise.
        self.writer.send(serde_json::to_string(message).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;
    use serde_json::json;

    use super::*;
    use crate::generated::{cut, message};

    fn kind(text: &str) -> &'static str {
        match parse(text) {
            Incoming::Notification { .. } => "notification",
            Incoming::Request { .. } => "request",
            Incoming::Response { result: Ok(_), .. } => "answer",
            Incoming::Response { result: Err(_), .. } => "error",
            Incoming::Noise => "noise",
        }
    }

    #[test]
    fn every_text_is_protocol_or_noise() {
        let cases = [
            (r#"{"method":"turn/started","params":{},"emittedAtMs":1}"#, "notification"),
            (r#"{"method":"initialized"}"#, "notification"),
            (r#"{"method":"item/tool/call","id":0,"params":{}}"#, "request"),
            (r#"{"method":"item/tool/call","id":"a","params":{}}"#, "request"),
            (r#"{"id":1,"result":{}}"#, "answer"),
            (r#"{"id":1,"result":null}"#, "answer"),
            (r#"{"error":{"code":-32600,"message":"no"},"id":1}"#, "error"),
            (r#"{"error":{},"id":1}"#, "error"),
            (r#"{"id":"not ours","result":{}}"#, "noise"),
            (r#"{"level":"info"}"#, "noise"),
            ("[]", "noise"),
            ("{", "noise"),
            ("", "noise"),
        ];
        for (text, expected) in cases {
            assert_eq!(kind(text), expected, "{text}");
        }
    }

    #[test]
    fn messages_are_written_as_either_dialect_wants_them() {
        let dialects = [
            (Some("2.0"), r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":null}}"#),
            (None, r#"{"id":1,"method":"m","params":{"a":null}}"#),
        ];
        for (version, request) in dialects {
            let (writer, mut written) = Writer::new("deaf");
            let mut peer = Peer::new(writer, version);
            peer.call("m", &json!({ "a": null }), ()).unwrap();
            peer.notify("n", None).unwrap();
            peer.answer(&RpcId::Number(0), &Value::Null).unwrap();
            let error = RpcError { code: -32601, message: "no".into(), data: None };
            peer.refuse(&RpcId::Text("a".into()), &error).unwrap();
            let head = if version.is_some() { r#""jsonrpc":"2.0","# } else { "" };
            let expected = [
                request.to_owned(),
                format!(r#"{{{head}"method":"n"}}"#),
                format!(r#"{{{head}"id":0,"result":null}}"#),
                format!(r#"{{{head}"id":"a","error":{{"code":-32601,"message":"no"}}}}"#),
            ];
            for expected in expected {
                assert_eq!(written.try_recv().unwrap(), expected);
            }
            assert_eq!((peer.take(1), peer.take(1)), (Some(()), None));
        }
    }
    proptest! {
        #[test]
        fn no_text_breaks_the_parser(
            message in message("method", &["turn/started", "item/tool/call"], &["id", "params", "result", "error", "code"]),
            at: Index,
            text in ".{0,200}",
        ) {
            let line = Value::Object(message.clone()).to_string();
            // Half a request or answer may be noise.
            let is_notification = !message.contains_key("id") && !message.contains_key("error");
            prop_assert!(!is_notification || kind(&line) == "notification", "{}", line);
            prop_assert_eq!(kind(cut(&line, at)), "noise");
            let _ = parse(&text);
        }
    }
}
