//! `run/*`: agent runs, reported and hosted.

use roost_gateway::runs::{MessageRole, RunsError, TimelineEvent};
use roost_model::ids::RunId;
use roost_model::run::AgentEvent;
use roost_rpc::{
    Fault, FaultCode, RunEvent, RunEventsParams, RunEventsResult, RunListParams, RunListResult, RunMessageParams,
    RunMessageResult, RunMessageRole, RunReportParams, RunReportResult, Scope,
};
use serde_json::{Value, json};

use crate::agents::Agent;
use crate::dispatch::Context;
use crate::fault;
use crate::handlers::session::{self, check_size};

/// The most runs or events of one answer.
const MAX_LIMIT: u32 = 2000;
/// The most events of one report.
const MAX_EVENTS: usize = 10_000;
/// The most bytes of a message.
const MAX_MESSAGE: usize = 64 * 1024;

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

pub(crate) async fn message(context: &Context<'_>, params: RunMessageParams) -> Result<RunMessageResult, Fault> {
    let RunMessageParams { run_id, message, role } = params;
    let (run, role) = (RunId::from(run_id.as_str()), role.unwrap_or_default());
    if message.trim().is_empty() {
        return Err(Fault::params("the message says nothing").with("field", "message"));
    }
    check_size("message", message.len(), MAX_MESSAGE)?;
    let hosted = context.host.sessions.log.session(&run_id).await.map_err(fault::log)?;
    if hosted.is_some_and(|record| record.session_id.as_str() == run_id) {
        if role != RunMessageRole::User {
            let why = "this run is a session that Roost hosts; its agent takes messages of the role user";
            return Err(Fault::params(why).with("field", "role"));
        }
        let send = serde_json::from_value(json!({ "session_id": run_id, "prompt": message })).map_err(Fault::params)?;
        session::send(context, send).await?;
        return Ok(RunMessageResult { ok: true, run_id: run, reply: None });
    }
    let role = match role {
        RunMessageRole::User => MessageRole::User,
        RunMessageRole::Assistant => MessageRole::Assistant,
        RunMessageRole::System => MessageRole::System,
    };
    let reply = context.host.run_messages.send(&run, role, &message).await.map_err(shape)?;
    Ok(RunMessageResult { ok: true, run_id: run, reply })
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

pub(crate) fn shape(error: RunsError) -> Fault {
    match error {
        RunsError::Log(error) => fault::log(error),
        RunsError::Service(error) => Fault::params(error).with("field", "service_id"),
        RunsError::Unknown(run) => Fault::params(RunsError::Unknown(run.clone())).with("run_id", run),
        RunsError::Over(run) => {
            Fault::new(FaultCode::AgentNotRunning, RunsError::Over(run.clone())).with("run_id", run)
        }
        RunsError::NoAnswer { .. } => Fault::new(FaultCode::InternalError, error),
        RunsError::NotRecorded(_) => Fault::new(FaultCode::InternalError, error),
        RunsError::Closing => Fault::new(FaultCode::ShuttingDown, error),
    }
}
