//! Parses a prompt into the keyword that it begins with and what a host put in front of it.

use agent_client_protocol::v1::schema::ContentBlock;

use super::keyword::Keyword;

/// A prompt as the demo agent understands it.
#[derive(Debug)]
pub(super) struct Prompt {
    pub(super) keyword: Keyword,
    /// Blocks in front of the user's text: a host that rebuilds a session puts its transcript there.
    pub(super) restored: u64,
    /// Length of all texts in characters.
    pub(super) chars: u64,
}

impl Prompt {
    /// The last text block is what the user wrote now.
    pub(super) fn read(blocks: &[ContentBlock]) -> Self {
        let texts = || {
            blocks.iter().filter_map(|block| match block {
                ContentBlock::Text(text) => Some(text.text.as_str()),
                _ => None,
            })
        };
        let last = blocks.iter().rposition(|block| matches!(block, ContentBlock::Text(_)));
        let restored = blocks
            .iter()
            .take(last.unwrap_or(0))
            .filter(|block| matches!(block, ContentBlock::Text(_) | ContentBlock::Resource(_)));
        Self {
            keyword: Keyword::parse(texts().next_back().unwrap_or("")),
            restored: restored.count() as u64,
            chars: texts().map(|text| text.chars().count() as u64).sum(),
        }
    }
}
