//! Why a turn failed, in our words.

use roost_engine::adapter::{AdapterError, TaskEnd};
use roost_model::failure::{FailureCode, TaskError};
use serde_json::Value;

use super::wire::{TurnError, TurnStatus};
use crate::host::json_rpc::RpcError;

/// How a turn that Codex ended this way ended for us.
pub(super) fn end(status: TurnStatus, error: Option<&TurnError>) -> TaskEnd {
    match (status, error) {
        (TurnStatus::Completed, _) => TaskEnd::Completed("end_turn".into()),
        (TurnStatus::Interrupted, _) => TaskEnd::Stopped("interrupted".into()),
        (_, Some(error)) => TaskEnd::Failed(Box::new(failure(error))),
        (_, None) => TaskEnd::failed(FailureCode::RuntimeError, "Codex ended its turn without saying why"),
    }
}

fn failure(error: &TurnError) -> TaskError {
    let (word, status) = reason(&error.codex_error_info);
    let passing = is_passing(word, status);
    let code = match word {
        "unauthorized" => FailureCode::AuthError,
        // A key that its provider needs is not there; Codex has no word for that.
        "other" if error.message.starts_with("Missing environment variable") => FailureCode::AuthError,
        "contextWindowExceeded" => FailureCode::ContextTooLarge,
        _ => FailureCode::RuntimeError,
    };
    let status = status.map(|status| format!(" (HTTP {status})")).unwrap_or_default();
    let mut message = format!("Codex could not go on{status}: {}", readable(&error.message));
    if let Some(details) = error.additional_details.as_ref().filter(|details| !details.is_empty()) {
        message = format!("{message}; {details}");
    }
    // A provider that breaks off its answer has no word of its own.
    let cut = word == "other" && error.message.starts_with("stream disconnected");
    let retryable = cut || passing;
    TaskError { retryable, raw: serde_json::to_value(error).ok(), ..TaskError::new(code, message) }
}

/// A failure of which only the words are known: `codex exec` has no others.
pub(super) fn in_words(message: &str) -> TaskError {
    let may_pass = ["429", "status: 5", "high demand", "overloaded"].iter().any(|sign| message.contains(sign));
    let retryable = may_pass || message.starts_with("stream disconnected");
    let said = format!("Codex could not go on: {}", readable(message));
    TaskError { retryable, ..TaskError::new(FailureCode::RuntimeError, said) }
}

/// The word that Codex has for an error, and the HTTP status where it tells one.
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

/// The same prompt may succeed later: the provider was busy, or the line was cut.
fn is_passing(word: &str, status: Option<u64>) -> bool {
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

/// The sentence inside an error that is the provider's whole answer.
fn readable(message: &str) -> String {
    let answer: Option<Value> = serde_json::from_str(message).ok();
    let said = answer.as_ref().and_then(|answer| answer.pointer("/error/message")).and_then(Value::as_str);
    match said.unwrap_or(message) {
        "" => "it gave no reason".to_owned(),
        said => said.to_owned(),
    }
}

/// An error answer to a request as ours.
pub(super) fn rejected(error: RpcError) -> AdapterError {
    let said = if error.message.is_empty() { "an error without a message" } else { &error.message };
    let message = format!("Codex answered with error {}: {said}", error.code);
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
        assert_eq!(readable(message), "scripted error");
        assert_eq!(readable("plain"), "plain");
        assert_eq!(readable(""), "it gave no reason");
    }
}
