//! How a turn ended: what it used, and what became of it.

use roost_engine::adapter::{Draft, Fact, TaskEnd};
use roost_model::failure::{FailureCode, TaskError};
use roost_model::payload::{ContextFill, UsageReportedPayload};
use serde_json::{Value, json};

use super::messages::{TurnResult, Usage};

/// What a turn used. The CLI adds up the cost over its whole life, so `spent` is what it had cost before.
pub(super) fn usage(result: &TurnResult, last_request: Usage, spent: &mut f64) -> Option<Draft> {
    let cost = result.total_cost_usd - *spent;
    *spent = result.total_cost_usd;
    let used = result.usage;
    if used.input() + used.output_tokens == 0 && cost <= 0.0 {
        return None;
    }
    let usage = UsageReportedPayload {
        input_tokens: Some(used.input()),
        cached_input_tokens: Some(used.cache_read_input_tokens),
        output_tokens: Some(used.output_tokens),
        // The CLI counts thinking as output and does not tell them apart.
        reasoning_tokens: None,
        // A difference of floating-point sums; beyond a billionth of a dollar it is noise.
        cost_usd: Some((cost * 1e9).round() / 1e9),
        context: context(result, last_request),
    };
    let raw = json!({
        "usage": {
            "input_tokens": used.input_tokens,
            "cache_creation_input_tokens": used.cache_creation_input_tokens,
            "cache_read_input_tokens": used.cache_read_input_tokens,
            "output_tokens": used.output_tokens,
        },
        "total_cost_usd": result.total_cost_usd,
        "modelUsage": result.model_usage,
    });
    Some(Draft { fact: Fact::Usage(usage), raw: Some(raw) })
}

/// How full the context was at the last request to the model; the window is known if one model served the turn.
fn context(result: &TurnResult, last_request: Usage) -> Option<ContextFill> {
    let models = result.model_usage.as_object().filter(|models| models.len() == 1)?;
    let size = models.values().next()?.get("contextWindow")?.as_u64()?;
    let used = last_request.input() + last_request.output_tokens;
    (used > 0).then_some(ContextFill { used, size })
}

/// What became of a turn; `failure` is the kind of error that its last request to the model ended in.
pub(super) fn end(result: TurnResult, failure: Option<&str>, stopped: bool) -> TaskEnd {
    // A stop may come too late.
    if !result.is_error && result.subtype == "success" {
        return TaskEnd::Completed(result.stop_reason.unwrap_or_else(|| "end_turn".into()));
    }
    if stopped {
        return TaskEnd::Stopped("interrupted".into());
    }
    let said = result.result.clone().filter(|text| !text.is_empty());
    let said = said.or_else(|| (!result.errors.is_empty()).then(|| result.errors.join("; ")));
    let said = said.unwrap_or_else(|| result.subtype.replace('_', " "));
    let code = match (result.api_error_status, failure) {
        (Some(401 | 403), _) | (_, Some("authentication_failed")) => FailureCode::AuthError,
        _ if said.starts_with("Prompt is too long") => FailureCode::ContextTooLarge,
        _ => FailureCode::RuntimeError,
    };
    let retryable = match result.api_error_status {
        Some(status) => matches!(status, 408 | 409 | 429 | 500..),
        // A request that got no answer at all.
        None => code == FailureCode::RuntimeError && said.starts_with("API Error"),
    };
    let raw = json!({
        "subtype": result.subtype,
        "api_error_status": result.api_error_status,
        "errors": result.errors,
        "error": failure.map_or(Value::Null, Into::into),
    });
    let message = match code {
        FailureCode::AuthError => format!("Claude Code is not logged in: {said}. {}", super::auth::HOW_TO_LOG_IN),
        _ => format!("Claude Code failed: {said}"),
    };
    TaskEnd::Failed(Box::new(TaskError { retryable, raw: Some(raw), ..TaskError::new(code, message) }))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    fn ended(result: Value, failure: Option<&str>) -> (FailureCode, bool) {
        match end(TurnResult::deserialize(result).unwrap(), failure, false) {
            TaskEnd::Failed(error) => (error.code, error.retryable),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_failure_says_whether_to_try_again() {
        use FailureCode::{AuthError, ContextTooLarge, RuntimeError};
        let api = |status: u64| json!({ "subtype": "success", "is_error": true, "api_error_status": status });
        let said =
            |text: &str| json!({ "subtype": "success", "is_error": true, "api_error_status": null, "result": text });
        let cases = [
            (api(400), None, (RuntimeError, false)),
            (api(401), None, (AuthError, false)),
            (api(429), Some("rate_limit"), (RuntimeError, true)),
            (api(529), Some("overloaded"), (RuntimeError, true)),
            (said("API Error: Unable to connect to API"), Some("unknown"), (RuntimeError, true)),
            (said("Not logged in · Please run /login"), Some("authentication_failed"), (AuthError, false)),
            (said("Prompt is too long"), Some("invalid_request"), (ContextTooLarge, false)),
            (json!({ "subtype": "error_max_turns", "is_error": true }), None, (RuntimeError, false)),
            (json!({ "subtype": "error_during_execution" }), None, (RuntimeError, false)),
        ];
        for (result, failure, expected) in cases {
            assert_eq!(ended(result.clone(), failure), expected, "{result}");
        }
    }

    #[test]
    fn the_cost_of_a_turn_is_what_was_added() {
        let turn = |total: f64| {
            TurnResult::deserialize(json!({ "subtype": "success", "total_cost_usd": total,
                "usage": { "input_tokens": 1, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 100,
                           "output_tokens": 7 } }))
            .unwrap()
        };
        let mut spent = 0.0;
        let costs: Vec<_> = [0.25, 0.75, 0.75].map(|total| usage(&turn(total), Usage::default(), &mut spent)).into();
        let told: Vec<_> = costs
            .into_iter()
            .map(|draft| match draft.unwrap() {
                Draft { fact: Fact::Usage(usage), raw: Some(raw) } => {
                    assert_eq!(raw["usage"]["cache_creation_input_tokens"], 10, "{raw}");
                    (usage.input_tokens, usage.cached_input_tokens, usage.cost_usd)
                }
                other => panic!("{other:?}"),
            })
            .collect();
        let expected = [0.25, 0.5, 0.0].map(|cost| (Some(111), Some(100), Some(cost)));
        assert_eq!(told, expected);
    }
}
