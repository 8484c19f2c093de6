//! Builds the parts of a prompt.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use roost_engine::adapter::TaskInput;
use roost_model::content::{self, TranscriptContentBlock};
use roost_model::transcript;
use serde_json::{Value, json};

/// The characters that are percent-encoded in the path of a file URL.
const IN_PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_');

/// The messages of a task. A transcript of earlier messages (`history`) goes first, for a session that does not
/// remember them.
pub(super) async fn parts(input: &TaskInput, cwd: &Path) -> Vec<Value> {
    let mut parts = Vec::new();
    if !input.history.is_empty() {
        let history = transcript::flatten(&input.history);
        parts.push(text_part(&format!(
            "This conversation was interrupted. What was said and done before:\n\n{history}"
        )));
    }
    for block in input.messages.iter().flat_map(|message| &message.content) {
        match block {
            TranscriptContentBlock::Text { text } | TranscriptContentBlock::Code { code: text, .. } => {
                parts.push(text_part(text));
            }
            TranscriptContentBlock::Image { artifact_id, media_type, name } => {
                parts.extend(input.images.get(artifact_id).map(|image| {
                    let url = format!("data:{media_type};base64,{}", STANDARD.encode(&image.bytes));
                    let filename = name.as_deref().unwrap_or("image");
                    json!({ "type": "file", "mime": media_type, "filename": filename, "url": url })
                }));
            }
            TranscriptContentBlock::FileRef { path } => parts.push(file_part(cwd, path).await),
            _ => {}
        }
    }
    parts
}

/// A mentioned file, which OpenCode itself reads to the model. A missing file would fail the turn, so it is only
/// mentioned as text.
async fn file_part(cwd: &Path, path: &str) -> Value {
    let full_path = cwd.join(path);
    if !tokio::fs::metadata(&full_path).await.is_ok_and(|file| file.is_file()) {
        return text_part(&content::mention(path));
    }
    let url = format!("file://{}", utf8_percent_encode(&full_path.to_string_lossy(), IN_PATH));
    json!({ "type": "file", "mime": "text/plain", "filename": path, "url": url })
}

fn text_part(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}
