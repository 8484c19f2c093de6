//! Transcript messages and the blocks they are made of (seed 001).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{ArtifactId, ToolCallId};

/// A reference to a stored artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactRef {
    /// Which artifact.
    pub artifact_id: ArtifactId,
    /// Its media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Its size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// `sha256:<hex>` of its bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<String>,
    /// A file name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Who speaks in a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TranscriptRole {
    /// Instructions.
    System,
    /// The person.
    User,
    /// The agent.
    Assistant,
    /// A tool's answer.
    Tool,
}

/// One block of a transcript message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TranscriptContentBlock {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// Source code.
    Code {
        /// The code.
        code: String,
        /// Its language.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        language: Option<String>,
    },
    /// Something too big or too binary to show inline.
    ArtifactRef {
        /// Which artifact.
        artifact_id: ArtifactId,
        /// A file name for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Its media type.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content_type: Option<String>,
    },
    /// An image that the user shows; its bytes are an artifact.
    Image {
        /// Which artifact.
        artifact_id: ArtifactId,
        /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
        media_type: String,
        /// A file name for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// A file that the user refers to.
    FileRef {
        /// Its path: below the working directory, or absolute.
        path: String,
    },
    /// The agent calls a tool.
    ToolUse {
        /// Which call.
        tool_call_id: ToolCallId,
        /// The tool.
        name: String,
        /// Its input.
        input: Value,
    },
    /// What a tool answered.
    ToolResult {
        /// Which call.
        tool_call_id: ToolCallId,
        /// The answer.
        result: Value,
        /// The call failed or was denied.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
    },
}

/// One message of a transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TranscriptMessage {
    /// Who speaks.
    pub role: TranscriptRole,
    /// What is said.
    pub content: Vec<TranscriptContentBlock>,
}

impl TranscriptMessage {
    /// A user's message of one text block.
    pub fn user(text: impl Into<String>) -> Self {
        let text = TranscriptContentBlock::Text { text: text.into() };
        Self { role: TranscriptRole::User, content: vec![text] }
    }

    /// All text blocks, one per line.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| match block {
            TranscriptContentBlock::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The artifacts of all images.
    pub fn images(&self) -> impl Iterator<Item = &ArtifactId> {
        self.content.iter().filter_map(|block| match block {
            TranscriptContentBlock::Image { artifact_id, .. } => Some(artifact_id),
            _ => None,
        })
    }
}

/// A reference to a file as people and agents write it.
pub fn mention(path: &str) -> String {
    if path.contains(char::is_whitespace) { format!("@\"{path}\"") } else { format!("@{path}") }
}

/// One block of an agent's finished answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AssistantContentBlock {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// Source code.
    Code {
        /// The code.
        code: String,
        /// Its language.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        language: Option<String>,
    },
    /// Something too big or too binary to show inline.
    ArtifactRef {
        /// Which artifact.
        artifact_id: ArtifactId,
        /// A file name for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Its media type.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content_type: Option<String>,
    },
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
