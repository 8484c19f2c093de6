//! What a stream of server-sent events is made of.

use serde_json::Value;

/// Characters in a piece of a tool call's arguments.
const ARGUMENT_PIECE: usize = 24;

/// One event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    /// What goes over the wire.
    pub(super) bytes: String,
    /// It is one of the pieces between which the model pauses.
    pub(super) is_piece: bool,
}

impl Frame {
    /// An event with a name.
    pub(super) fn named(name: &str, data: &Value) -> Self {
        Self { bytes: format!("event: {name}\ndata: {data}\n\n"), is_piece: false }
    }

    /// An event without a name.
    pub(super) fn plain(data: &str) -> Self {
        Self { bytes: format!("data: {data}\n\n"), is_piece: false }
    }

    /// The model pauses after this event.
    pub(super) fn piece(self) -> Self {
        Self { is_piece: true, ..self }
    }
}

/// Ids that no other answer has.
pub(super) struct Ids {
    answer: String,
    count: usize,
}

impl Ids {
    /// Ids that begin with the id of the answer.
    pub(super) fn of(answer: impl Into<String>) -> Self {
        Self { answer: answer.into(), count: 0 }
    }

    /// The next id, of this kind.
    pub(super) fn next(&mut self, kind: &str) -> String {
        self.count += 1;
        format!("{kind}_{}{:02}", self.answer, self.count)
    }
}

/// The pieces in which the arguments of a tool call are streamed.
pub(super) fn argument_pieces(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(ARGUMENT_PIECE).map(|piece| piece.iter().collect()).collect()
}
