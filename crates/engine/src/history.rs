//! What was said before, read back from the log for a runtime that does not remember it.

use roost_proto::content::TranscriptMessage;
use roost_proto::event::NormalizedEventType as Type;
use roost_proto::ids::SessionId;
use roost_proto::transcript;

use crate::engine::Shared;
use crate::error::Error;
use crate::runtime::Job;

/// The events that a transcript is made of.
const TRANSCRIPT: [Type; 5] = [
    Type::TaskStarted,
    Type::ToolCallRequested,
    Type::ToolCallCompleted,
    Type::ToolCallDenied,
    Type::ModelOutputCompleted,
];

/// The session's transcript up to, and without, this task.
pub(crate) async fn before(shared: &Shared, id: &SessionId, job: &Job) -> Result<Vec<TranscriptMessage>, Error> {
    let mut messages = Vec::new();
    let mut after = 0;
    loop {
        let page = shared.log.read(&id.into(), after, &TRANSCRIPT).await?;
        for entry in &page {
            let event = entry.event();
            if event.trace.task_id.as_ref() != Some(&job.task_id) {
                messages.extend(transcript::messages(&event.body));
            }
        }
        match page.next {
            Some(next) => after = next,
            None => return Ok(messages),
        }
    }
}
