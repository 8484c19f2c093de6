//! Questions to the user in the form of Claude's `AskUserQuestion` tool, which clients know.

use roost_model::payload::{
    QUESTION_TOOL, QuestionAskedPayload, QuestionField, QuestionOutcome, QuestionResolvedPayload,
};
use roost_rpc::conversation::ContentBlock;
use serde_json::{Value, json};

use super::message::object;

/// A question as a call of that tool.
pub(super) fn tool_use(asked: &QuestionAskedPayload) -> ContentBlock {
    ContentBlock::ToolUse { id: asked.question_id.to_string(), name: QUESTION_TOOL.into(), input: object(input(asked)) }
}

/// The answer as the result of that call.
pub(super) fn tool_result(resolved: &QuestionResolvedPayload) -> ContentBlock {
    ContentBlock::ToolResult {
        tool_use_id: resolved.question_id.to_string(),
        content: outcome(resolved),
        is_error: resolved.outcome != QuestionOutcome::Answered,
    }
}

/// The input of that call: each field as one question.
pub(super) fn input(asked: &QuestionAskedPayload) -> Value {
    let questions: Vec<_> = match asked.fields.as_slice() {
        [] => vec![json!({ "header": "", "question": asked.message, "multiSelect": false, "options": [] })],
        fields => fields.iter().map(|field| question(asked, field)).collect(),
    };
    json!({ "questions": questions })
}

fn question(asked: &QuestionAskedPayload, field: &QuestionField) -> Value {
    let question = match asked.fields.len() {
        1 => asked.message.clone(),
        _ => format!("{} ({})", asked.message, field.label),
    };
    json!({
        "header": field.label, "question": question, "multiSelect": field.multiple, "options": options(field),
    })
}

/// The choices of a field; none means free text.
pub(super) fn options(field: &QuestionField) -> Vec<Value> {
    let option = |choice: &roost_model::payload::QuestionOption| match &choice.description {
        Some(description) => json!({ "label": choice.label, "description": description }),
        None => json!({ "label": choice.label }),
    };
    field.options.iter().map(option).collect()
}

/// The answer as text, or why there is none.
pub(super) fn outcome(resolved: &QuestionResolvedPayload) -> String {
    let word = match resolved.outcome {
        QuestionOutcome::Answered => {
            let answers = resolved.answers.iter().map(|(field, values)| format!("{field}: {}", values.join(", ")));
            return answers.collect::<Vec<_>>().join("\n");
        }
        QuestionOutcome::Declined => "The user did not answer",
        QuestionOutcome::Cancelled => "The task ended before an answer",
    };
    match &resolved.reason {
        Some(reason) => format!("{word}: {reason}"),
        None => word.into(),
    }
}
