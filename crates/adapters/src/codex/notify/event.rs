//! The JSON by which Codex reports the end of a turn.

use serde::Deserialize;

/// A line of a notify source.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
enum NotifyLine {
    AgentTurnComplete(TurnComplete),
    #[serde(other)]
    Other,
}

/// The end of a turn. Older versions of Codex leave out the thread, very old ones the turn too.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(crate) struct TurnComplete {
    thread_id: Option<String>,
    turn_id: Option<String>,
    input_messages: Vec<String>,
    /// The agent's last message.
    pub(crate) last_assistant_message: Option<String>,
}

/// The turn whose end is awaited, as far as it is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct AwaitedTurn {
    /// Codex's id of the turn; `None` with `codex exec`, which does not print it.
    pub(crate) id: Option<String>,
    /// Codex's id of the thread; empty until it is known.
    pub(crate) thread: String,
    /// The prompt, for versions that report neither turn nor thread.
    pub(crate) prompt: String,
}

impl TurnComplete {
    /// Parses a line; `None` for one that is malformed or reports something else.
    pub(crate) fn parse(line: &[u8]) -> Option<Self> {
        match serde_json::from_slice(line) {
            Ok(NotifyLine::AgentTurnComplete(event)) => Some(event),
            Ok(NotifyLine::Other) | Err(_) => None,
        }
    }

    /// Whether this is the end of `turn`. Compares the turn ids if both sides know them, else the threads, else the
    /// prompts.
    pub(crate) fn ends(&self, turn: &AwaitedTurn) -> bool {
        match (&self.turn_id, &turn.id, &self.thread_id) {
            (Some(ended), Some(awaited), _) => ended == awaited,
            (_, _, Some(thread)) => *thread == turn.thread,
            _ => self.input_messages.last().is_some_and(|prompt| prompt.trim() == turn.prompt.trim()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_a_turn_is_read() {
        let cases = [
            (r#"{"type":"agent-turn-complete"}"#, true),
            (
                r#"{"type":"agent-turn-complete","turn-id":"t","input-messages":["a"],"last-assistant-message":"b"}"#,
                true,
            ),
            (r#"{"type":"agent-turn-complete","turn-id":"t","cwd":"/","client":"cli","brand-new":[1]}"#, true),
            (r#"{"type":"agent-turn-complete","last-assistant-message":null}"#, true),
            (r#"{"type":"approval-requested"}"#, false),
            (r#"{"turn-id":"t"}"#, false),
            (r#"{"type":"agent-turn-complete","turn-id":7}"#, false),
            (r#"{"type":"agent-turn-comp"#, false),
            ("not json", false),
            ("[]", false),
            ("", false),
        ];
        for (line, is_read) in cases {
            assert_eq!(TurnComplete::parse(line.as_bytes()).is_some(), is_read, "{line}");
        }
        assert!(TurnComplete::parse(b"\xff\xfe").is_none());
    }

    #[test]
    fn an_end_is_matched_by_the_most_telling_thing_that_is_known() {
        let named = AwaitedTurn { id: Some("t1".into()), thread: "th".into(), prompt: "do it".into() };
        let unnamed = AwaitedTurn { id: None, ..named.clone() };
        let cases = [
            (r#""turn-id":"t1","thread-id":"th""#, true, true),
            (r#""turn-id":"t2","thread-id":"th""#, false, true),
            (r#""turn-id":"t1","thread-id":"other""#, true, false),
            (r#""turn-id":"t1""#, true, false),
            (r#""thread-id":"th""#, true, true),
            (r#""thread-id":"other","input-messages":["do it"]"#, false, false),
            (r#""input-messages":["before","do it\n"]"#, true, true),
            (r#""input-messages":["do it","something else"]"#, false, false),
            (r#""last-assistant-message":"done""#, false, false),
        ];
        for (fields, of_named, of_unnamed) in cases {
            let line = format!(r#"{{"type":"agent-turn-complete",{fields}}}"#);
            let event = TurnComplete::parse(line.as_bytes()).unwrap();
            assert_eq!((event.ends(&named), event.ends(&unnamed)), (of_named, of_unnamed), "{line}");
        }
    }
}
