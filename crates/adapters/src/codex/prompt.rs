//! Builds the `input` items of a turn.

use std::path::Path;

use roost_engine::Images;
use roost_engine::adapter::TaskInput;
use roost_model::content::{self, TranscriptContentBlock, TranscriptMessage};
use roost_model::transcript;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;

/// The largest file, in bytes, whose content goes into the prompt; of a larger one only the path does.
const MAX_INLINE_BYTES: u64 = 64 << 10;

/// The messages of a task. A transcript of earlier messages (`history`) goes first, for a thread that does not
/// remember them.
pub(super) async fn prompt(input: &TaskInput, cwd: &Path) -> Vec<Value> {
    let mut items = Vec::new();
    if !input.history.is_empty() {
        let history = transcript::flatten(&input.history);
        items.push(text_item(&format!(
            "This conversation was interrupted. What was said and done before:\n\n{history}"
        )));
    }
    for message in &input.messages {
        items.extend(message_items(message, &input.images, cwd).await);
    }
    items
}

/// One message; images that are not in `images` are left out.
pub(super) async fn message_items(message: &TranscriptMessage, images: &Images, cwd: &Path) -> Vec<Value> {
    let mut items = Vec::new();
    for block in &message.content {
        match block {
            TranscriptContentBlock::Text { text } | TranscriptContentBlock::Code { code: text, .. } => {
                items.push(text_item(text));
            }
            TranscriptContentBlock::Image { artifact_id, .. } => {
                items.extend(images.get(artifact_id).map(|image| json!({ "type": "localImage", "path": image.path })));
            }
            TranscriptContentBlock::FileRef { path } => items.push(text_item(&file_text(cwd, path).await)),
            _ => {}
        }
    }
    items
}

/// A mentioned file: its path and content, because Codex does not open files that are only mentioned. Only the path if
/// the file is too large, missing or not UTF-8.
async fn file_text(cwd: &Path, path: &str) -> String {
    let mention = content::mention(path);
    let read = async {
        let mut bytes = Vec::new();
        tokio::fs::File::open(cwd.join(path)).await?.take(MAX_INLINE_BYTES + 1).read_to_end(&mut bytes).await?;
        std::io::Result::Ok(bytes)
    };
    match read.await.ok().filter(|bytes| bytes.len() as u64 <= MAX_INLINE_BYTES).map(String::from_utf8) {
        Some(Ok(content)) => format!("{mention}:\n\n{content}"),
        _ => mention,
    }
}

fn text_item(text: &str) -> Value {
    json!({ "type": "text", "text": text, "text_elements": [] })
}
