//! `run/*`: agent runs, reported and hosted.

use roost_gateway::runs::{RunsError, TimelineEvent};
use roost_model::ids::RunId;
use roost_model::run::AgentEvent;
use roost_rpc::{
    Fault, FaultCode, RunEvent, RunEventsParams, RunEventsResult, RunListParams, RunListResult, RunReportParams,
    RunReportResult, Scope,
};
use serde_json::Value;

use crate::agents::Agent;
use crate::dispatch::Context;
use crate::fault;

/// The most runs or events of one answer.
const MAX_LIMIT: u32 = 2000;
/// The most events of one report.
const MAX_EVENTS: usize = 10_000;

pub(crate) async fn list(context: &Context<'_>, params: RunListParams) -> Result<RunListResult, Fault> {
    let items = context.host.runs.list(limit(params.limit, 100)).await.map_err(shape)?;
    Ok(RunListResult { items })
}

pub(crate) async fn events(context: &Context<'_>, params: RunEventsParams) -> Result<RunEventsResult, Fault> {
    let run_id = params.run_id.map(RunId::from);
    let events = context.host.runs.events(run_id.as_ref(), limit(params.limit, 200)).await.map_err(shape)?;
    let item = |TimelineEvent { seq, time, event }: TimelineEvent| {
        let AgentEvent { kind, level, message, service_id, data, .. } = event;
        RunEvent { seq, at: time, kind, service_id, level, message, data }
    };
    Ok(RunEventsResult { run_id, items: events.into_iter().map(item).collect() })
}

pub(crate) async fn report(context: &Context<'_>, params: RunReportParams) -> Result<RunReportResult, Fault> {
    let RunReportParams { events, idempotency_key } = params;
    if events.len() > MAX_EVENTS {
        let why = format_args!("a report has at most {MAX_EVENTS} events, and this one has {}", events.len());
        return Err(Fault::params(why).with("field", "events"));
    }
    let accepted = events.len() as u64;
    let mut parsed = Vec::with_capacity(events.len());
    for (at, event) in events.into_iter().enumerate() {
        let invalid =
            |why: &str| Fault::params(format_args!("event {at}: {why}")).with("field", "events").with("event", at);
        let mut event = AgentEvent::parse(&Value::Object(event)).map_err(|error| invalid(&error.to_string()))?;
        check_run(context, &event).map_err(|fault| fault.with("event", at))?;
        // The place within the report tells its events apart.
        event.idempotency_key =
            event.idempotency_key.or_else(|| idempotency_key.as_ref().map(|key| format!("{key}/{at}")));
        parsed.push(event);
    }
    context.host.runs.report(parsed).await.map_err(shape)?;
    Ok(RunReportResult { ok: true, accepted })
}

/// A hosted agent reports about the run of its own session and about no other.
fn check_run(context: &Context<'_>, event: &AgentEvent) -> Result<(), Fault> {
    match &context.caller.agent {
        None => Ok(()),
        Some(Agent::Session(session)) if event.run_id().is_some_and(|run| run.as_str() == session.as_str()) => Ok(()),
        Some(_) => {
            let why =
                "an agent reports about the run of its own session and about no other; `run_id` must name its session";
            Err(Fault::new(FaultCode::Forbidden, why).with("scope", Scope::Agent))
        }
    }
}

fn limit(given: Option<u32>, default: u32) -> usize {
    given.unwrap_or(default).clamp(1, MAX_LIMIT) as usize
}

fn shape(error: RunsError) -> Fault {
    match error {
        RunsError::Log(error) => fault::log(error),
        RunsError::Service(error) => Fault::params(error).with("field", "service_id"),
        RunsError::Unknown(run) => Fault::params(RunsError::Unknown(run.clone())).with("run_id", run),
        RunsError::NotRecorded(_) => Fault::new(FaultCode::InternalError, error),
        RunsError::Closing => Fault::new(FaultCode::ShuttingDown, error),
    }
}
