//! A prompt as the items that Codex takes.

use std::path::Path;

use roost_engine::Images;
use roost_engine::adapter::TaskInput;
use roost_model::content::{self, TranscriptContentBlock, TranscriptMessage};
use roost_model::transcript;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;

/// Bytes of a file that is put into the prompt; of a bigger one only the name is.
const FILE: u64 = 64 << 10;

/// The user's words; what was said before goes first, for a thread that does not remember it.
pub(super) async fn prompt(input: &TaskInput, cwd: &Path) -> Vec<Value> {
    let mut items = Vec::new();
    if !input.history.is_empty() {
        let history = transcript::flatten(&input.history);
        items.push(text(&format!("This conversation was interrupted. What was said and done before:\n\n{history}")));
    }
    for message in &input.messages {
        items.extend(words(message, &input.images, cwd).await);
    }
    items
}

/// A message as Codex takes it.
pub(super) async fn words(message: &TranscriptMessage, images: &Images, cwd: &Path) -> Vec<Value> {
    let mut items = Vec::new();
    for block in &message.content {
        match block {
            TranscriptContentBlock::Text { text: words } | TranscriptContentBlock::Code { code: words, .. } => {
                items.push(text(words));
            }
            TranscriptContentBlock::Image { artifact_id, .. } => {
                items.extend(images.get(artifact_id).map(|image| json!({ "type": "localImage", "path": image.path })));
            }
            TranscriptContentBlock::FileRef { path } => items.push(text(&file(cwd, path).await)),
            _ => {}
        }
    }
    items
}

/// What a file says. Codex does not look at what is mentioned, so it is shown what it could not resolve by itself.
async fn file(cwd: &Path, path: &str) -> String {
    let mention = content::mention(path);
    let read = async {
        let mut bytes = Vec::new();
        tokio::fs::File::open(cwd.join(path)).await?.take(FILE + 1).read_to_end(&mut bytes).await?;
        std::io::Result::Ok(bytes)
    };
    match read.await.ok().filter(|bytes| bytes.len() as u64 <= FILE).map(String::from_utf8) {
        Some(Ok(content)) => format!("{mention}:\n\n{content}"),
        _ => mention,
    }
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text, "text_elements": [] })
}
