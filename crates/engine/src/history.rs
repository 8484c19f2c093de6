//! What was said before, read back from the log for a runtime that does not remember it.

use roost_log::{Page, Seq};
use roost_model::content::{TranscriptContentBlock, TranscriptMessage};
use roost_model::event::{NormalizedEvent, NormalizedEventType as Type};
use roost_model::ids::SessionId;
use roost_model::runtime::RuntimeEnv;
use roost_model::session::{Adopted, SessionRecord};
use roost_model::transcript;

use crate::adapter::RuntimeAdapter;
use crate::engine::Shared;
use crate::error::Error;
use crate::runtime::{Job, Profile};

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

/// The session's transcript up to, and without, this task, with what was said before in the session that it is a fork of.
pub(crate) async fn before(
    shared: &Shared,
    profile: &Profile,
    env: &RuntimeEnv,
    job: &Job,
) -> Result<Vec<TranscriptMessage>, Error> {
    let mut parts = vec![(shared.record(profile.id.as_str()).await?, Seq::MAX)];
    while let Some((SessionRecord { forked: Some(forked), .. }, _)) = parts.last() {
        let (source, seq) = (shared.record(forked.session_id.as_str()).await?, forked.seq);
        parts.push((source, seq));
    }
    let mut messages = Vec::new();
    for (record, until) in parts.into_iter().rev() {
        if let Some(adopted) = &record.adopted {
            messages.extend(kept(&*profile.adapter, env, adopted).await);
        }
        each(shared, &record.session_id, 0, &TRANSCRIPT, |event| {
            if event.seq <= until && event.trace.task_id.as_ref() != Some(&job.task_id) {
                messages.extend(transcript::messages(&event.body));
            }
        })
        .await?;
    }
    for block in messages.iter_mut().flat_map(|message: &mut TranscriptMessage| &mut message.content) {
        bring_back(shared, block).await;
    }
    Ok(messages)
}

/// What was said before the session was ours, as far as its runtime still keeps it.
async fn kept(adapter: &dyn RuntimeAdapter, env: &RuntimeEnv, adopted: &Adopted) -> Vec<TranscriptMessage> {
    let said = adapter.past_messages(env, &adopted.runtime_session_id).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "What was said before Roost hosted the session cannot be read.");
        None
    });
    let mut left = usize::try_from(adopted.messages).unwrap_or(usize::MAX);
    let is_before = |message: &TranscriptMessage| {
        // Each block was counted as a message.
        let is_before = left > 0;
        left = left.saturating_sub(message.content.len());
        is_before
    };
    said.into_iter().flatten().map(|past| past.message).take_while(is_before).collect()
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

/// The place of the session's last event.
pub(crate) async fn last(shared: &Shared, id: &SessionId) -> Result<Seq, Error> {
    Ok(page(shared, id, 0, 1).await?.last_seq)
}

/// Some events after `after`. What retention removed is gone; the rest still tells more than nothing.
async fn page(shared: &Shared, id: &SessionId, after: Seq, limit: usize) -> Result<Page, Error> {
    match shared.log.read(&id.into(), after, limit).await {
        Err(roost_log::Error::Truncated { resume_at, .. }) if resume_at > after + 1 => {
            Ok(shared.log.read(&id.into(), resume_at - 1, limit).await?)
        }
        read => Ok(read?),
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
        let page = page(shared, id, after, PAGE).await?;
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
