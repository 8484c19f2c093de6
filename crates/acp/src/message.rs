//! JSON-RPC messages from the editor, told apart.

use agent_client_protocol_schema::v1::{self as acp, RequestId};
use serde_json::{Map, Value};

use crate::error;

/// One message of the editor.
#[derive(Debug, PartialEq)]
pub(crate) enum Incoming {
    Request {
        id: RequestId,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    /// The answer to a request of ours.
    Response {
        id: RequestId,
        answer: Result<Value, acp::Error>,
    },
    /// No message: the error to answer with, under this id.
    Refused {
        id: RequestId,
        error: acp::Error,
    },
}

pub(crate) fn parse(bytes: &[u8]) -> Incoming {
    let refuse = |id, error| Incoming::Refused { id, error };
    let mut message = match serde_json::from_slice(bytes) {
        Ok(Value::Object(message)) => message,
        Ok(Value::Array(_)) => {
            return refuse(RequestId::Null, error::invalid_request("batches are not supported; send single messages"));
        }
        Ok(_) => return refuse(RequestId::Null, error::invalid_request("a message must be an object")),
        Err(failed) => return refuse(RequestId::Null, error::parse(format!("not JSON: {failed}"))),
    };
    let id = match message.remove("id").map(serde_json::from_value::<RequestId>) {
        None => None,
        Some(Ok(id)) => Some(id),
        Some(Err(_)) => {
            return refuse(RequestId::Null, error::invalid_request("an id must be a text, a whole number or null"));
        }
    };
    let answer_to = id.clone().unwrap_or(RequestId::Null);
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return refuse(answer_to, error::invalid_request("\"jsonrpc\" must be \"2.0\""));
    }
    let params = message.remove("params").unwrap_or(Value::Null);
    match (message.remove("method"), id) {
        (Some(Value::String(method)), Some(id)) => Incoming::Request { id, method, params },
        (Some(Value::String(method)), None) => Incoming::Notification { method, params },
        (Some(_), _) => refuse(answer_to, error::invalid_request("\"method\" must be a text")),
        (None, Some(id)) => match answer(message) {
            Some(answer) => Incoming::Response { id, answer },
            None => refuse(id, error::invalid_request("a message needs a method, a result or an error")),
        },
        (None, None) => refuse(answer_to, error::invalid_request("a message needs a method or an id")),
    }
}

fn answer(mut message: Map<String, Value>) -> Option<Result<Value, acp::Error>> {
    if let Some(error) = message.remove("error").filter(|error| !error.is_null()) {
        let unreadable = error.to_string();
        return Some(Err(serde_json::from_value(error).unwrap_or_else(|_| error::internal(unreadable))));
    }
    message.remove("result").map(Ok)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_message_is_told_apart_or_refused_with_its_code() {
        let request = |id| Incoming::Request { id, method: "m".into(), params: json!({ "a": 1 }) };
        for (text, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}"#, Ok(request(RequestId::Number(1)))),
            (r#"{"jsonrpc":"2.0","id":"x","method":"m","params":{"a":1}}"#, Ok(request(RequestId::Str("x".into())))),
            (r#"{"jsonrpc":"2.0","id":null,"method":"m","params":{"a":1}}"#, Ok(request(RequestId::Null))),
            (
                r#"{"jsonrpc":"2.0","method":"m"}"#,
                Ok(Incoming::Notification { method: "m".into(), params: Value::Null }),
            ),
            (
                r#"{"jsonrpc":"2.0","id":7,"result":null}"#,
                Ok(Incoming::Response { id: RequestId::Number(7), answer: Ok(Value::Null) }),
            ),
            (
                r#"{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no"}}"#,
                Ok(Incoming::Response { id: RequestId::Number(7), answer: Err(acp::Error::new(-1, "no")) }),
            ),
            ("{", Err((RequestId::Null, -32700))),
            ("\u{fffd}", Err((RequestId::Null, -32700))),
            ("[]", Err((RequestId::Null, -32600))),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"m"}]"#, Err((RequestId::Null, -32600))),
            ("3", Err((RequestId::Null, -32600))),
            ("{}", Err((RequestId::Null, -32600))),
            (r#"{"id":1,"method":"m"}"#, Err((RequestId::Number(1), -32600))),
            (r#"{"jsonrpc":"2.0","id":1}"#, Err((RequestId::Number(1), -32600))),
            (r#"{"jsonrpc":"2.0","id":1,"method":2}"#, Err((RequestId::Number(1), -32600))),
            (r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, Err((RequestId::Null, -32600))),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#, Err((RequestId::Null, -32600))),
        ] {
            let parsed = match parse(text.as_bytes()) {
                Incoming::Refused { id, error } => Err((id, i32::from(error.code))),
                message => Ok(message),
            };
            assert_eq!(parsed, expected, "{text}");
        }
        assert!(matches!(parse(b"\xff\xfe"), Incoming::Refused { error, .. } if i32::from(error.code) == -32700));
    }
}
