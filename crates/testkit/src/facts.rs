//! The facts that tests report most.

use roost_engine::adapter::{Fact, TaskEnd, ToolOutcome};
use roost_model::content::AssistantContentBlock;
use roost_model::failure::FailureCode;
use roost_model::ids::ToolCallId;
use roost_model::payload::{
    ModelOutputCompletedPayload, ModelOutputDeltaKind, ModelOutputDeltaPayload, QuestionAskedPayload,
    ToolCallRequestedPayload,
};
use roost_model::tool::ToolCallIdentity;
use serde_json::{Value, json};

/// A streamed piece of the answer, all of one block.
pub fn delta(text: &str) -> Fact {
    let kind = ModelOutputDeltaKind::TextDelta;
    let (delta, block_id) = (text.into(), "block".into());
    Fact::Delta(ModelOutputDeltaPayload { kind, block_id, delta, tool_call_id: None, language: None })
}

/// The finished answer with this text.
pub fn output(text: &str) -> Fact {
    Fact::Output(ModelOutputCompletedPayload { content: vec![AssistantContentBlock::Text { text: text.into() }] })
}

/// The announcement of the first attempt at a call of the tool `write`.
pub fn requested(call: &str) -> Fact {
    attempt(call, 1)
}

/// The announcement of this attempt at a tool call.
pub fn attempt(call: &str, attempt: u32) -> Fact {
    Fact::ToolRequested(request("write", call, attempt, json!({ "path": call })))
}

/// The announcement of the first attempt at a call of this tool.
pub fn requested_of(tool: &str, call: &str) -> Fact {
    Fact::ToolRequested(request(tool, call, 1, json!({ "path": call })))
}

/// The payload of an attempt at a call of this tool with this input.
pub fn request(tool: &str, call: &str, attempt: u32, input: Value) -> ToolCallRequestedPayload {
    let tool_call_id = ToolCallId::from(call);
    let identity = ToolCallIdentity { tool_call_id, attempt, ..ToolCallIdentity::first(None, &input) };
    let (name, input_ref, title, kind) = (tool.into(), None, None, None);
    ToolCallRequestedPayload { identity, name, input, input_ref, title, kind }
}

/// The runtime waits for a decision about what [`requested`] announces.
pub fn asks(call: &str) -> Fact {
    Fact::ToolAsks(request("write", call, 1, json!({ "path": call })))
}

/// The runtime waits for the host to run what [`requested_of`] announces.
pub fn asks_host(tool: &str, call: &str) -> Fact {
    Fact::HostToolAsks(request(tool, call, 1, json!({ "path": call })))
}

/// The tool call with this id runs.
pub fn started(call: &str) -> Fact {
    Fact::ToolStarted(call.into())
}

/// The tool call with this id has succeeded.
pub fn completed(call: &str) -> Fact {
    Fact::ToolCompleted(ToolOutcome::of_runtime(call.into(), Some("done".into()), false))
}

/// The tool call with this id has failed.
pub fn failed(call: &str) -> Fact {
    Fact::ToolCompleted(ToolOutcome::of_runtime(call.into(), Some("broken".into()), true))
}

/// A tool call that the runtime's own rules refused.
pub fn refused(call: &str) -> Fact {
    Fact::ToolRefused { call: call.into(), reason: "not on my watch".into() }
}

/// A question to the user that has no fields.
pub fn question(id: &str) -> Fact {
    let (question_id, message) = (id.into(), "which one?".into());
    Fact::Question(QuestionAskedPayload { question_id, message, fields: Vec::new(), tool_call_id: None })
}

/// The task is completed with the reason `end_turn`.
pub fn end_turn() -> Fact {
    Fact::Ended(TaskEnd::Completed("end_turn".into()))
}

/// The runtime's process ended in the middle of the task.
pub fn exited() -> Fact {
    Fact::Ended(TaskEnd::failed(FailureCode::RuntimeExited, "the fake exited"))
}

/// Text of this many bytes that does not compress; the same one every time.
pub fn noise(length: usize) -> String {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let letter = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b'0' + (state >> 32) as u8 % 64)
    };
    std::iter::repeat_with(letter).take(length).collect()
}
