//! Codex's errors as task errors.

use roost_engine::adapter::{AdapterError, TaskEnd};
use roost_model::failure::{FailureCode, TaskError};
use serde_json::Value;

use super::wire::{TurnError, TurnStatus};
use crate::host::json_rpc::RpcError;

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
    let status = status.map(|status| format!(" (HTTP {status})")).unwrap_or_default();
    let mut message = format!("Codex could not go on{status}: {}", provider_message(&error.message));
    if let Some(details) = error.additional_details.as_ref().filter(|details| !details.is_empty()) {
        message = format!("{message}; {details}");
    }
    // Codex has no error name for a provider that breaks off its response.
    let cut = word == "other" && error.message.starts_with("stream disconnected");
    let retryable = cut || transient;
    TaskError { retryable, raw: serde_json::to_value(error).ok(), ..TaskError::new(code, message) }
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
    fn the_sentence_of_a_provider_is_shown_and_not_its_json() {
        let message = r#"{"error": {"type": "server_error", "message": "scripted error"}}"#;
        assert_eq!(provider_message(message), "scripted error");
        assert_eq!(provider_message("plain"), "plain");
        assert_eq!(provider_message(""), "it gave no reason");
    }
}
