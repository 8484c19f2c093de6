//! How a tool call ended, in the words of several agents.

use roost_model::payload::ToolCallCompletedPayload;
use serde_json::Value;

/// What Claude Code wraps around the reason why it did not run a call.
const REFUSED: [&str; 2] = ["<tool_use_error>", "</tool_use_error>"];
/// How Claude Code begins the result of a command that failed.
const EXIT_CODE: &str = "Exit code ";

/// How a call ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CallOutcome {
    Done,
    Failed {
        /// Of a command, where its agent tells.
        exit_code: Option<i64>,
        /// What the agent was told, without the exit code.
        text: String,
    },
}

impl CallOutcome {
    pub(super) fn from_completed(completed: &ToolCallCompletedPayload) -> Self {
        match (completed.is_error, &completed.result_preview) {
            (Some(true), Some(result)) => Self::failed(result),
            (Some(true), None) => {
                Self::Failed { exit_code: None, text: "it failed, and its agent does not say why".into() }
            }
            _ => Self::Done,
        }
    }

    fn failed(result: &Value) -> Self {
        let text = words(result);
        if let Some(code) = exit_code_field(result) {
            return Self::Failed { exit_code: Some(code), text };
        }
        let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
        match first.strip_prefix(EXIT_CODE).and_then(|code| code.trim().parse().ok()) {
            Some(code) => Self::Failed { exit_code: Some(code), text: rest.to_owned() },
            None => Self::Failed { exit_code: None, text },
        }
    }
}

fn exit_code_field(result: &Value) -> Option<i64> {
    ["/exit_code", "/exitCode", "/metadata/exit"].iter().find_map(|place| result.pointer(place)?.as_i64())
}

/// The text of a result: itself, or where the agents put it; else its JSON.
fn words(result: &Value) -> String {
    let places = ["", "/output", "/error/message", "/error", "/0/content/text", "/0/text", "/content/0/text"];
    let text = places.iter().find_map(|place| result.pointer(place)?.as_str());
    let text = text.map_or_else(|| result.to_string(), str::to_owned);
    REFUSED.iter().fold(text, |text, tag| text.replace(tag, ""))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_failure_is_an_exit_code_and_a_text_whichever_agent_tells_it() {
        let table = [
            (json!("Exit code 2\nls: no such file"), Some(2), "ls: no such file"),
            (json!("Exit code 1"), Some(1), ""),
            (json!({ "exit_code": 127, "output": "not found\n" }), Some(127), "not found\n"),
            (json!({ "output": "oh", "metadata": { "exit": 3 } }), Some(3), "oh"),
            (json!([{ "type": "content", "content": { "type": "text", "text": "no file" } }]), None, "no file"),
            (json!([{ "type": "text", "text": "no server" }]), None, "no server"),
            (json!({ "error": { "message": "gone" } }), None, "gone"),
            (json!({ "content": [{ "type": "text", "text": "no arguments" }], "isError": true }), None, "no arguments"),
            (json!("<tool_use_error>Read it first.</tool_use_error>"), None, "Read it first."),
            (json!({ "odd": true }), None, "{\"odd\":true}"),
        ];
        for (result, exit_code, text) in table {
            assert_eq!(CallOutcome::failed(&result), CallOutcome::Failed { exit_code, text: text.into() }, "{result}");
        }
    }
}
