//! Cleans up what an earlier process left behind, before the engine accepts commands.
//!
//! Interrupted tasks are closed as failed, with everything that was open in them; queued prompts are held; processes
//! are ended, unless their adapter can take them over. The cost depends on what was open, not on the size of the log.

use roost_model::event::{EventBody, NormalizedEventType as Type, RuntimeRef};
use roost_model::failure::FailureCode;
use roost_model::ids::SessionId;
use roost_model::payload::{SessionClosedPayload, SessionUpdatedPayload};
use roost_model::session::{SessionRecord, SessionStatus};
use roost_process::EphemeralDir;
use roost_process::records::Record;

use crate::adapter::{Reattached, TaskEnd};
use crate::engine::Shared;
use crate::error::Error;
use crate::event_writer::EventWriter;
use crate::history;
use crate::ledger::Ledger;
use crate::registry::Runtimes;

const REASON: &str = "Roost ended while the session was open";

/// The types of events from which a [`Ledger`] is restored.
const LEDGER: [Type; 9] = [
    Type::ToolCallRequested,
    Type::ToolCallPolicyEvaluated,
    Type::ApprovalRequested,
    Type::ToolCallApproved,
    Type::ToolCallDenied,
    Type::ToolCallStarted,
    Type::ToolCallCompleted,
    Type::QuestionAsked,
    Type::QuestionResolved,
];

/// A session whose runtime outlived the earlier daemon and was taken over.
pub(crate) struct Survivor {
    pub(crate) record: SessionRecord,
    pub(crate) reattached: Reattached,
    /// The state of the task that still runs; `None` if none does.
    pub(crate) ledger: Option<Ledger>,
    /// Removes the session's ephemeral folders when the runtime is closed.
    pub(crate) ephemeral: Option<EphemeralDir>,
}

/// Ends leftover processes and closes open sessions. Returns the sessions that an adapter could take over.
pub(crate) async fn recover(shared: &Shared, runtimes: &Runtimes) -> Result<Vec<Survivor>, Error> {
    let mut survivors = Vec::new();
    let records = &shared.config.records;
    for process in roost_process::records::load(records.clone()).await? {
        match take_over(shared, runtimes, &process).await? {
            Some(survivor) => survivors.push(survivor),
            None => drop(roost_process::records::reap(records, process).await?),
        }
    }
    let survives =
        |record: &SessionRecord| survivors.iter().any(|one: &Survivor| one.record.session_id == record.session_id);
    for record in shared.log.unclosed().await?.into_iter().filter(|record| !survives(record)).collect::<Vec<_>>() {
        close(shared, record, restarted(), REASON).await?;
    }
    let going_on: Vec<_> = survivors.iter().filter_map(|survivor| survivor.ephemeral.as_ref()).collect();
    roost_process::remove_ephemeral_leftovers(shared.config.environments.namespaces.clone(), &going_on).await?;
    Ok(survivors)
}

/// Offers a process that outlived its daemon to the adapter of its session; `None` if it must be ended.
async fn take_over(shared: &Shared, runtimes: &Runtimes, process: &Record) -> Result<Option<Survivor>, Error> {
    let Some(mut record) = shared.log.session(&process.label).await? else { return Ok(None) };
    let Ok(adapter) = runtimes.usable_by_name(&record.runtime) else { return Ok(None) };
    let Some(reattached) = adapter.reattach(process).await else { return Ok(None) };
    let ledger = match (&record.open_task, &reattached.task) {
        (Some(task), Some(_)) => Some(open_ledger(shared, &record, task.first_seq).await?),
        // The task ended while no daemon recorded it, so its outcome is unknown and it counts as failed.
        (Some(_), None) => {
            end_task(shared, &record, restarted()).await?;
            record.open_task = None;
            None
        }
        (None, None) => None,
        // A task that is not in the log cannot be continued.
        (None, Some(_)) => return Ok(None),
    };
    if let Some(held) = hold(&mut record) {
        event_writer(shared, &record).write(vec![held]).await?;
    }
    let ephemeral = shared.config.ephemeral(&record);
    Ok(Some(Survivor { record, reattached, ledger, ephemeral }))
}

/// Closes a session whose actor failed, and its open task with it.
pub(crate) async fn close_failed(shared: &Shared, id: &SessionId) -> Result<(), Error> {
    let record = shared.record(id.as_str()).await?;
    if matches!(record.status, SessionStatus::Created | SessionStatus::Closed) {
        return Ok(());
    }
    let message = "Roost failed while the task ran; what it did until then is in the log";
    close(shared, record, TaskEnd::failed(FailureCode::Internal, message), "Roost failed").await
}

fn restarted() -> TaskEnd {
    let message =
        "Roost ended while the task ran; what it did until then is in the log. Send the prompt again to go on";
    TaskEnd::failed(FailureCode::HostRestarted, message)
}

async fn close(shared: &Shared, mut record: SessionRecord, end: TaskEnd, reason: &str) -> Result<(), Error> {
    end_task(shared, &record, end).await?;
    let mut events = Vec::from_iter(hold(&mut record));
    events.push(SessionClosedPayload { reason: reason.into() }.into());
    event_writer(shared, &record).write(events).await?.await?;
    Ok(())
}

/// Ends the open task, if there is one, and everything that is open in it.
async fn end_task(shared: &Shared, record: &SessionRecord, end: TaskEnd) -> Result<(), Error> {
    let Some(task) = &record.open_task else { return Ok(()) };
    let mut ledger = open_ledger(shared, record, task.first_seq).await?;
    let mut writer = event_writer(shared, record);
    writer.set_task(Some(task.task_id.clone()));
    writer.write(ledger.close(end)).await?;
    Ok(())
}

/// Holds all queued prompts, so that none runs unexpectedly long after it was sent; `None` if all are held already.
fn hold(record: &mut SessionRecord) -> Option<EventBody> {
    if record.queue.iter().all(|prompt| prompt.held) {
        return None;
    }
    record.queue.iter_mut().for_each(|prompt| prompt.held = true);
    Some(SessionUpdatedPayload { queue: Some(record.queue.clone()), ..Default::default() }.into())
}

fn event_writer(shared: &Shared, record: &SessionRecord) -> EventWriter {
    let mut runtime = RuntimeRef::new(record.runtime.clone());
    runtime.runtime_session_id.clone_from(&record.runtime_session_id);
    EventWriter::new(shared.log.clone(), &record.session_id, runtime)
}

async fn open_ledger(shared: &Shared, record: &SessionRecord, first_seq: u64) -> Result<Ledger, Error> {
    let mut bodies = Vec::new();
    history::for_each_event(shared, &record.session_id, first_seq, &LEDGER, |event| bodies.push(event.body.clone()))
        .await?;
    Ok(Ledger::replay(record.mode, &bodies))
}
