//! JSON-RPC messages as they pass through: what the gateway does not need to understand is kept as it came.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// One message of a server.
#[derive(Debug)]
pub enum ServerMessage<'a> {
    /// It expects no answer.
    Notification {
        /// What it is about.
        method: Cow<'a, str>,
        /// Its parameters, if it has some.
        params: Option<&'a RawValue>,
    },
    /// It must be answered under its id.
    Request {
        /// As the server wrote it.
        id: &'a RawValue,
        /// What the server wants.
        method: Cow<'a, str>,
        /// Its parameters, if it has some.
        params: Option<&'a RawValue>,
    },
    /// It answers a request of ours.
    Response {
        /// The id of the request.
        id: u64,
        /// The result, or the error object.
        answer: Result<&'a RawValue, &'a RawValue>,
    },
}

/// The members of every kind of message; which of them are there tells the kind.
#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// Reads a message of a server; `None` if it is none.
pub fn parse(text: &[u8]) -> Option<ServerMessage<'_>> {
    let Members { id, method, params, result, error } = serde_json::from_slice(text).ok()?;
    match (id.filter(|id| id.get() != "null"), method) {
        (None, Some(method)) => Some(ServerMessage::Notification { method, params }),
        (Some(id), Some(method)) => Some(ServerMessage::Request { id, method, params }),
        (Some(id), None) => {
            // A result of null cannot be told from none.
            let answer = error.map_or(Ok(result.unwrap_or(RawValue::NULL)), Err);
            Some(ServerMessage::Response { id: id.get().parse().ok()?, answer })
        }
        (None, None) => None,
    }
}

/// A request or notification to a server; members that are `None` are left out.
#[derive(Serialize)]
struct ToServer<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a RawValue>,
}

/// A request, or a notification if it has no id.
pub fn request(id: Option<u64>, method: &str, params: Option<&RawValue>) -> Vec<u8> {
    // A number, two texts and JSON that was read as JSON can always be written.
    serde_json::to_vec(&ToServer { jsonrpc: "2.0", id, method, params }).unwrap_or_default()
}

/// The answer to a request of a server.
pub fn response(id: &RawValue, answer: Result<&RawValue, &RawValue>) -> Vec<u8> {
    let (member, value) = match answer {
        Ok(result) => ("result", result),
        Err(error) => ("error", error),
    };
    format!(r#"{{"jsonrpc":"2.0","id":{},"{member}":{}}}"#, id.get(), value.get()).into_bytes()
}

/// The id in the first bytes of a response that was cut off; `None` if another member comes first.
pub fn id_at_start(start: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(start);
    let members = text.trim_start().strip_prefix('{')?.trim_start();
    let version = [r#""jsonrpc":"2.0","#, r#""jsonrpc": "2.0","#];
    let members = version.iter().find_map(|version| members.strip_prefix(version)).unwrap_or(members);
    digits(members.trim_start().strip_prefix(r#""id":"#)?)
}

/// The id in the last bytes of a response that was cut off; `None` if the end has no member of the message itself.
pub fn id_at_end(end: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(end);
    let (_, after) = text.trim_end().strip_suffix('}')?.rsplit_once(r#""id":"#)?;
    // Of the message itself only the version can follow.
    let rest = after.trim_start().trim_start_matches(|c: char| c.is_ascii_digit()).trim();
    (rest.is_empty() || rest == r#","jsonrpc":"2.0""# || rest == r#", "jsonrpc": "2.0""#).then(|| digits(after))?
}

fn digits(text: &str) -> Option<u64> {
    let text = text.trim_start();
    text[..text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())].parse().ok()
}

/// The error object of a message that is the body of a refused request; it may have no id.
pub fn error_object(text: &[u8]) -> Option<Box<RawValue>> {
    serde_json::from_slice::<Members<'_>>(text).ok()?.error.map(ToOwned::to_owned)
}

/// The id of the request that a notification takes back.
pub fn cancelled_id(params: Option<&RawValue>) -> Option<Box<RawValue>> {
    #[derive(Deserialize)]
    struct Cancelled {
        #[serde(rename = "requestId")]
        request_id: Box<RawValue>,
    }
    serde_json::from_str::<Cancelled>(params?.get()).ok().map(|cancelled| cancelled.request_id)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kind(text: &str) -> String {
        match parse(text.as_bytes()) {
            None => "none".into(),
            Some(ServerMessage::Notification { method, params }) => format!("note {method} {params:?}"),
            Some(ServerMessage::Request { id, method, .. }) => format!("request {} {method}", id.get()),
            Some(ServerMessage::Response { id, answer }) => {
                format!("{id} {:?}", answer.map(RawValue::get).map_err(RawValue::get))
            }
        }
    }

    #[test]
    fn a_message_is_known_by_its_members() {
        for (text, expected) in [
            (r#"{"method":"a"}"#, "note a None"),
            (r#"{"id":null,"method":"a"}"#, "note a None"),
            (r#"{"id":"x","method":"a"}"#, r#"request "x" a"#),
            (r#"{"id":7,"result":{"b": 1}}"#, r#"7 Ok("{\"b\": 1}")"#),
            (r#"{"id":7,"result":null}"#, r#"7 Ok("null")"#),
            (r#"{"id":7,"error":{"code":1}}"#, r#"7 Err("{\"code\":1}")"#),
            (r#"{"id":"7","result":1}"#, "none"),
            (r#"{"id":-7,"result":1}"#, "none"),
            (r#"{"id":7}"#, r#"7 Ok("null")"#),
            ("[]", "none"),
            ("{", "none"),
            ("starting…", "none"),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_parser(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&text);
        }
    }
}
