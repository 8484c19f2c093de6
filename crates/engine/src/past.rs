//! Conversations that a runtime keeps by itself, begun in a terminal or here.

use roost_proto::content::TranscriptMessage;
use roost_proto::ids::RuntimeSessionId;
use roost_proto::time::Timestamp;

/// A conversation that a runtime keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastSession {
    /// The runtime's id for it.
    pub id: RuntimeSessionId,
    /// A name for people: the one it was given, or how it began.
    pub title: Option<String>,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// Something that was said in such a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct PastMessage {
    /// When, where the runtime wrote it down.
    pub at: Option<Timestamp>,
    /// By whom, and what.
    pub message: TranscriptMessage,
}
