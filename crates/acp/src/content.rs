//! The blocks of a prompt, as the daemon takes them: one text, and images beside it.

use agent_client_protocol_schema::v1 as acp;
use percent_encoding::percent_decode_str;
use roost_model::content::mention;
use roost_rpc::PromptImage;

use crate::error;

/// A prompt for the daemon.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct PromptContent {
    pub(crate) text: String,
    pub(crate) images: Vec<PromptImage>,
}

/// Converts the blocks in their order. A link stays where it stands in the sentence, as `@path`.
pub(crate) fn prompt(blocks: Vec<acp::ContentBlock>) -> Result<PromptContent, acp::Error> {
    let mut prompt = PromptContent::default();
    for block in blocks {
        match block {
            acp::ContentBlock::Text(text) => prompt.text.push_str(&text.text),
            acp::ContentBlock::ResourceLink(link) => prompt.push_word(&link_text(&link)),
            acp::ContentBlock::Image(image) => prompt.push_image(image.data, image.mime_type),
            acp::ContentBlock::Resource(embedded) => match embedded.resource {
                acp::EmbeddedResourceResource::TextResourceContents(resource) => {
                    prompt.push_word(&uri_text(&resource.uri));
                    let (uri, text) = (resource.uri.replace('"', "%22"), resource.text);
                    prompt.text.push_str(&format!("\n<context ref=\"{uri}\">\n{text}\n</context>\n"));
                }
                acp::EmbeddedResourceResource::BlobResourceContents(resource) => match resource.mime_type {
                    Some(kind) if kind.starts_with("image/") => prompt.push_image(resource.blob, kind),
                    _ => return Err(unsupported("binary resources that are not images")),
                },
                _ => return Err(unsupported("resources of this kind")),
            },
            acp::ContentBlock::Audio(_) => return Err(unsupported("audio")),
            _ => return Err(unsupported("content of this kind")),
        }
    }
    if prompt.text.trim().is_empty() && prompt.images.is_empty() {
        return Err(error::invalid_params("the prompt is empty"));
    }
    Ok(prompt)
}

impl PromptContent {
    /// Appends a word that must not run into the one before.
    fn push_word(&mut self, word: &str) {
        if !self.text.is_empty() && !self.text.ends_with(char::is_whitespace) {
            self.text.push(' ');
        }
        self.text.push_str(word);
    }

    fn push_image(&mut self, data: String, media_type: String) {
        self.images.push(PromptImage { data: Some(data), media_type: Some(media_type), ..PromptImage::default() });
    }
}

fn link_text(link: &acp::ResourceLink) -> String {
    match file_path(&link.uri) {
        Some(path) => mention(&path),
        None => format!("[{}]({})", link.name, link.uri),
    }
}

fn uri_text(uri: &str) -> String {
    file_path(uri).map_or_else(|| uri.to_owned(), |path| mention(&path))
}

/// The path of a `file://` address on this machine.
fn file_path(uri: &str) -> Option<String> {
    let path = uri.strip_prefix("file://").filter(|path| path.starts_with('/'))?;
    percent_decode_str(path).decode_utf8().ok().map(Into::into)
}

fn unsupported(what: &str) -> acp::Error {
    error::invalid_params(format!("a prompt cannot contain {what}"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn convert(blocks: Value) -> Result<PromptContent, i32> {
        prompt(serde_json::from_value(blocks).unwrap()).map_err(|error| error.code.into())
    }

    #[test]
    fn blocks_become_one_text_in_their_order() {
        for (blocks, text) in [
            (json!([{ "type": "text", "text": "hi" }]), "hi"),
            (
                json!([
                    { "type": "text", "text": "look at" },
                    { "type": "resource_link", "name": "a b", "uri": "file:///w/a%20b.rs" },
                    { "type": "text", "text": " and fix it" },
                ]),
                "look at @\"/w/a b.rs\" and fix it",
            ),
            (
                json!([{ "type": "resource_link", "name": "issue", "uri": "https://example.org/1" }]),
                "[issue](https://example.org/1)",
            ),
            (
                json!([{ "type": "resource", "resource": { "uri": "file:///w/a.rs", "text": "fn a() {}" } }]),
                "@/w/a.rs\n<context ref=\"file:///w/a.rs\">\nfn a() {}\n</context>\n",
            ),
        ] {
            assert_eq!(convert(blocks).unwrap().text, text);
        }
    }

    #[test]
    fn images_go_beside_the_text_and_what_no_runtime_takes_is_refused() {
        let image = convert(json!([{ "type": "image", "data": "AA==", "mimeType": "image/png" }])).unwrap();
        assert_eq!(image.images[0].media_type.as_deref(), Some("image/png"));
        for refused in [
            json!([]),
            json!([{ "type": "text", "text": " \n" }]),
            json!([{ "type": "audio", "data": "AA==", "mimeType": "audio/wav" }]),
            json!([{ "type": "resource", "resource": { "uri": "file:///a", "blob": "AA==" } }]),
        ] {
            assert_eq!(convert(refused.clone()), Err(-32602), "{refused}");
        }
    }
}
