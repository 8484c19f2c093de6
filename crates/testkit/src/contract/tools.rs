//! A runtime's tool calls: how they are asked about, decided, run and reported.

use std::collections::BTreeSet;
use std::time::Duration;

use roost_engine::{Approver, Decision};
use roost_log::Log;
use roost_model::approval::{ApprovalScope, PendingAsk};
use roost_model::canonical;
use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::failure::FailureCode;
use roost_model::mode::Mode;
use roost_model::payload::{ToolCallCompletedPayload, ToolCallRequestedPayload};
use roost_model::runtime::{PermissionModel, ToolExecutionModel};
use roost_model::tool::{PolicyResult, PolicySource, ToolCallIdentity, ToolExecutedBy};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::lying::{HARMFUL, HARMLESS, Lie};
use super::stage::{Stage, names, text};
use super::{Conformance, assert_claim, not_claimed};
use crate::soon;

/// Bytes above which a result becomes an artifact.
const INLINE: usize = 8 * 1024;
/// The largest event in bytes: what may be inline, twice, and every character escaped to two bytes.
const BIGGEST_EVENT: usize = 4 * INLINE;

/// How long a second call is waited for if the runtime claims no parallel calls.
const MOMENT: Duration = Duration::from_secs(2);

/// 6. A request carries its whole identity; a call that is tried again keeps its id and counts its attempts.
pub async fn a_tool_call_carries_its_full_identity(stage: &mut Stage) -> Conformance {
    let Some(write) = stage.script.write.clone() else { return no_tools(stage).await };
    let session = stage.conversation().await;
    let call = requests(&stage.run_allowing(&session, write.prompt).await).remove(0);
    assert_eq!(call.identity.attempt, 1);
    assert!(call.identity.runtime_tool_call_id.is_some_and(|id| !id.is_empty()));
    assert_eq!(call.identity.input_hash, canonical::hash(&call.input));
    assert_eq!(call.identity.input_hash, canonical::hash(&reversed_fields(call.input)));
    if let Some(retry) = stage.script.retry {
        let calls = requests(&stage.run_allowing(&session, retry).await);
        let ids: BTreeSet<_> = calls.iter().map(|call| call.identity.tool_call_id.to_string()).collect();
        let attempts: Vec<_> = calls.iter().map(|call| call.identity.attempt).collect();
        assert_eq!((ids.len(), attempts), (1, vec![1, 2]), "{calls:?}");
    }
    Conformance::Holds
}

/// 7. Asked, decided, run, completed, in this order; the agent goes on with the result.
pub async fn an_allowed_call_is_asked_decided_run_and_told_in_order(stage: &mut Stage) -> Conformance {
    let Some(write) = stage.script.write.clone() else { return no_tools(stage).await };
    let session = stage.conversation().await;
    let events = stage.run_allowing(&session, write.prompt).await;
    let steps: Vec<_> = names(&events).into_iter().filter(|name| is_step(name)).collect();
    let expected = [
        "tool.call.requested",
        "tool.call.policy_evaluated",
        "approval.requested",
        "tool.call.policy_evaluated",
        "approval.resolved",
        "tool.call.approved",
        "tool.call.started",
        "tool.call.completed",
    ];
    assert_eq!(steps, expected);
    assert!(stage.files().contains(&write.file.to_owned()), "it was allowed, and nothing was written");
    let done = completions(&events).remove(0);
    assert_eq!(done.is_error, None);
    let words: Vec<_> = done.policy_snapshot.sources.iter().map(|word| (word.source, word.result)).collect();
    assert_eq!(words, [(PolicySource::Codesdk, PolicyResult::Ask), (PolicySource::User, PolicyResult::Allow)]);
    let claims = stage.adapter.capabilities();
    let inside = claims.tool_execution_model == ToolExecutionModel::RuntimeInternal;
    assert!(!inside || done.executed_by == ToolExecutedBy::Runtime, "{done:?}");
    assert_claim("supportsToolCalls", claims.supports_tool_calls, true);
    assert!(goes_on(&events, "tool.call.completed"), "{:?}", names(&events));
    Conformance::Holds
}

/// 8. A refused call does nothing, the agent hears why, and goes on.
pub async fn a_refused_call_leaves_no_trace_and_the_agent_hears_why(stage: &mut Stage) -> Conformance {
    const REASON: &str = "the moon is in the wrong house";
    let Some(write) = stage.script.write.clone() else { return no_tools(stage).await };
    let session = stage.conversation().await;
    let refusal = Decision::Deny { scope: ApprovalScope::Once, reason: Some(REASON.into()) };
    let events = stage.run_answering(&session, write.prompt, refusal).await;
    assert_eq!(stage.files(), [""; 0]);
    for never in ["tool.call.approved", "tool.call.started", "tool.output.delta", "tool.call.completed"] {
        assert!(!names(&events).contains(&never), "{:?}", names(&events));
    }
    let denied = events.iter().find_map(|event| match &event.body {
        EventBody::ToolCallDenied(denied) => Some(denied),
        _ => None,
    });
    assert_eq!(denied.unwrap().reason, REASON);
    let goes_on = goes_on(&events, "tool.call.denied");
    // With nobody there every call is refused: whoever does not go on then cannot work alone.
    assert_claim("supportsNonInteractive", stage.adapter.capabilities().supports_non_interactive, goes_on);
    if !goes_on {
        return Conformance::NotClaimed("supportsNonInteractive");
    }
    assert!(!write.says_why_not || text(&events).contains(REASON), "{}", text(&events));
    Conformance::Holds
}

/// 9. Two calls are open at once; both finish, each with its own result.
pub async fn two_calls_that_wait_at_once_both_finish(stage: &mut Stage) -> Conformance {
    let claimed = stage.capabilities().await.supports_parallel_tool_calls;
    let Some(prompt) = stage.script.two_calls else { return not_claimed("supportsParallelToolCalls", claimed) };
    let session = stage.conversation().await;
    let task = stage.begin(&session, prompt, Approver::Present).await;
    let asked = std::cell::Cell::new(0);
    let second = |event: &NormalizedEvent| {
        let asks = matches!(event.body, EventBody::ApprovalRequested(_)) && event.trace.task_id.as_ref() == Some(&task);
        asked.set(asked.get() + u32::from(asks));
        asked.get() == 2
    };
    let both = stage.host().wait_until(&session, "two calls wait at once (supportsParallelToolCalls)", second);
    // One that claims it is given all the time that there is.
    let patience = if claimed { Duration::MAX } else { MOMENT };
    let seen = timeout(patience, both).await.is_ok();
    assert_claim("supportsParallelToolCalls", claimed, seen);
    if !seen {
        // One that ran both calls without asking has ended its task by now.
        let _ = soon("a stop", stage.host().engine.stop(session.as_str(), "two calls never waited")).await;
        return Conformance::NotClaimed("supportsParallelToolCalls");
    }
    let waiting = stage.host().log.pending(Some(&session)).await.unwrap();
    assert_eq!(waiting.len(), 2, "{waiting:?}");
    // The last that asked is answered first.
    for pending in waiting.iter().rev() {
        let PendingAsk::Approval(asked) = &pending.ask else { panic!("{pending:?}") };
        stage.answer(&session, asked, Decision::Allow { scope: ApprovalScope::Once }).await;
    }
    stage.host().wait_for_end(&session, &task).await;
    let done = completions(&stage.events_of(&session, &task).await);
    let asked: BTreeSet<_> = waiting.iter().map(|pending| pending.id().to_owned()).collect();
    assert_eq!(done.iter().map(|done| done.identity.tool_call_id.to_string()).collect::<BTreeSet<_>>(), asked);
    assert!(done.iter().all(|done| done.is_error.is_none()), "{done:?}");
    assert_ne!(done[0].result_preview, done[1].result_preview, "nobody can tell whose result is whose");
    Conformance::Holds
}

/// 10. What nobody may allow does not happen, as the disk shows; a tool that runs unasked is said to.
pub async fn a_forbidden_tool_never_runs(stage: &mut Stage) -> Conformance {
    let Some(write) = stage.script.write.clone() else { return no_tools(stage).await };
    let session = stage.conversation().await;
    let events = stage.run(&session, write.prompt).await;
    assert_eq!(stage.files(), [""; 0]);
    let last = events.iter().rev().find_map(|event| match &event.body {
        EventBody::ToolCallDenied(denied) => denied.policy_snapshot.sources.last(),
        _ => None,
    });
    assert_eq!(last.and_then(|word| word.rule.as_deref()), Some("no_approver"), "{:?}", names(&events));
    let model = stage.adapter.capabilities().permission_model;
    assert_ne!(model, PermissionModel::Runtime, "it asks, so it does not decide alone");
    if let Some(prompt) = stage.script.read_unasked {
        let done = completions(&stage.run(&session, prompt).await).remove(0);
        let word = done.policy_snapshot.sources.last().unwrap();
        assert_eq!((word.source, word.rule.as_deref()), (PolicySource::Runtime, Some("runtime:unasked")));
        assert_eq!(model, PermissionModel::Hybrid, "it runs a tool unasked, so the host does not decide alone");
    }
    Conformance::Holds
}

/// 15. A big result is a reference and a beginning, and no event is big.
pub async fn a_big_result_is_kept_apart(stage: &mut Stage) -> Conformance {
    let Some(prompt) = stage.script.big_result else { return no_tools(stage).await };
    let session = stage.conversation().await;
    let events = stage.run_allowing(&session, prompt).await;
    let done = completions(&events).remove(0);
    let kept = done.result_ref.expect("a reference to the big result");
    let bytes = stage.host().engine.artifacts().get(&kept.artifact_id).await.unwrap();
    assert!(bytes.len() > INLINE, "the script wants a result of more than {INLINE} bytes, not {}", bytes.len());
    assert_eq!(kept.size_bytes, Some(bytes.len() as u64));
    // No prompt of a script makes a runtime pass one, so none may claim to.
    assert_claim("supportsArtifacts", stage.adapter.capabilities().supports_artifacts, false);
    let preview = done.result_preview.and_then(|preview| preview.as_str().map(str::to_owned)).unwrap();
    assert!(String::from_utf8(bytes).unwrap().starts_with(&preview), "{preview}");
    for event in &events {
        let size = serde_json::to_string(event).unwrap().len();
        assert!(size <= BIGGEST_EVENT, "{} has {size} bytes", event.body.name());
    }
    Conformance::Holds
}

/// 21. A call that is announced as one thing and asked about as another is decided as what is asked about, no decision
///     answers another question, and what a call becomes after a decision is not covered by it.
pub async fn a_decision_is_about_exactly_one_input(stage: &mut Stage) -> Conformance {
    let Some(write) = stage.script.write.clone() else { return no_tools(stage).await };
    let attempts = |events: &[NormalizedEvent]| {
        let first = requests(events).remove(0).identity.tool_call_id;
        let calls = requests(events).into_iter().filter(move |call| call.identity.tool_call_id == first);
        calls.map(|call| (call.identity, call.input)).collect::<Vec<_>>()
    };
    stage.restart_lying(Lie::Announces).await;
    let session = stage.session(Mode::Ask).await;
    let refusal = Decision::Deny { scope: ApprovalScope::Once, reason: Some("no".into()) };
    let events = stage.run_answering(&session, write.prompt, refusal).await;
    let calls = attempts(&events);
    let [.., (_, announced), (asked, input)] = calls.as_slice() else { panic!("{calls:?}") };
    assert_eq!(*announced, json!({ "command": HARMLESS }));
    assert_eq!(asked.input_hash, canonical::hash(input));
    assert_eq!(approval_requests(&events)[0], *asked, "a person is asked about what is asked, and about nothing else");
    assert_eq!(stage.believed(), 0, "a decision about another attempt was believed");
    assert_eq!(stage.files(), [""; 0]);

    stage.restart_lying(Lie::Changes).await;
    let session = stage.session(Mode::Ask).await;
    let task = stage.begin(&session, write.prompt, Approver::Present).await;
    let is_asked = |event: &NormalizedEvent| matches!(event.body, EventBody::ApprovalRequested(_));
    let event = stage.host().wait_until(&session, "a person is asked", is_asked).await;
    let EventBody::ApprovalRequested(asked) = &event.body else { panic!("{event:?}") };
    stage.answer(&session, asked, Decision::Allow { scope: ApprovalScope::Once }).await;
    stage.host().wait_for_end(&session, &task).await;
    let events = stage.events_of(&session, &task).await;
    let calls = attempts(&events);
    let [.., (changed, input)] = calls.as_slice() else { panic!("{calls:?}") };
    assert_eq!((changed.attempt, input), (asked.identity.attempt + 1, &json!({ "command": HARMFUL })));
    assert_eq!(approval_requests(&events), [asked.identity.clone(), changed.clone()]);
    let Some(EventBody::TaskFailed(failed)) = events.last().map(|event| &event.body) else { panic!("{events:?}") };
    assert_eq!(failed.error.code, FailureCode::PolicyViolation);
    assert_eq!(stage.files(), [""; 0]);
    Conformance::Holds
}

/// The calls that a person was asked about, in order.
fn approval_requests(events: &[NormalizedEvent]) -> Vec<ToolCallIdentity> {
    let asked = events.iter().filter_map(|event| match &event.body {
        EventBody::ApprovalRequested(asked) => Some(asked.identity.clone()),
        _ => None,
    });
    asked.collect()
}

/// The result for a runtime whose script has no tools: it must not claim any.
async fn no_tools(stage: &Stage) -> Conformance {
    not_claimed("supportsToolCalls", stage.capabilities().await.supports_tool_calls)
}

fn requests(events: &[NormalizedEvent]) -> Vec<ToolCallRequestedPayload> {
    let calls = events.iter().filter_map(|event| match &event.body {
        EventBody::ToolCallRequested(call) => Some(call.clone()),
        _ => None,
    });
    calls.collect()
}

fn completions(events: &[NormalizedEvent]) -> Vec<ToolCallCompletedPayload> {
    let calls = events.iter().filter_map(|event| match &event.body {
        EventBody::ToolCallCompleted(call) => Some(call.clone()),
        _ => None,
    });
    calls.collect()
}

/// True for the steps of a call whose order is fixed; output may come in between.
fn is_step(name: &str) -> bool {
    name.starts_with("tool.call.") || name.starts_with("approval.")
}

/// True if the agent says something after this event and the task completes.
fn goes_on(events: &[NormalizedEvent], after: &str) -> bool {
    let names = names(events);
    let later = names.iter().skip_while(|name| **name != after);
    later.clone().any(|name| *name == "model.output.completed") && names.last() == Some(&"task.completed")
}

/// The same value with the fields of every object in the other order.
fn reversed_fields(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields.into_iter().rev().map(|(name, value)| (name, reversed_fields(value))).collect(),
        Value::Array(items) => items.into_iter().map(reversed_fields).collect(),
        other => other,
    }
}
