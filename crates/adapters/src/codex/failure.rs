//! Codex's errors as task errors.

use roost_engine::adapter::{AdapterError, TaskEnd};
use roost_model::failure::{FailureCode, TaskError};
use serde_json::Value;

use super::wire::{TurnError, TurnStatus};
use crate::host::json_rpc::RpcError;
use crate::provider_errors::UNREACHABLE;

/// How the task ends when Codex reports this status for its turn.
pub(super) fn task_end(status: TurnStatus, error: Option<&TurnError>) -> TaskEnd {
    match (status, error) {
        (TurnStatus::Completed, _) => TaskEnd::Completed("end_turn".into()),
        (TurnStatus::Interrupted, _) => TaskEnd::Stopped("interrupted".into()),
        (_, Some(error)) => TaskEnd::Failed(Box::new(failure(error))),
        (_, None) => TaskEnd::failed(FailureCode::RuntimeError, "Codex ended its turn without saying why"),
    }
}

fn failure(error: &TurnError) -> TaskError {
    let (word, status) = reason(&error.codex_error_info);
    let transient = is_transient(word, status);
    let code = match word {
        "unauthorized" => FailureCode::AuthError,
        // Codex has no error name for a missing provider key.
        "other" if error.message.starts_with("Missing environment variable") => FailureCode::AuthError,
        "contextWindowExceeded" => FailureCode::ContextTooLarge,
        _ => FailureCode::RuntimeError,
    };
    let unreachable = if is_unreachable(error) { format!("{UNREACHABLE}: ") } else { String::new() };
    let status = status.map(|status| format!(" (HTTP {status})")).unwrap_or_default();
    let mut message = format!("Codex could not go on{status}: {unreachable}{}", provider_message(&error.message));
    if let Some(details) = error.additional_details.as_ref().filter(|details| !details.is_empty()) {
        message = format!("{message}; {details}");
    }
    // Codex has no error name for a provider that breaks off its response.
    let cut = word == "other" && error.message.starts_with("stream disconnected");
    let retryable = cut || transient;
    TaskError { retryable, raw: serde_json::to_value(error).ok(), ..TaskError::new(code, message) }
}

/// Whether Codex got no connection to the provider. It has no error name for that.
fn is_unreachable(error: &TurnError) -> bool {
    let details = error.additional_details.as_deref().unwrap_or_default();
    let signs = ["waiting for network", "Connection failed", "error sending request"];
    signs.iter().any(|sign| error.message.contains(sign) || details.contains(sign))
}

/// The warning about an error that Codex retries: what went wrong, which try comes next, and what to do.
pub(super) fn retry_message(error: &TurnError) -> String {
    let later = "wait, or stop the task and try again later";
    let (what, advice) = match reason(&error.codex_error_info).1 {
        _ if is_unreachable(error) => (UNREACHABLE, "check the connection, or stop the task"),
        Some(401 | 403) => ("the provider does not accept the login", "stop the task and run `roost login codex`"),
        Some(429) => ("the provider takes no more requests for now (HTTP 429)", later),
        Some(500..) => ("the provider has an error of its own", later),
        _ => ("the provider's answer broke off", later),
    };
    let details = error.additional_details.as_ref().filter(|details| !details.is_empty());
    let details = details.map(|details| format!(" ({})", provider_message(details))).unwrap_or_default();
    // Codex says which try it is in the message itself: `Reconnecting... 2/5`.
    let tries = error.message.strip_prefix("Reconnecting... ").filter(|tries| tries.contains('/'));
    let tries = tries.map(|tries| format!(", {tries}")).unwrap_or_default();
    format!("{what}{details}; Codex tries again{tries}: {advice}")
}

/// A failure of which only the text is known, as `codex exec` reports it. Whether a retry may help is guessed from the
/// text.
pub(super) fn from_message(message: &str) -> TaskError {
    let may_pass = ["429", "status: 5", "high demand", "overloaded"].iter().any(|sign| message.contains(sign));
    let retryable = may_pass || message.starts_with("stream disconnected");
    let text = format!("Codex could not go on: {}", provider_message(message));
    TaskError { retryable, ..TaskError::new(FailureCode::RuntimeError, text) }
}

/// Codex's name for an error, and the HTTP status if it has one. The name is the value itself or the only key of an
/// object.
fn reason(info: &Value) -> (&str, Option<u64>) {
    match info {
        Value::String(word) => (word, None),
        Value::Object(fields) => match fields.iter().next() {
            Some((word, details)) => (word, details.get("httpStatusCode").and_then(Value::as_u64)),
            None => ("other", None),
        },
        _ => ("other", None),
    }
}

/// Whether the same prompt may succeed later: the provider was busy, or the connection broke.
fn is_transient(word: &str, status: Option<u64>) -> bool {
    match word {
        "rateLimitExceeded"
        | "serverOverloaded"
        | "internalServerError"
        | "flexUnavailable"
        | "policyCapacityUnavailable" => true,
        "httpConnectionFailed"
        | "responseStreamConnectionFailed"
        | "responseStreamDisconnected"
        | "responseTooManyFailedAttempts" => status.is_none_or(|status| status == 429 || status >= 500),
        _ => false,
    }
}

/// The sentence to show: some messages are the provider's whole JSON response, of which only `error.message` is for
/// people.
fn provider_message(message: &str) -> String {
    let answer: Option<Value> = serde_json::from_str(message).ok();
    let sentence = answer.as_ref().and_then(|answer| answer.pointer("/error/message")).and_then(Value::as_str);
    match sentence.unwrap_or(message) {
        "" => "it gave no reason".to_owned(),
        sentence => sentence.to_owned(),
    }
}

/// An error response to a request of ours.
pub(super) fn from_rpc_error(error: RpcError) -> AdapterError {
    let text = if error.message.is_empty() { "an error without a message" } else { &error.message };
    let message = format!("Codex answered with error {}: {text}", error.code);
    AdapterError::Runtime { message, raw: serde_json::to_value(&error).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_may_pass_is_worth_another_try() {
        let cases = [
            (json!("internalServerError"), FailureCode::RuntimeError, true),
            (json!("rateLimitExceeded"), FailureCode::RuntimeError, true),
            (json!({ "responseTooManyFailedAttempts": { "httpStatusCode": 429 } }), FailureCode::RuntimeError, true),
            (json!({ "responseTooManyFailedAttempts": { "httpStatusCode": 403 } }), FailureCode::RuntimeError, false),
            (json!({ "responseStreamDisconnected": { "httpStatusCode": null } }), FailureCode::RuntimeError, true),
            (json!("unauthorized"), FailureCode::AuthError, false),
            (json!("contextWindowExceeded"), FailureCode::ContextTooLarge, false),
            (json!("usageLimitExceeded"), FailureCode::RuntimeError, false),
            (json!("brand new"), FailureCode::RuntimeError, false),
            (json!(null), FailureCode::RuntimeError, false),
        ];
        for (codex_error_info, code, retryable) in cases {
            let error = TurnError { message: "no".into(), codex_error_info, additional_details: None };
            let failed = failure(&error);
            assert_eq!((failed.code, failed.retryable), (code, retryable), "{}", error.codex_error_info);
        }
    }

    #[test]
    fn a_retry_is_told_with_what_went_wrong_and_what_to_do() {
        let disconnected = |status: Value| json!({ "responseStreamDisconnected": { "httpStatusCode": status } });
        let cases = [
            (
                "Reconnecting... waiting for network",
                json!(null),
                "Connection failed: error sending request",
                "the provider cannot be reached: the network is down, or its address is wrong (Connection failed: error \
                 sending request); Codex tries again: check the connection, or stop the task",
            ),
            (
                "Reconnecting... 1/5",
                json!(429),
                "exceeded retry limit",
                "the provider takes no more requests for now (HTTP 429) (exceeded retry limit); Codex tries again, 1/5: \
                 wait, or stop the task and try again later",
            ),
            (
                "Reconnecting... 2/5",
                json!(null),
                "",
                "the provider's answer broke off; Codex tries again, 2/5: wait, or stop the task and try again later",
            ),
        ];
        for (message, status, details, expected) in cases {
            let (codex_error_info, additional_details) = (disconnected(status), Some(details.into()));
            let error = TurnError { message: message.into(), codex_error_info, additional_details };
            assert_eq!(retry_message(&error), expected);
        }
    }

    #[test]
    fn the_sentence_of_a_provider_is_shown_and_not_its_json() {
        let message = r#"{"error": {"type": "server_error", "message": "scripted error"}}"#;
        assert_eq!(provider_message(message), "scripted error");
        assert_eq!(provider_message("plain"), "plain");
        assert_eq!(provider_message(""), "it gave no reason");
    }
}
