//! Puts texts back into their events that the log stores as artifacts because they are big.

use std::borrow::Cow;

use roost_engine::Artifacts;
use roost_model::content::{AssistantContentBlock, TranscriptContentBlock, TranscriptMessage};
use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::ids::ArtifactId;
use roost_model::payload::TaskStartedPayload;

/// The media type of an artifact that holds a text.
const TEXT: &str = "text/plain";

/// The event with its texts inline. A block whose artifact is gone keeps the reference.
pub(crate) async fn inline_texts<'a>(artifacts: &Artifacts, event: &'a NormalizedEvent) -> Cow<'a, NormalizedEvent> {
    let mut event = Cow::Borrowed(event);
    match &event.body {
        EventBody::ModelOutputCompleted(output)
            if output.content.iter().any(|block| assistant_text_ref(block).is_some()) => {}
        EventBody::TaskStarted(TaskStartedPayload { messages, .. }) if has_text_ref(messages) => {}
        EventBody::TaskSteered(steered) if has_text_ref(std::slice::from_ref(&steered.message)) => {}
        _ => return event,
    }
    match &mut event.to_mut().body {
        EventBody::ModelOutputCompleted(output) => {
            for block in &mut output.content {
                if let Some(text) = fetch(artifacts, assistant_text_ref(block)).await {
                    *block = AssistantContentBlock::Text { text };
                }
            }
        }
        EventBody::TaskStarted(started) => inline_messages(artifacts, &mut started.messages).await,
        EventBody::TaskSteered(steered) => {
            inline_messages(artifacts, std::slice::from_mut(&mut steered.message)).await;
        }
        _ => {}
    }
    event
}

async fn inline_messages(artifacts: &Artifacts, messages: &mut [TranscriptMessage]) {
    for block in messages.iter_mut().flat_map(|message| &mut message.content) {
        if let Some(text) = fetch(artifacts, transcript_text_ref(block)).await {
            *block = TranscriptContentBlock::Text { text };
        }
    }
}

fn has_text_ref(messages: &[TranscriptMessage]) -> bool {
    messages.iter().flat_map(|message| &message.content).any(|block| transcript_text_ref(block).is_some())
}

/// The artifact that holds the text of an agent's block, if one does.
fn assistant_text_ref(block: &AssistantContentBlock) -> Option<&ArtifactId> {
    match block {
        AssistantContentBlock::ArtifactRef { artifact_id, content_type: Some(kind), .. } if kind == TEXT => {
            Some(artifact_id)
        }
        _ => None,
    }
}

/// The artifact that holds the text of a prompt's block, if one does.
fn transcript_text_ref(block: &TranscriptContentBlock) -> Option<&ArtifactId> {
    match block {
        TranscriptContentBlock::ArtifactRef { artifact_id, content_type: Some(kind), .. } if kind == TEXT => {
            Some(artifact_id)
        }
        _ => None,
    }
}

async fn fetch(artifacts: &Artifacts, id: Option<&ArtifactId>) -> Option<String> {
    let id = id?;
    match artifacts.recent(id) {
        Some(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        None => Some(String::from_utf8_lossy(&artifacts.get(id).await.ok()?).into_owned()),
    }
}
