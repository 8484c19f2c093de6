//! Converts a prompt into the content blocks that the CLI takes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use roost_engine::Images;
use roost_engine::adapter::TaskInput;
use roost_model::content::{self, TranscriptContentBlock, TranscriptMessage};
use roost_model::transcript;
use serde_json::{Value, json};

/// The prompt's blocks. The history comes first, as text: it is there only if the process does not remember it.
pub(super) fn prompt(input: &TaskInput) -> Vec<Value> {
    let mut all = Vec::new();
    if !input.history.is_empty() {
        let history = transcript::flatten(&input.history);
        all.push(text(&format!("This conversation was interrupted. What was said and done before:\n\n{history}")));
    }
    all.extend(input.messages.iter().flat_map(|message| blocks(message, &input.images)));
    all
}

/// The blocks of one message. Files come last, as `@` mentions in a text block, because the CLI reads mentioned files.
pub(super) fn blocks(message: &TranscriptMessage, images: &Images) -> Vec<Value> {
    let (mut blocks, mut mentions) = (Vec::new(), Vec::new());
    for block in &message.content {
        match block {
            TranscriptContentBlock::Text { text: words } | TranscriptContentBlock::Code { code: words, .. } => {
                blocks.push(text(words));
            }
            TranscriptContentBlock::Image { artifact_id, media_type, .. } => {
                blocks.extend(images.get(artifact_id).map(|image| {
                    let data = STANDARD.encode(&image.bytes);
                    let source = json!({ "type": "base64", "media_type": media_type, "data": data });
                    json!({ "type": "image", "source": source })
                }));
            }
            TranscriptContentBlock::FileRef { path } => mentions.push(content::mention(path)),
            _ => {}
        }
    }
    if !mentions.is_empty() {
        blocks.push(text(&mentions.join(" ")));
    }
    blocks
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}
