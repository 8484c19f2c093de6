//! Transcript messages and the blocks they are made of (seed 001).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{ArtifactId, ToolCallId};

/// A reference to bytes in the artifact store, for what is too big for an event. Read them with `artifact/read`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ArtifactRef {
    /// Derived from the content, so equal bytes have one id.
    pub artifact_id: ArtifactId,
    /// Media type, such as `text/plain`; absent if whoever stored it did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Size of the whole artifact in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// `sha256:<hex>` of the whole artifact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<String>,
    /// File name to show; it names no file on disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Who a transcript message comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TranscriptRole {
    /// Instructions that stand before the conversation.
    System,
    /// The person, or the client that prompts for them.
    User,
    /// The agent: its text and the tool calls that it makes.
    Assistant,
    /// The result of a tool call.
    Tool,
}

/// Declares a kind of content block: the three blocks that every answer may have, then the kind's own. Serde has no way
/// to include the variants of one tagged enum in another.
macro_rules! content_block {
    ($(#[$doc:meta])* $name:ident { $($own:tt)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(tag = "type", rename_all = "snake_case")]
        pub enum $name {
            /// Text as the person or the agent wrote it.
            Text {
                /// Never shown when empty.
                text: String,
            },
            /// Source code that the runtime marks as such instead of fencing it in text.
            Code {
                /// Without the fence.
                code: String,
                /// Language tag such as `rust`; absent if the runtime gave none.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                language: Option<String>,
            },
            /// Something too big or too binary to show inline.
            ArtifactRef {
                /// Id for `artifact/read`.
                artifact_id: ArtifactId,
                /// File name to show; for a prompt that was too big, its first line.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                name: Option<String>,
                /// Media type, such as `text/plain`; absent if unknown.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                content_type: Option<String>,
            },
            $($own)*
        }
    };
}

content_block! {
    /// One block of a transcript message: those that an agent's answer has, and those of prompts and tool calls.
    TranscriptContentBlock {
        /// An image in a prompt; its bytes are an artifact.
        Image {
            /// Id for `artifact/read`.
            artifact_id: ArtifactId,
            /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
            media_type: String,
            /// File name to show; made from the media type if the client gave none.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            name: Option<String>,
        },
        /// A file that the prompt refers to; the agent reads it itself.
        FileRef {
            /// Relative to the session's working directory, or absolute if it lies outside.
            path: String,
        },
        /// The agent calls a tool; the result follows in a `tool_result` block with the same `tool_call_id`.
        ToolUse {
            /// Roost's id for the call, the same over all attempts.
            tool_call_id: ToolCallId,
            /// The tool as the runtime names it.
            name: String,
            /// The tool's arguments; shortened if they were too big for an event.
            input: Value,
        },
        /// The result of a tool call.
        ToolResult {
            /// The `tool_use` block that this answers.
            tool_call_id: ToolCallId,
            /// The tool's output. A big one is `{"artifact_ref": …, "preview": …}`; a denied call has the reason as text.
            result: Value,
            /// True if the tool failed or the call was denied; absent if the runtime did not say.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            is_error: Option<bool>,
        },
    }
}

content_block! {
    /// One block of an agent's finished answer. Every one of them is also a [`TranscriptContentBlock`].
    AssistantContentBlock {}
}

/// One message of a transcript: a role and its content in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TranscriptMessage {
    /// Who the message comes from.
    pub role: TranscriptRole,
    /// The blocks in the order in which they were said.
    pub content: Vec<TranscriptContentBlock>,
}

impl TranscriptMessage {
    /// A user's message of one text block.
    pub fn user(text: impl Into<String>) -> Self {
        let text = TranscriptContentBlock::Text { text: text.into() };
        Self { role: TranscriptRole::User, content: vec![text] }
    }

    /// The text of all text blocks, joined by line breaks; other blocks are left out.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| match block {
            TranscriptContentBlock::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The artifact ids of its images, in order.
    pub fn images(&self) -> impl Iterator<Item = &ArtifactId> {
        self.content.iter().filter_map(|block| match block {
            TranscriptContentBlock::Image { artifact_id, .. } => Some(artifact_id),
            _ => None,
        })
    }
}

/// Writes a path as `@path`, the way people and agents mention files; quoted if it contains whitespace.
pub fn mention(path: &str) -> String {
    if path.contains(char::is_whitespace) { format!("@\"{path}\"") } else { format!("@{path}") }
}

impl From<AssistantContentBlock> for TranscriptContentBlock {
    fn from(block: AssistantContentBlock) -> Self {
        match block {
            AssistantContentBlock::Text { text } => Self::Text { text },
            AssistantContentBlock::Code { code, language } => Self::Code { code, language },
            AssistantContentBlock::ArtifactRef { artifact_id, name, content_type } => {
                Self::ArtifactRef { artifact_id, name, content_type }
            }
        }
    }
}
