//! Reads a turn's `result` message: its usage, and how the task ended.

use roost_engine::adapter::{Draft, Fact, TaskEnd};
use roost_model::failure::{FailureCode, TaskError};
use roost_model::payload::{ContextFill, UsageReportedPayload};
use serde_json::{Value, json};

use super::messages::{TurnResult, Usage};

/// The usage of a turn; `None` if it used nothing. Newer versions of the CLI report the turn's own cost, besides a total
/// that goes on after a resume. Others report only the cost of their process so far, so `cost_so_far` is the total before
/// this turn, and is updated.
pub(super) fn usage(result: &TurnResult, last_request: Usage, cost_so_far: &mut f64) -> Option<Draft> {
    let cost = own_cost(result).unwrap_or(result.total_cost_usd - *cost_so_far);
    *cost_so_far = result.total_cost_usd;
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
        // A difference of floating-point sums; less than a billionth of a dollar is rounding noise.
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

/// The cost of all models since the `result` before, in US dollars; `None` if the CLI does not report it.
fn own_cost(result: &TurnResult) -> Option<f64> {
    let models = result.model_usage_since_last_result.as_ref()?.as_object()?;
    Some(models.values().filter_map(|model| model.get("costUSD")?.as_f64()).sum())
}

/// How full the context was at the last request to the model; known only if a single model served the turn.
fn context(result: &TurnResult, last_request: Usage) -> Option<ContextFill> {
    let models = result.model_usage.as_object().filter(|models| models.len() == 1)?;
    let size = models.values().next()?.get("contextWindow")?.as_u64()?;
    let used = last_request.input() + last_request.output_tokens;
    (used > 0).then_some(ContextFill { used, size })
}

/// How the task ended. `failure` is the error kind of the turn's last failed request to the model, if any.
pub(super) fn end(result: TurnResult, failure: Option<&str>, stopped: bool) -> TaskEnd {
    // A turn that completed before the stop arrived is not stopped.
    if !result.is_error && result.subtype == "success" {
        return TaskEnd::Completed(result.stop_reason.unwrap_or_else(|| "end_turn".into()));
    }
    if stopped {
        return TaskEnd::Stopped("interrupted".into());
    }
    let text = result.result.clone().filter(|text| !text.is_empty());
    let text = text.or_else(|| (!result.errors.is_empty()).then(|| result.errors.join("; ")));
    let text = text.unwrap_or_else(|| result.subtype.replace('_', " "));
    let code = match (result.api_error_status, failure) {
        (Some(401 | 403), _) | (_, Some("authentication_failed")) => FailureCode::AuthError,
        _ if text.starts_with("Prompt is too long") => FailureCode::ContextTooLarge,
        _ => FailureCode::RuntimeError,
    };
    let retryable = match result.api_error_status {
        Some(status) => matches!(status, 408 | 409 | 429 | 500..),
        // A request that got no answer at all.
        None => code == FailureCode::RuntimeError && text.starts_with("API Error"),
    };
    let raw = json!({
        "subtype": result.subtype,
        "api_error_status": result.api_error_status,
        "errors": result.errors,
        "error": failure.map_or(Value::Null, Into::into),
    });
    let message = match code {
        FailureCode::AuthError => format!("Claude Code is not logged in: {text}. {}", super::auth::HOW_TO_LOG_IN),
        _ => format!("Claude Code failed: {text}"),
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
        let text =
            |text: &str| json!({ "subtype": "success", "is_error": true, "api_error_status": null, "result": text });
        let cases = [
            (api(400), None, (RuntimeError, false)),
            (api(401), None, (AuthError, false)),
            (api(429), Some("rate_limit"), (RuntimeError, true)),
            (api(529), Some("overloaded"), (RuntimeError, true)),
            (text("API Error: Unable to connect to API"), Some("unknown"), (RuntimeError, true)),
            (text("Not logged in · Please run /login"), Some("authentication_failed"), (AuthError, false)),
            (text("Prompt is too long"), Some("invalid_request"), (ContextTooLarge, false)),
            (json!({ "subtype": "error_max_turns", "is_error": true }), None, (RuntimeError, false)),
            (json!({ "subtype": "error_during_execution" }), None, (RuntimeError, false)),
        ];
        for (result, failure, expected) in cases {
            assert_eq!(ended(result.clone(), failure), expected, "{result}");
        }
    }

    #[test]
    fn the_cost_of_the_first_turn_after_a_resume_is_its_own() {
        let result = json!({ "subtype": "success", "total_cost_usd": 0.75, "usage": { "output_tokens": 1 },
            "model_usage_since_last_result": { "large": { "costUSD": 0.2 }, "small": { "costUSD": 0.05 } } });
        let reported = usage(&TurnResult::deserialize(result).unwrap(), Usage::default(), &mut 0.0);
        let Some(Draft { fact: Fact::Usage(usage), .. }) = reported else { panic!("{reported:?}") };
        assert_eq!(usage.cost_usd, Some(0.25));
    }

    #[test]
    fn the_cost_of_a_turn_is_what_was_added() {
        let turn = |total: f64| {
            TurnResult::deserialize(json!({ "subtype": "success", "total_cost_usd": total,
                "usage": { "input_tokens": 1, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 100,
                           "output_tokens": 7 } }))
            .unwrap()
        };
        let mut cost_so_far = 0.0;
        let costs: Vec<_> =
            [0.25, 0.75, 0.75].map(|total| usage(&turn(total), Usage::default(), &mut cost_so_far)).into();
        let reported: Vec<_> = costs
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
        assert_eq!(reported, expected);
    }
}
