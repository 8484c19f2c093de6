//! Answers that were too big for their event, put back into it for clients that show them.

use std::borrow::Cow;

use roost_engine::Artifacts;
use roost_proto::content::AssistantContentBlock;
use roost_proto::event::{EventBody, NormalizedEvent};

/// The kind of an artifact that is a text.
const TEXT: &str = "text/plain";

/// The event with its texts in it. One whose artifact is gone keeps the reference.
pub(crate) async fn whole<'a>(artifacts: &Artifacts, event: &'a NormalizedEvent) -> Cow<'a, NormalizedEvent> {
    let EventBody::ModelOutputCompleted(output) = &event.body else { return Cow::Borrowed(event) };
    let is_apart = |block: &AssistantContentBlock| matches!(block, AssistantContentBlock::ArtifactRef { content_type: Some(kind), .. } if kind == TEXT);
    if !output.content.iter().any(is_apart) {
        return Cow::Borrowed(event);
    }
    let mut output = output.clone();
    for block in output.content.iter_mut().filter(|block| is_apart(block)) {
        let AssistantContentBlock::ArtifactRef { artifact_id, .. } = &*block else { continue };
        if let Ok(bytes) = artifacts.get(artifact_id).await {
            *block = AssistantContentBlock::Text { text: String::from_utf8_lossy(&bytes).into_owned() };
        }
    }
    Cow::Owned(NormalizedEvent { body: output.into(), ..event.clone() })
}
