//! OpenCode's errors as task errors.

use roost_engine::adapter::{AdapterError, TaskEnd};
use roost_model::failure::{FailureCode, TaskError};
use serde_json::Value;

use super::http::HttpError;
use super::wire::NamedError;
use crate::provider_errors::{UNREACHABLE, is_unreachable};

/// How the task ends when its turn ends with this error.
pub(super) fn task_end(error: &NamedError) -> TaskEnd {
    if error.name == "MessageAbortedError" {
        return TaskEnd::Stopped("interrupted".into());
    }
    let text = |field: &str| error.data.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
    let status = error.data.get("statusCode").and_then(Value::as_u64);
    let code = match (error.name.as_str(), status) {
        ("ProviderAuthError", _) | (_, Some(401 | 403)) => FailureCode::AuthError,
        ("ContextOverflowError", _) => FailureCode::ContextTooLarge,
        _ => FailureCode::RuntimeError,
    };
    let sentence = text("message").unwrap_or(&error.name);
    // OpenCode has no error name for an unknown model, nor for a provider without a login.
    let no_model = sentence.starts_with("Model not found");
    // OpenCode marks every refusal as retryable; only these are.
    let retryable = match status {
        Some(status) => status == 408 || status == 429 || status >= 500,
        None => (error.name == "APIError" || error.name == "UnknownError") && !no_model,
    };
    let status = status.map(|status| format!(" (HTTP {status})")).unwrap_or_default();
    let hint = if no_model { "; log in to its provider (`opencode auth login`), or choose another model" } else { "" };
    let unreachable = if is_unreachable(sentence) { format!("{UNREACHABLE}: ") } else { String::new() };
    let message = format!("OpenCode could not go on{status}: {unreachable}{sentence}{hint}");
    let raw = serde_json::to_value(error).ok();
    TaskEnd::Failed(Box::new(TaskError { retryable, raw, ..TaskError::new(code, message) }))
}

impl From<HttpError> for AdapterError {
    fn from(error: HttpError) -> Self {
        let message = error.to_string();
        match error {
            HttpError::Broken(_) => Self::Exited { message, stderr_tail: None },
            HttpError::Late => Self::Runtime { message, raw: None },
            HttpError::Refused { body, .. } => Self::Runtime { message, raw: Some(body) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_may_pass_is_worth_another_try() {
        let cases = [
            ("APIError", json!({ "statusCode": 400, "isRetryable": true }), FailureCode::RuntimeError, false),
            ("APIError", json!({ "statusCode": 401 }), FailureCode::AuthError, false),
            ("APIError", json!({ "statusCode": 429 }), FailureCode::RuntimeError, true),
            ("APIError", json!({ "statusCode": 500 }), FailureCode::RuntimeError, true),
            ("UnknownError", json!({ "message": "the stream broke off" }), FailureCode::RuntimeError, true),
            ("UnknownError", json!({ "message": "Model not found: a/b." }), FailureCode::RuntimeError, false),
            ("ProviderAuthError", json!({}), FailureCode::AuthError, false),
            ("ContextOverflowError", json!({}), FailureCode::ContextTooLarge, false),
            ("MessageOutputLengthError", json!({}), FailureCode::RuntimeError, false),
        ];
        for (name, data, code, retryable) in cases {
            let error = NamedError { name: name.into(), data };
            let TaskEnd::Failed(failed) = task_end(&error) else { panic!("{error:?}") };
            assert_eq!((failed.code, failed.retryable), (code, retryable), "{error:?}");
        }
    }
}
