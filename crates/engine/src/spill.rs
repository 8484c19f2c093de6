//! Keeps events small: what is too big for an event goes to the artifact store, and the event keeps a reference and a
//! preview.

use roost_model::content::{ArtifactRef, AssistantContentBlock, TranscriptContentBlock, TranscriptMessage};
use roost_model::event::EventBody;
use roost_model::session::title;
use serde_json::{Value, json};

use crate::artifacts::{ArtifactError, Artifacts};

/// Bytes above which a text or value is moved out of its event.
pub(crate) const INLINE: usize = 8 * 1024;
/// Characters of a preview.
const PREVIEW: usize = 512;
/// Items of a list that a preview shows.
const PREVIEW_ITEMS: usize = 16;

/// Whether an event of this type can be big. A quick check, because nearly all events are deltas, which never are.
pub(crate) fn may_be_big(body: &EventBody) -> bool {
    matches!(
        body,
        EventBody::ToolCallCompleted(_)
            | EventBody::ToolCallRequested(_)
            | EventBody::ApprovalRequested(_)
            | EventBody::ModelOutputCompleted(_)
            | EventBody::TaskStarted(_)
            | EventBody::TaskSteered(_)
    )
}

/// Moves everything big out of the event. What cannot be stored, as on a full disk, stays in the event.
pub(crate) async fn spill(artifacts: &Artifacts, mut body: EventBody) -> EventBody {
    let stored = match &mut body {
        EventBody::ToolCallCompleted(call) => result(artifacts, &mut call.result_preview, &mut call.result_ref).await,
        EventBody::ToolCallRequested(call) => input(artifacts, &mut call.input, &mut call.input_ref).await,
        EventBody::ApprovalRequested(asked) => input(artifacts, &mut asked.input, &mut asked.input_ref).await,
        EventBody::ModelOutputCompleted(output) => {
            let mut stored = Ok(());
            for block in &mut output.content {
                stored = stored.and(text(artifacts, block).await);
            }
            stored
        }
        EventBody::TaskStarted(started) => prompts(artifacts, &mut started.messages).await,
        EventBody::TaskSteered(steered) => prompts(artifacts, std::slice::from_mut(&mut steered.message)).await,
        _ => Ok(()),
    };
    if let Err(error) = stored {
        tracing::warn!(%error, "Something big stays in its event, because it could not be stored apart.");
    }
    body
}

async fn prompts(artifacts: &Artifacts, messages: &mut [TranscriptMessage]) -> Result<(), ArtifactError> {
    let mut stored = Ok(());
    for block in messages.iter_mut().flat_map(|message| &mut message.content) {
        stored = stored.and(prompt(artifacts, block).await);
    }
    stored
}

/// A runtime's native message, or a reference and a preview if it is big.
pub(crate) async fn raw(artifacts: &Artifacts, raw: Value) -> Value {
    let text = raw.to_string();
    if text.len() <= INLINE {
        return raw;
    }
    let preview = beginning(&text);
    match artifacts.put(text.into_bytes(), "application/json", "raw.json").await {
        Ok(stored) => json!({ "artifact_ref": stored, "preview": preview }),
        Err(error) => {
            tracing::warn!(%error, "A big native message stays in its event, because it could not be stored apart.");
            raw
        }
    }
}

async fn result(
    artifacts: &Artifacts,
    preview: &mut Option<Value>,
    reference: &mut Option<ArtifactRef>,
) -> Result<(), ArtifactError> {
    let Some(value) = preview.as_ref().filter(|value| size(value) > INLINE) else { return Ok(()) };
    let (bytes, content_type, name) = match value {
        Value::String(text) => (text.clone(), "text/plain", "tool_result.txt"),
        other => (other.to_string(), "application/json", "tool_result.json"),
    };
    let start = beginning(&bytes);
    *reference = Some(artifacts.put(bytes.into_bytes(), content_type, name).await?);
    *preview = Some(Value::String(start));
    Ok(())
}

async fn input(
    artifacts: &Artifacts,
    input: &mut Value,
    reference: &mut Option<ArtifactRef>,
) -> Result<(), ArtifactError> {
    if size(input) <= INLINE {
        return Ok(());
    }
    *reference = Some(artifacts.put(input.to_string().into_bytes(), "application/json", "tool_input.json").await?);
    *input = cut(input);
    Ok(())
}

async fn text(artifacts: &Artifacts, block: &mut AssistantContentBlock) -> Result<(), ArtifactError> {
    let (AssistantContentBlock::Text { text } | AssistantContentBlock::Code { code: text, .. }) = block else {
        return Ok(());
    };
    if text.len() <= INLINE {
        return Ok(());
    }
    let stored = artifacts.put(text.clone().into_bytes(), "text/plain", "output.txt").await?;
    let ArtifactRef { artifact_id, name, content_type, .. } = stored;
    *block = AssistantContentBlock::ArtifactRef { artifact_id, name, content_type };
    Ok(())
}

async fn prompt(artifacts: &Artifacts, block: &mut TranscriptContentBlock) -> Result<(), ArtifactError> {
    let TranscriptContentBlock::Text { text } = block else { return Ok(()) };
    if text.len() <= INLINE {
        return Ok(());
    }
    // The first line names the prompt in lists.
    let title = title(text).unwrap_or_else(|| "prompt.txt".into());
    let ArtifactRef { artifact_id, content_type, .. } =
        artifacts.put(text.clone().into_bytes(), "text/plain", "prompt.txt").await?;
    *block = TranscriptContentBlock::ArtifactRef { artifact_id, name: Some(title), content_type };
    Ok(())
}

/// A preview of an input that people can still read: long texts and lists are cut.
fn cut(value: &Value) -> Value {
    let cut = match value {
        Value::String(text) if text.len() > PREVIEW => Value::String(format!("{}…", beginning(text))),
        Value::Array(items) => items.iter().take(PREVIEW_ITEMS).map(cut).collect(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), self::cut(value))).collect(),
        other => other.clone(),
    };
    if size(&cut) > INLINE { Value::String(beginning(&cut.to_string())) } else { cut }
}

/// Cuts a text into pieces of at most [`INLINE`] bytes, between characters.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(INLINE));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

fn beginning(text: &str) -> String {
    text.chars().take(PREVIEW).collect()
}

fn size(value: &Value) -> usize {
    /// Counts the bytes that are written and drops them.
    struct Counter(usize);
    impl std::io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // Neither a JSON value nor the counter can fail.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

#[cfg(test)]
mod tests {
    use roost_model::content::TranscriptMessage;
    use roost_model::mode::{Mode, PermissionMode};
    use roost_model::payload::{ModelOutputCompletedPayload, TaskStartedPayload};
    use roost_model::runtime::InteractionMode;

    use super::*;

    fn store() -> (tempfile::TempDir, Artifacts) {
        let folder = tempfile::tempdir().unwrap();
        let artifacts = Artifacts::new(folder.path());
        (folder, artifacts)
    }

    #[tokio::test]
    async fn a_big_result_becomes_a_reference_and_its_beginning() {
        let (_folder, artifacts) = store();
        let text = "ü".repeat(INLINE);
        let (mut preview, mut reference) = (Some(Value::String(text.clone())), None);
        result(&artifacts, &mut preview, &mut reference).await.unwrap();
        assert_eq!(preview, Some(Value::String("ü".repeat(PREVIEW))), "cut at a character, not in one");
        let stored = reference.unwrap();
        assert_eq!(stored.content_type.as_deref(), Some("text/plain"));
        assert_eq!(artifacts.get(&stored.artifact_id).await.unwrap(), text.as_bytes());
    }

    #[tokio::test]
    async fn what_just_fits_stays() {
        let (_folder, artifacts) = store();
        let (mut preview, mut reference) = (Some(Value::String("x".repeat(INLINE - 2))), None);
        result(&artifacts, &mut preview, &mut reference).await.unwrap();
        assert_eq!((size(&preview.unwrap()), reference), (INLINE, None));
    }

    #[tokio::test]
    async fn a_big_input_stays_readable() {
        let (_folder, artifacts) = store();
        let whole = json!({ "path": "a.txt", "content": "x".repeat(INLINE), "lines": vec![1; 100] });
        let (mut shown, mut reference) = (whole.clone(), None);
        input(&artifacts, &mut shown, &mut reference).await.unwrap();
        assert_eq!(shown["path"], "a.txt");
        assert!(size(&shown) <= INLINE);
        let bytes = artifacts.get(&reference.unwrap().artifact_id).await.unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap(), whole);
    }

    #[test]
    fn a_long_text_is_cut_between_characters_and_loses_nothing() {
        for text in [String::new(), "x".repeat(INLINE), "x".repeat(INLINE + 1), format!("x{}", "ü".repeat(INLINE))] {
            let cut: Vec<_> = pieces(&text).collect();
            assert_eq!(cut.concat(), text);
            assert!(cut.iter().all(|piece| piece.len() <= INLINE));
            assert!(cut.len() <= text.len().div_ceil(INLINE - 1));
        }
    }

    #[tokio::test]
    async fn a_big_prompt_is_stored_apart_and_known_by_its_first_line() {
        let (_dir, artifacts) = store();
        let text = format!("Fix this\n{}", "x".repeat(INLINE));
        let started = TaskStartedPayload {
            messages: vec![TranscriptMessage::user(text.clone())],
            permission_mode: PermissionMode::Ask,
            mode: Mode::Ask,
            interaction_mode: InteractionMode::Interactive,
            prompt_id: None,
        };
        let EventBody::TaskStarted(spilled) = spill(&artifacts, started.into()).await else { panic!() };
        let TranscriptContentBlock::ArtifactRef { artifact_id, name, .. } = &spilled.messages[0].content[0] else {
            panic!("it is still in its event")
        };
        assert_eq!(name.as_deref(), Some("Fix this"));
        assert_eq!(artifacts.get(artifact_id).await.unwrap(), text.as_bytes());
    }

    #[tokio::test]
    async fn a_big_answer_is_stored_apart() {
        let (_folder, artifacts) = store();
        let content = vec![AssistantContentBlock::Text { text: "x".repeat(INLINE + 1) }];
        let body = spill(&artifacts, ModelOutputCompletedPayload { content }.into()).await;
        let EventBody::ModelOutputCompleted(output) = body else { panic!("another event") };
        assert!(matches!(output.content[0], AssistantContentBlock::ArtifactRef { .. }));
    }
}
