//! Tools that show what happened: the record of the gateway, and the runs of agents.

use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::ids::RunId;
use roost_rpc::{RunEventsParams, RunListParams};
use serde::Deserialize;
use serde_json::json;

use super::services::clamp;
use super::{Call, ToolResult, internal};
use crate::handlers::{audit, run};

/// The most that one answer holds.
const MAX_RUNS: usize = 1000;
const MAX_EVENTS: usize = 2000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Limited {
    limit: Option<i64>,
}

pub(super) async fn get_audit(call: Call<'_>) -> ToolResult {
    let Limited { limit } = call.parse()?;
    let own = call.session().map(|session| format!("session:{session}"));
    let is_shown = |event: &NormalizedEvent, _: &roost_rpc::AuditRecord| match (&own, &event.body) {
        (None, _) => true,
        (Some(own), EventBody::McpToolCalled(called)) => called.principal == *own,
        (Some(_), _) => false,
    };
    // An agent sees its own calls, and nobody else's; what others report is nobody's call, whatever it says.
    let types = if own.is_some() { &audit::CALLS[..] } else { &[] };
    let items = audit::last(&call.context(), types, clamp(limit, MAX_EVENTS, 200), is_shown).await?.items;
    Ok(json!({ "items": items }))
}

pub(super) async fn get_agent_runs(call: Call<'_>) -> ToolResult {
    let Limited { limit } = call.parse()?;
    let limit = clamp(limit, MAX_RUNS, 100);
    // An agent's own run may be any of them.
    let wanted = if call.session().is_some() { MAX_RUNS } else { limit };
    let params = RunListParams { limit: u32::try_from(wanted).ok() };
    let mut items = run::list(&call.context(), params).await?.items;
    if let Some(session) = call.session() {
        items.retain(|run| run.run_id.as_str() == session);
    }
    items.truncate(limit);
    Ok(json!({ "items": items }))
}

pub(super) async fn get_agent_events(call: Call<'_>) -> ToolResult {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Arguments {
        limit: Option<i64>,
        run_id: Option<RunId>,
    }
    let Arguments { limit, run_id } = call.parse()?;
    let run_id = match call.session() {
        None => run_id.map(|run| run.as_str().to_owned()),
        Some(session) if run_id.as_ref().is_none_or(|run| run.as_str() == session) => Some(session.to_owned()),
        Some(session) => {
            return Err(roost_rpc::Fault::params(format_args!(
                "an agent sees the events of its own run only, which is {session}"
            )));
        }
    };
    let limit = u32::try_from(clamp(limit, MAX_EVENTS, 200)).ok();
    let items = run::events(&call.context(), RunEventsParams { run_id, limit }).await?.items;
    Ok(json!({ "items": serde_json::to_value(items).map_err(internal)? }))
}
