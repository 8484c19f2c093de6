//! Converts a prompt into the content blocks of the protocol.

use std::path::Path;

use agent_client_protocol_schema::v1 as acp;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use roost_engine::adapter::TaskInput;
use roost_model::content::TranscriptContentBlock;
use roost_model::transcript;

use super::presets::AgentProfile;

/// The prompt's blocks. The history comes first, as text: it is there only if the agent does not remember it.
pub(super) fn prompt(input: &TaskInput, cwd: &Path, profile: AgentProfile) -> Vec<acp::ContentBlock> {
    let mut blocks: Vec<acp::ContentBlock> = Vec::new();
    if !input.history.is_empty() {
        let history = transcript::flatten(&input.history);
        blocks.push(format!("This conversation was interrupted. What was said and done before:\n\n{history}").into());
    }
    let content = || input.messages.iter().flat_map(|message| &message.content);
    let links = content().any(|block| matches!(block, TranscriptContentBlock::FileRef { .. }));
    for block in content() {
        match block {
            TranscriptContentBlock::Text { text } => blocks.push(text.clone().into()),
            TranscriptContentBlock::Code { code, .. } => blocks.push(code.clone().into()),
            TranscriptContentBlock::Image { artifact_id, media_type, .. } => {
                blocks.extend(input.images.get(artifact_id).map(|image| {
                    let bytes = STANDARD.encode(&image.bytes);
                    if links && profile.reads_links_as_paths {
                        let image =
                            acp::BlobResourceContents::new(bytes, artifact_id.as_str()).mime_type(media_type.clone());
                        let image = acp::EmbeddedResourceResource::BlobResourceContents(image);
                        return acp::ContentBlock::Resource(acp::EmbeddedResource::new(image));
                    }
                    acp::ContentBlock::Image(acp::ImageContent::new(bytes, media_type))
                }));
            }
            // The protocol obliges every agent to take links.
            TranscriptContentBlock::FileRef { path } => {
                let file = cwd.join(path);
                let address =
                    if profile.reads_links_as_paths { format!("file://{}", file.display()) } else { uri(&file) };
                blocks.push(acp::ContentBlock::ResourceLink(acp::ResourceLink::new(path, address)));
            }
            _ => {}
        }
    }
    blocks
}

/// The characters of a path that a URI keeps as they are; all others are percent-encoded.
const IN_PATH: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// The `file://` URI of a path.
fn uri(path: &Path) -> String {
    format!("file://{}", percent_encode(path.as_os_str().as_encoded_bytes(), &IN_PATH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_file_has_no_character_that_means_something_else() {
        assert_eq!(uri(Path::new("/a b/ü?#.rs")), "file:///a%20b/%C3%BC%3F%23.rs");
    }
}
