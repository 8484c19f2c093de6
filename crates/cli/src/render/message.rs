//! Messages that an agent keeps of a conversation, shown like what Roost records itself.

use roost_rpc::call::ToolCallView;
use roost_rpc::conversation::{ContentBlock, Message, Speaker};
use serde_json::Value;

use super::Show;
use super::fold::FoldedOutput;
use super::text::{self, TextForm, TextKind};
use super::tools::first_line;
use crate::screen::visible;
use crate::style::Style;

/// The lines of a message; empty if it is not for people.
pub(super) fn lines(style: Style, show: Show, Message { speaker, message, is_meta, .. }: &Message) -> String {
    let block = |block: &ContentBlock| match block {
        ContentBlock::Text { text } if *speaker == Speaker::User => format!("{}\n", prompt(style, show.text, text)),
        ContentBlock::Text { text } => text::whole(TextKind::Answer, style, show.text, text),
        ContentBlock::Thinking { text } => text::whole(TextKind::Thought, style, show.text, text),
        ContentBlock::ToolUse { name, input, .. } => {
            let input = Value::Object(input.clone());
            let call = ToolCallView { name, kind: None, input: &input }.display();
            let call = if show.full { visible(&call).replace('\n', "\n  ") } else { first_line(&call) };
            format!("{} {}\n", style.yellow("→"), style.bold(call))
        }
        ContentBlock::ToolResult { content, is_error, .. } => {
            let mut output = FoldedOutput::default();
            let shown = output.add(style, show, content);
            let failed = if *is_error { format!("{} failed\n", style.red("✗")) } else { String::new() };
            shown + &output.end(style, show) + &failed
        }
    };
    if *is_meta { String::new() } else { message.content.iter().map(block).collect() }
}

/// What somebody said to the agent.
pub(super) fn prompt(style: Style, form: TextForm, text: &str) -> String {
    let text = if text.is_empty() { "(no prompt)".into() } else { form.prose(text) };
    style.bold(format!("> {text}")).to_string()
}
