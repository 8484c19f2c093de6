//! A prompt as the blocks of the protocol.

use std::path::Path;

use agent_client_protocol::v1::schema as acp;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use roost_engine::adapter::TaskInput;
use roost_proto::content::TranscriptContentBlock;
use roost_proto::transcript;

/// The prompt's blocks; what was said before goes first, for an agent that does not remember it.
pub(super) fn prompt(input: &TaskInput, cwd: &Path) -> Vec<acp::ContentBlock> {
    let mut blocks: Vec<acp::ContentBlock> = Vec::new();
    if !input.history.is_empty() {
        let history = transcript::flatten(&input.history);
        blocks.push(format!("This conversation was interrupted. What was said and done before:\n\n{history}").into());
    }
    for block in input.messages.iter().flat_map(|message| &message.content) {
        match block {
            TranscriptContentBlock::Text { text } => blocks.push(text.clone().into()),
            TranscriptContentBlock::Code { code, .. } => blocks.push(code.clone().into()),
            TranscriptContentBlock::Image { artifact_id, media_type, .. } => {
                blocks.extend(input.images.get(artifact_id).map(|image| {
                    acp::ContentBlock::Image(acp::ImageContent::new(STANDARD.encode(&image.bytes), media_type))
                }));
            }
            // Every agent must take these, and those that read files know what to do with them.
            TranscriptContentBlock::FileRef { path } => {
                blocks.push(acp::ContentBlock::ResourceLink(acp::ResourceLink::new(path, uri(&cwd.join(path)))));
            }
            _ => {}
        }
    }
    blocks
}

/// The address of a file.
fn uri(path: &Path) -> String {
    let encode = |byte: &u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => char::from(*byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    let encoded: String = path.as_os_str().as_encoded_bytes().iter().map(encode).collect();
    format!("file://{encoded}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_file_has_no_character_that_means_something_else() {
        assert_eq!(uri(Path::new("/a b/ü?#.rs")), "file:///a%20b/%C3%BC%3F%23.rs");
    }
}
