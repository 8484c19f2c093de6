//! `audit/list`: what happened at the gateway, as records of seed 003. Each is made from one event of the log.

use roost_log::StreamId;
use roost_model::event::{EventBody, NormalizedEvent, NormalizedEventType};
use roost_model::ids::{ServiceId, SessionId};
use roost_model::payload::{McpToolCalledPayload, ServiceStateChangedPayload};
use roost_model::run::{AgentEvent, EventLevel};
use roost_model::service::Lifecycle;
use roost_rpc::{AuditLevel, AuditListParams, AuditListResult, AuditRecord, Fault};
use serde_json::{Map, Value, json};

use super::service::limit;
use crate::dispatch::Context;
use crate::fault;

/// The kind of records about calls.
pub(crate) const TOOL_CALLED: &str = "mcp.tool_called";
/// The events of what becomes of services: few, however much is called and reported beside them.
const SERVICE_EVENTS: [NormalizedEventType; 5] = [
    NormalizedEventType::ServiceManifestApplied,
    NormalizedEventType::ServiceStateChanged,
    NormalizedEventType::ServiceInterfaceRefreshed,
    NormalizedEventType::ServiceToolsApproved,
    NormalizedEventType::ServiceRemoved,
];
/// The events of calls.
pub(crate) const CALLS: [NormalizedEventType; 1] = [NormalizedEventType::McpToolCalled];
/// Events that are read at once.
const PAGE: usize = 500;
/// How far records are looked for, in events.
const MAX_EVENTS: usize = 50_000;

pub(crate) async fn list(context: &Context<'_>, params: AuditListParams) -> Result<AuditListResult, Fault> {
    let most = limit(params.limit, 200);
    match params.after.unwrap_or(0) {
        0 => last(context, &[], most, |_, _| true).await,
        after => next(context, most, after).await,
    }
}

/// The last records about a service. What is rare is looked for by its type, so that a flood of calls or of reports does
/// not hide it.
pub(crate) async fn last_about(
    context: &Context<'_>,
    most: usize,
    service: &ServiceId,
) -> Result<Vec<AuditRecord>, Fault> {
    let is_about = |_: &NormalizedEvent, record: &AuditRecord| record.service_id.as_ref() == Some(service);
    let mut items = Vec::new();
    for types in [&SERVICE_EVENTS[..], &CALLS, &[]] {
        items.extend(last(context, types, most, is_about).await?.items);
    }
    items.sort_by_key(|record| record.seq);
    items.dedup_by_key(|record| record.seq);
    items.drain(..items.len().saturating_sub(most));
    Ok(items)
}

/// The last records that are wanted by their events and by what they say, the oldest first. With types, only events of
/// these are looked at.
pub(crate) async fn last(
    context: &Context<'_>,
    types: &[NormalizedEventType],
    most: usize,
    is_wanted: impl Fn(&NormalizedEvent, &AuditRecord) -> bool,
) -> Result<AuditListResult, Fault> {
    let (log, stream) = (&context.host.sessions.log, StreamId::from(&SessionId::host()));
    let (mut items, mut last, mut before, mut seen) = (Vec::new(), 0, u64::MAX, 0);
    while seen < MAX_EVENTS && items.len() < most {
        let page = log.read_back(&stream, before, types, PAGE).await.map_err(fault::log)?;
        let seqs: Vec<_> = page.batch.iter().map(|entry| entry.seq()).collect();
        let (Some(first), Some(newest)) = (seqs.first(), seqs.last()) else { break };
        (before, last, seen) = (*first, last.max(*newest), seen + seqs.len());
        let events = page.batch.iter().filter_map(|entry| entry.event().ok());
        let records = events.filter_map(|event| from_event(event).filter(|record| is_wanted(event, record)));
        let mut records: Vec<_> = records.collect();
        records.append(&mut items);
        items = records;
        if !page.has_more {
            break;
        }
    }
    items.drain(..items.len().saturating_sub(most));
    Ok(AuditListResult { items, last })
}

/// The records that follow an event, the oldest first: a caller that goes on at `last` misses none.
async fn next(context: &Context<'_>, most: usize, after: u64) -> Result<AuditListResult, Fault> {
    let (log, stream) = (&context.host.sessions.log, StreamId::from(&SessionId::host()));
    let (mut items, mut last) = (Vec::new(), after);
    for _ in 0..MAX_EVENTS / PAGE {
        let page = match log.read(&stream, last, PAGE).await {
            Ok(page) => page,
            // What retention removed is not there to be told.
            Err(roost_log::Error::Truncated { resume_at, .. }) => {
                last = resume_at.saturating_sub(1);
                continue;
            }
            Err(error) => return Err(fault::log(error)),
        };
        for entry in page.batch.iter() {
            last = entry.seq();
            items.extend(entry.event().ok().and_then(from_event));
            if items.len() == most {
                return Ok(AuditListResult { items, last });
            }
        }
        if last >= page.last_seq {
            // A caller who knows another log goes on with what comes next in this one.
            last = page.last_seq;
            break;
        }
    }
    Ok(AuditListResult { items, last })
}

/// The record of an event; `None` for events that are not about the gateway.
pub(crate) fn from_event(event: &NormalizedEvent) -> Option<AuditRecord> {
    use AuditLevel::{Info, Warn};
    let (kind, service, level, message, data) = match &event.body {
        EventBody::McpToolCalled(called) => {
            let (level, outcome) = match (&called.error, called.success) {
                (_, true) => (Info, "succeeded".to_owned()),
                (Some(error), false) => (Warn, error.clone()),
                (None, false) => (Warn, "failed".to_owned()),
            };
            let message = format!("{} called {}: {outcome}", called.principal, called.tool);
            return Some(record(event, TOOL_CALLED, called.service_id.clone(), level, message, tool_call(called)));
        }
        EventBody::ServiceManifestApplied(applied) => (
            "service.manifest_applied",
            &applied.service_id,
            Info,
            format!("manifest {} of {} is applied", applied.version, applied.namespace),
            json!({ "version": applied.version, "namespace": applied.namespace, "enabled": applied.enabled }),
        ),
        EventBody::ServiceStateChanged(changed) => {
            let (kind, level, message) = state_change(changed);
            let data = json!({
                "before": changed.before, "lifecycle": changed.lifecycle, "health": changed.health,
                "error": changed.error, "nextAttemptAt": changed.next_attempt, "restartCount": changed.restart_count,
            });
            (kind, &changed.service_id, level, message, data)
        }
        EventBody::ServiceInterfaceRefreshed(refreshed) => {
            let level = if refreshed.held_back.is_empty() { Info } else { Warn };
            let held_back = match refreshed.held_back.len() {
                0 => String::new(),
                count => format!(", {count} held back"),
            };
            let message = format!("it offers {} tools{held_back}", refreshed.tools);
            let data = json!({
                "interfaceRevision": refreshed.revision, "tools": refreshed.tools, "resources": refreshed.resources,
                "prompts": refreshed.prompts, "heldBack": refreshed.held_back,
            });
            ("service.interface_refreshed", &refreshed.service_id, level, message, data)
        }
        EventBody::ServiceToolsApproved(approved) => {
            let by = approved.approved_by.as_deref().unwrap_or("first use");
            let message = match approved.count {
                0 => format!("it is approved by {by}"),
                count => format!("{count} tools are approved by {by}"),
            };
            let data = json!({ "tools": approved.tools, "count": approved.count, "approvedBy": approved.approved_by });
            ("service.tools_approved", &approved.service_id, Info, message, data)
        }
        EventBody::ServiceRemoved(removed) => (
            "service.removed",
            &removed.service_id,
            Info,
            format!("{} is removed", removed.namespace),
            json!({ "namespace": removed.namespace }),
        ),
        EventBody::McpBudgetExceeded(exceeded) => {
            let message = match exceeded.raised {
                false => format!("the run {} has used up its budget", exceeded.run_id),
                true => format!("the run {} was given its budget once more", exceeded.run_id),
            };
            let data = json!({
                "runId": exceeded.run_id, "budget": exceeded.budget, "spent": exceeded.spent, "limit": exceeded.limit,
                "raised": exceeded.raised.then_some(true),
            });
            return Some(record(event, "mcp.budget_exceeded", None, Warn, message, data));
        }
        body => return AgentEvent::from_body(body).map(|reported| of_run(event, reported)),
    };
    Some(record(event, kind, Some(service.clone()), level, message, data))
}

/// The record of what a client reported of a run.
fn of_run(event: &NormalizedEvent, reported: AgentEvent) -> AuditRecord {
    let AgentEvent { kind, level, message, service_id, mut data, .. } = reported;
    // Who calls is what the gateway itself has seen; a reporter cannot say so.
    data.remove("principal");
    let level = match level {
        EventLevel::Info => AuditLevel::Info,
        EventLevel::Warn => AuditLevel::Warn,
        EventLevel::Error => AuditLevel::Error,
    };
    record(event, &kind, service_id, level, message, Value::Object(data))
}

/// What a record says of a call. `routedTool` and `category` are as in seed 003.
fn tool_call(called: &McpToolCalledPayload) -> Value {
    let namespace = called.tool.split("__").next().unwrap_or_default();
    let category = match (&called.service_id, namespace) {
        (None, "runtime") => "runtime_system",
        (None, "clarity") => "clarity_system",
        _ => "service",
    };
    json!({
        "tool": called.tool, "routedTool": called.routed_tool, "category": category, "success": called.success,
        "error": called.error, "principal": called.principal, "client": called.client, "policy": called.policy,
        "durationUs": called.duration_us, "requestBytes": called.request_bytes,
        "responseBytes": called.response_bytes, "sessionId": called.session_id, "toolCallId": called.tool_call_id, "runId": called.run_id,
        "traceId": called.trace_id, "parentSpanId": called.parent_span_id, "arguments": called.arguments,
    })
}

fn record(
    event: &NormalizedEvent,
    kind: &str,
    service_id: Option<ServiceId>,
    level: AuditLevel,
    message: String,
    data: Value,
) -> AuditRecord {
    let mut data = match data {
        Value::Object(data) => data,
        _ => Map::new(),
    };
    data.retain(|_, value| !value.is_null());
    AuditRecord { seq: event.seq, at: event.time, kind: kind.into(), service_id, level, message, data }
}

fn state_change(changed: &ServiceStateChangedPayload) -> (&'static str, AuditLevel, String) {
    use AuditLevel::{Error, Info, Warn};
    let why = || changed.error.as_deref().map(|error| format!(": {error}")).unwrap_or_default();
    match (changed.before, changed.lifecycle) {
        (before, after) if before == after => ("service.health_changed", Warn, format!("its health changed{}", why())),
        (_, Lifecycle::Starting) => ("service.starting", Info, "it is being started".into()),
        (_, Lifecycle::Running) => ("service.started", Info, "it runs".into()),
        (_, Lifecycle::Stopping) => ("service.stopping", Info, "it is being stopped".into()),
        (Lifecycle::Quarantined, Lifecycle::Stopped) => {
            ("service.unquarantined", Info, "it may be started again".into())
        }
        (_, Lifecycle::Stopped | Lifecycle::Registered) => ("service.stopped", Info, "it is stopped".into()),
        (Lifecycle::Starting, Lifecycle::Crashed) => {
            ("service.start_failed", Error, format!("it did not start{}", why()))
        }
        (_, Lifecycle::Crashed) => ("service.crashed", Error, format!("it failed{}", why())),
        (_, Lifecycle::Quarantined) => ("service.quarantined", Error, format!("it failed too often{}", why())),
    }
}
