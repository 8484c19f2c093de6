//! The server-sent events of a streamed answer, and the ids in it.

use serde_json::Value;

/// Characters in a piece of a tool call's arguments.
const ARGUMENT_PIECE: usize = 24;

/// One server-sent event, ready to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SseFrame {
    /// The bytes on the wire, with the empty line that ends the event.
    pub(super) bytes: String,
    /// True for a piece of the answer, after which the server pauses (see [`Pace`](super::script::Pace)).
    pub(super) is_piece: bool,
}

impl SseFrame {
    /// An event with an `event:` line, as Anthropic and OpenAI's Responses send them.
    pub(super) fn named(name: &str, data: &Value) -> Self {
        Self { bytes: format!("event: {name}\ndata: {data}\n\n"), is_piece: false }
    }

    /// An event of data only, as Chat Completions and Google send them.
    pub(super) fn plain(data: &str) -> Self {
        Self { bytes: format!("data: {data}\n\n"), is_piece: false }
    }

    /// The same event, marked as a piece of the answer after which the server pauses.
    pub(super) fn piece(self) -> Self {
        Self { is_piece: true, ..self }
    }
}

/// Numbers the ids of one answer. No other answer has the same ones.
pub(super) struct Ids {
    answer: String,
    count: usize,
}

impl Ids {
    /// Ids that contain this id of the answer; tests pass a fixed one.
    pub(super) fn for_answer(answer: impl Into<String>) -> Self {
        Self { answer: answer.into(), count: 0 }
    }

    /// The next id, with its kind in front: `call_abc01`.
    pub(super) fn next(&mut self, kind: &str) -> String {
        self.count += 1;
        format!("{kind}_{}{:02}", self.answer, self.count)
    }
}

/// Cuts the arguments of a tool call into the pieces in which they are streamed.
pub(super) fn argument_pieces(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(ARGUMENT_PIECE).map(|piece| piece.iter().collect()).collect()
}
