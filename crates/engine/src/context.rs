//! Fits a long conversation into the limit of characters for a runtime that does not remember it. Pure.

use roost_model::content::{TranscriptContentBlock, TranscriptMessage};
use roost_model::payload::{ContextStrategy, ContextWindow};

/// The new prompt alone is longer than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the prompt has {size} characters, and {max} fit; shorten it, or put its content into a file and name the file"
)]
pub(crate) struct PromptTooLarge {
    size: u64,
    max: u64,
}

/// A history that fits, and how it was made to.
#[derive(Debug, PartialEq)]
pub(crate) struct CompiledContext {
    pub(crate) history: Vec<TranscriptMessage>,
    pub(crate) window: ContextWindow,
}

/// Leaves out the oldest messages until the rest and the new prompt fit into `max_chars`; `None` means no limit.
pub(crate) fn compile(
    history: Vec<TranscriptMessage>,
    now: &TranscriptMessage,
    max_chars: Option<u64>,
) -> Result<CompiledContext, PromptTooLarge> {
    let mut window =
        ContextWindow { strategy: ContextStrategy::None, max_chars, omitted_indices: None, overflow: None };
    let Some(max) = max_chars else { return Ok(CompiledContext { history, window }) };
    let Some(mut room) = max.checked_sub(size(now)) else { return Err(PromptTooLarge { size: size(now), max }) };
    let kept = history.iter().rev().take_while(|message| match room.checked_sub(size(message)) {
        Some(rest) => {
            room = rest;
            true
        }
        None => false,
    });
    let omitted = history.len() - kept.count();
    if omitted > 0 {
        window.strategy = ContextStrategy::TruncateOldest;
        window.omitted_indices = Some((0..omitted as u64).collect());
    }
    Ok(CompiledContext { history: history.into_iter().skip(omitted).collect(), window })
}

/// Characters of a message. Artifacts and images count as 0, because only their reference is sent.
fn size(message: &TranscriptMessage) -> u64 {
    let blocks = message.content.iter().map(|block| match block {
        TranscriptContentBlock::Text { text } | TranscriptContentBlock::Code { code: text, .. } => text.chars().count(),
        TranscriptContentBlock::ArtifactRef { .. } | TranscriptContentBlock::Image { .. } => 0,
        TranscriptContentBlock::FileRef { path } => path.chars().count(),
        TranscriptContentBlock::ToolUse { input: value, .. }
        | TranscriptContentBlock::ToolResult { result: value, .. } => value.to_string().chars().count(),
    });
    blocks.sum::<usize>() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user_messages(texts: &[&str]) -> Vec<TranscriptMessage> {
        texts.iter().map(|text| TranscriptMessage::user(*text)).collect()
    }

    #[test]
    fn the_oldest_messages_are_left_out_until_the_rest_fits() {
        let history = ["aaaa", "bbb", "cc"];
        // The limit, what is kept of the history, and which messages were left out; the prompt has one character.
        let cases = [
            (None, &history[..], None),
            (Some(10), &history, None),
            (Some(9), &["bbb", "cc"], Some(vec![0])),
            (Some(6), &["bbb", "cc"], Some(vec![0])),
            (Some(5), &["cc"], Some(vec![0, 1])),
            (Some(1), &[], Some(vec![0, 1, 2])),
        ];
        for (max, kept, omitted) in cases {
            let compiled = compile(user_messages(&history), &TranscriptMessage::user("x"), max).unwrap();
            assert_eq!(compiled.history, user_messages(kept), "{max:?}");
            assert_eq!(compiled.window.omitted_indices, omitted, "{max:?}");
        }
    }

    #[test]
    fn a_prompt_that_does_not_fit_is_refused_with_what_to_do() {
        let error = compile(Vec::new(), &TranscriptMessage::user("xyz"), Some(2)).unwrap_err();
        assert_eq!(error, PromptTooLarge { size: 3, max: 2 });
        assert!(error.to_string().contains("file"), "{error}");
    }
}
