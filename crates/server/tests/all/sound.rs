//! What every message to every client keeps, whichever test receives it.

use serde_json::Value;

/// What the smallest client takes; a bigger frame ends its connection.
const FRAME: usize = 1 << 20;

/// Reads a message: one line of at most 1 MiB, every time with three decimals and `Z`, nothing `null` that a client
/// would decode as something.
pub(crate) fn message(text: &str) -> Value {
    assert!(text.len() <= FRAME, "a frame of {} bytes: {}…", text.len(), &text[..200]);
    assert!(!text.contains('\n'), "a frame of several lines: {text}");
    let message: Value = serde_json::from_str(text).unwrap();
    times(&message);
    for answer in message.as_array().unwrap_or(&vec![message.clone()]) {
        assert!(answer.get("result").is_none_or(|result| !result.is_null()), "a result of null: {answer}");
        assert!(answer.get("result").is_none() || answer.get("error").is_none(), "a result and an error: {answer}");
        for told in ["result", "params"].into_iter().filter_map(|part| answer.get(part)) {
            nothing_missing(told);
        }
    }
    message
}

fn times(value: &Value) {
    match value {
        Value::String(text) if looks_like_a_time(text) => {
            let is_exact =
                text.len() == "2026-01-01T00:00:00.000Z".len() && text.as_bytes()[19] == b'.' && text.ends_with('Z');
            assert!(is_exact, "a time with other than three decimals and Z: {text}");
        }
        Value::Array(items) => items.iter().for_each(times),
        Value::Object(fields) => fields.values().for_each(times),
        _ => {}
    }
}

fn looks_like_a_time(text: &str) -> bool {
    let shape = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        10 => byte == b'T',
        13 | 16 => byte == b':',
        _ => byte.is_ascii_digit(),
    };
    text.len() >= 19 && text.bytes().take(19).enumerate().all(shape)
}

fn nothing_missing(value: &Value) {
    match value {
        Value::Array(items) => items.iter().for_each(nothing_missing),
        Value::Object(fields) => {
            for (name, field) in fields {
                assert!(!field.is_null(), "{name} is null in {value}");
                nothing_missing(field);
            }
        }
        _ => {}
    }
}
