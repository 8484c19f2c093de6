//! Converts an agent's error answers into Roost's errors. The protocol has one code for every failure at the model's
//! provider; the reason is in the data that agents add to it.

use roost_engine::adapter::AdapterError;
use roost_model::failure::{FailureCode, TaskError};
use serde_json::Value;

use crate::host::json_rpc::RpcError;
use crate::provider_errors::{UNREACHABLE, is_unreachable};

/// The protocol's error code for a missing login.
const AUTH_REQUIRED: i64 = -32000;
/// The provider's HTTP status for a missing login: some agents, such as Gemini, use the status as their error code.
const UNAUTHORIZED: i64 = 401;

/// The error for a request that the agent refused; its message includes the reason from the error's data.
pub(super) fn rejected(error: RpcError) -> AdapterError {
    let reason = if error.message.is_empty() { "an error without a message" } else { &sentence(&error.message) };
    if matches!(error.code, AUTH_REQUIRED | UNAUTHORIZED) {
        return AdapterError::NotLoggedIn(format!("the agent wants you to log in first: {reason}"));
    }
    let more =
        error.data.as_ref().and_then(|data| data.get("message")?.as_str()).filter(|more| !reason.contains(*more));
    let more = more.map(|more| format!(": {}", sentence(more))).unwrap_or_default();
    let unreachable = is_unreachable(reason) || is_unreachable(&more);
    let unreachable = if unreachable { format!("{UNREACHABLE}: ") } else { String::new() };
    let message = format!("the agent answered with error {}: {unreachable}{reason}{more}", error.code);
    AdapterError::Runtime { message, raw: serde_json::to_value(&error).ok() }
}

/// The failure of a task whose prompt was answered with this error; it says whether a retry makes sense.
pub(super) fn failed(error: RpcError) -> TaskError {
    let may_pass = matches!(error.code, 408 | 429 | 500..=599) || error.data.as_ref().is_some_and(may_pass);
    let error = TaskError::from(rejected(error));
    TaskError { retryable: error.retryable || may_pass, ..error }
}

/// The failure of a task whose agent ended its turn as usual although the provider broke off the answer; `result` is
/// the agent's answer to the prompt.
pub(super) fn broken_off(result: Value) -> TaskError {
    let message = "the model's answer broke off before its end, and the agent ended its turn";
    TaskError { retryable: true, raw: Some(result), ..TaskError::new(FailureCode::RuntimeError, message) }
}

/// Whether the error's data names a temporary reason, such as a busy provider or a lost connection.
fn may_pass(data: &Value) -> bool {
    let reason = data.get("message").and_then(Value::as_str).unwrap_or_default();
    match (data.get("errorKind").and_then(Value::as_str), data.get("codex_error_info")) {
        // Claude Code's words.
        (Some("rate_limit" | "server_error" | "overloaded"), _) => true,
        // Codex's; a provider that breaks off its answer has no word of its own.
        (_, Some(Value::String(word))) => match word.as_str() {
            "internal_server_error" | "server_overloaded" => true,
            "other" => reason.starts_with("stream disconnected"),
            _ => false,
        },
        (_, Some(Value::Object(info))) => info.values().any(|details| {
            let status = details.get("http_status_code").and_then(Value::as_u64);
            status.is_none_or(|status| status == 429 || status >= 500)
        }),
        _ => false,
    }
}

/// The provider's error message, if the agent's message is the provider's JSON answer; else the message itself.
fn sentence(message: &str) -> String {
    let answer: Option<Value> = serde_json::from_str(message).ok();
    let reason = answer.as_ref().and_then(|answer| answer.pointer("/error/message")?.as_str());
    reason.unwrap_or(message).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn internal(data: Value) -> RpcError {
        RpcError { code: -32603, message: "Internal error".into(), data: Some(data) }
    }

    #[test]
    fn only_what_may_pass_is_worth_another_try() {
        let cases = [
            (json!({ "errorKind": "rate_limit" }), true),
            (json!({ "errorKind": "server_error" }), true),
            (json!({ "errorKind": "unknown" }), false),
            (json!({ "codex_error_info": "internal_server_error" }), true),
            (json!({ "codex_error_info": { "response_too_many_failed_attempts": { "http_status_code": 429 } } }), true),
            (json!({ "codex_error_info": { "http_connection_failed": { "http_status_code": 403 } } }), false),
            (json!({ "codex_error_info": "other", "message": "stream disconnected before completion" }), true),
            (json!({ "codex_error_info": "other", "message": "no" }), false),
            (json!({}), false),
            (json!(null), false),
        ];
        for (data, retryable) in cases {
            assert_eq!(failed(internal(data.clone())).retryable, retryable, "{data}");
        }
    }

    #[test]
    fn the_status_of_a_provider_can_be_the_code() {
        for (code, retryable) in [(400, false), (403, false), (408, true), (429, true), (500, true), (503, true)] {
            assert_eq!(failed(RpcError { code, message: "no".into(), data: None }).retryable, retryable, "{code}");
        }
        let message = r#"{"error":{"message":"who are you?"}}"#.into();
        let failed = failed(RpcError { code: 401, message, data: None });
        assert_eq!(failed.code, FailureCode::AuthError);
        assert_eq!(failed.message, "the agent wants you to log in first: who are you?");
    }

    #[test]
    fn the_reason_beside_an_error_is_shown_once_and_as_a_sentence() {
        let shown = |data| rejected(internal(data)).to_string();
        let answer = r#"{"error":{"message":"too many words"}}"#;
        assert_eq!(
            shown(json!({ "message": answer })),
            "the agent answered with error -32603: Internal error: too many words"
        );
        assert_eq!(
            shown(json!({ "message": "Internal error" })),
            "the agent answered with error -32603: Internal error"
        );
    }
}
