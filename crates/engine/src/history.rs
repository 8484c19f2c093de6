//! Rebuilds a session's transcript from the log, for a runtime that does not remember it.

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

/// Events per read of the log.
const PAGE: usize = 4096;

/// The types of events that a transcript is made of.
const TRANSCRIPT: [Type; 6] = [
    Type::TaskStarted,
    Type::TaskSteered,
    Type::ToolCallRequested,
    Type::ToolCallCompleted,
    Type::ToolCallDenied,
    Type::ModelOutputCompleted,
];

/// The session's transcript before this task. For a fork, the source's transcript up to the fork comes first.
pub(crate) async fn transcript_before(
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
            messages.extend(adopted_messages(&*profile.adapter, env, adopted).await);
        }
        for_each_event(shared, &record.session_id, 0, &TRANSCRIPT, |event| {
            if event.seq <= until && event.trace.task_id.as_ref() != Some(&job.task_id) {
                messages.extend(transcript::messages(&event.body));
            }
        })
        .await?;
    }
    for block in messages.iter_mut().flat_map(|message: &mut TranscriptMessage| &mut message.content) {
        inline_artifact(shared, block).await;
    }
    Ok(messages)
}

/// The messages from before a session was adopted, as far as its runtime still stores them.
async fn adopted_messages(adapter: &dyn RuntimeAdapter, env: &RuntimeEnv, adopted: &Adopted) -> Vec<TranscriptMessage> {
    let past = adapter.past_messages(env, &adopted.runtime_session_id).await.unwrap_or_else(|error| {
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
    past.into_iter().flatten().map(|past| past.message).take_while(is_before).collect()
}

/// Replaces a reference to a stored text by the text. If the artifact is gone, the reference stays.
async fn inline_artifact(shared: &Shared, block: &mut TranscriptContentBlock) {
    let TranscriptContentBlock::ArtifactRef { artifact_id, content_type: Some(kind), .. } = block else { return };
    if kind != "text/plain" {
        return;
    }
    match shared.artifacts.get(artifact_id).await {
        Ok(bytes) => *block = TranscriptContentBlock::Text { text: String::from_utf8_lossy(&bytes).into_owned() },
        Err(error) => tracing::warn!(%error, "A part of the conversation is missing from what the runtime is told."),
    }
}

/// The number of the session's last event; 0 if it has none.
pub(crate) async fn last_seq(shared: &Shared, id: &SessionId) -> Result<Seq, Error> {
    Ok(read_page(shared, id, 0, 1).await?.last_seq)
}

/// Some events after `after`. If retention removed the first of them, it begins with what is left.
async fn read_page(shared: &Shared, id: &SessionId, after: Seq, limit: usize) -> Result<Page, Error> {
    match shared.log.read(&id.into(), after, limit).await {
        Err(roost_log::Error::Truncated { resume_at, .. }) if resume_at > after + 1 => {
            Ok(shared.log.read(&id.into(), resume_at - 1, limit).await?)
        }
        read => Ok(read?),
    }
}

/// Calls `show` with every event of these types after `after`, up to the session's last one. Removed events are
/// skipped.
pub(crate) async fn for_each_event(
    shared: &Shared,
    id: &SessionId,
    mut after: Seq,
    types: &[Type],
    mut show: impl FnMut(&NormalizedEvent),
) -> Result<(), Error> {
    loop {
        let page = read_page(shared, id, after, PAGE).await?;
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
