//! What an earlier process left behind, put in order before anything else happens.
//!
//! A task that was cut is closed as failed, with everything that was open in it; prompts that waited are held; the
//! processes are ended. The cost follows from what was open, not from how much ever happened.

use std::sync::Arc;

use roost_proto::event::{EventBody, NormalizedEventType as Type, RuntimeRef};
use roost_proto::failure::FailureCode;
use roost_proto::payload::{SessionClosedPayload, SessionUpdatedPayload};
use roost_proto::session::SessionRecord;

use crate::adapter::TaskEnd;
use crate::engine::Shared;
use crate::error::Error;
use crate::ledger::Ledger;
use crate::registry::Runtimes;
use crate::scribe::Scribe;

const REASON: &str = "Roost ended while the session was open";

/// The events that say what is open in a task.
const LEDGER: [Type; 8] = [
    Type::ToolCallRequested,
    Type::ToolCallPolicyEvaluated,
    Type::ToolCallApproved,
    Type::ToolCallDenied,
    Type::ToolCallStarted,
    Type::ToolCallCompleted,
    Type::QuestionAsked,
    Type::QuestionResolved,
];

/// Ends what runs, closes what is open.
pub(crate) async fn recover(shared: &Arc<Shared>, runtimes: &Runtimes) -> Result<(), Error> {
    reap(shared, runtimes).await?;
    for record in shared.log.unclosed_sessions().await? {
        close(shared, record).await?;
    }
    Ok(())
}

/// Ends every process that outlived its daemon and that no adapter takes over.
async fn reap(shared: &Shared, runtimes: &Runtimes) -> Result<(), Error> {
    let records = &shared.config.records;
    for record in roost_process::records::load(records.clone()).await? {
        roost_process::records::reap(records, record).await?;
    }
    let _ = runtimes;
    roost_process::remove_ephemeral_leftovers(shared.config.environments.namespaces.clone()).await?;
    Ok(())
}

async fn close(shared: &Shared, record: SessionRecord) -> Result<(), Error> {
    let mut runtime = RuntimeRef::new(record.runtime.clone());
    runtime.runtime_session_id.clone_from(&record.runtime_session_id);
    let mut scribe = Scribe::new(shared.log.clone(), &record.session_id, runtime);
    if let Some(task) = &record.open_task {
        let mut ledger = open_ledger(shared, &record, task.first_seq).await?;
        scribe.set_task(Some(task.task_id.clone()));
        let message = "Roost ended while the task ran; what it did until then is in the log. Send the prompt again to go on";
        scribe.write(ledger.close(TaskEnd::failed(FailureCode::HostRestarted, message))).await?;
        scribe.set_task(None);
    }
    let mut events: Vec<EventBody> = Vec::new();
    if record.queue.iter().any(|prompt| !prompt.held) {
        let mut queue = record.queue;
        queue.iter_mut().for_each(|prompt| prompt.held = true);
        events.push(SessionUpdatedPayload { queue: Some(queue), ..Default::default() }.into());
    }
    events.push(SessionClosedPayload { reason: REASON.into() }.into());
    scribe.write(events).await?.await?;
    Ok(())
}

async fn open_ledger(shared: &Shared, record: &SessionRecord, first_seq: u64) -> Result<Ledger, Error> {
    let mut bodies = Vec::new();
    let mut after = first_seq;
    loop {
        let page = shared.log.read(&(&record.session_id).into(), after, &LEDGER).await?;
        bodies.extend(page.iter().map(|entry| entry.event().body.clone()));
        match page.next {
            Some(next) => after = next,
            None => return Ok(Ledger::replay(record.mode, &bodies)),
        }
    }
}
