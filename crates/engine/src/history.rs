//! What was said before, read back from the log for a runtime that does not remember it.

use roost_log::Seq;
use roost_proto::content::{TranscriptContentBlock, TranscriptMessage};
use roost_proto::event::{NormalizedEvent, NormalizedEventType as Type};
use roost_proto::ids::SessionId;
use roost_proto::transcript;

use crate::engine::Shared;
use crate::error::Error;
use crate::runtime::Job;

/// Events read at once.
const PAGE: usize = 4096;

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
    each(shared, id, 0, &TRANSCRIPT, |event| {
        if event.trace.task_id.as_ref() != Some(&job.task_id) {
            messages.extend(transcript::messages(&event.body));
        }
    })
    .await?;
    for block in messages.iter_mut().flat_map(|message: &mut TranscriptMessage| &mut message.content) {
        bring_back(shared, block).await;
    }
    Ok(messages)
}

/// Puts a text back that was stored apart for its size. One that is gone stays a reference.
async fn bring_back(shared: &Shared, block: &mut TranscriptContentBlock) {
    let TranscriptContentBlock::ArtifactRef { artifact_id, content_type: Some(kind), .. } = block else { return };
    if kind != "text/plain" {
        return;
    }
    match shared.artifacts.get(artifact_id).await {
        Ok(bytes) => *block = TranscriptContentBlock::Text { text: String::from_utf8_lossy(&bytes).into_owned() },
        Err(error) => tracing::warn!(%error, "A part of the conversation is missing from what the runtime is told."),
    }
}

/// Shows every event of these types after `after` that the session has by now and that is still kept.
pub(crate) async fn each(
    shared: &Shared,
    id: &SessionId,
    mut after: Seq,
    types: &[Type],
    mut show: impl FnMut(&NormalizedEvent),
) -> Result<(), Error> {
    loop {
        let page = match shared.log.read(&id.into(), after, PAGE).await {
            // What retention removed is gone; the rest still tells more than nothing.
            Err(roost_log::Error::Truncated { resume_at, .. }) if resume_at > after + 1 => {
                after = resume_at - 1;
                continue;
            }
            read => read?,
        };
        let Some(last) = page.batch.iter().last() else { return Ok(()) };
        after = last.seq();
        for entry in &page.batch {
            let event = entry.event()?;
            if event.body.event_type().is_some_and(|known| types.contains(&known)) {
                show(event);
            }
        }
        if after >= page.last_seq {
            return Ok(());
        }
    }
}
