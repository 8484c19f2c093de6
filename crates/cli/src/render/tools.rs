//! Tool calls in short lines: what was asked for, what was decided, a little of the output, how it ended.

use std::collections::HashMap;

use roost_model::approval::{ApprovalEnd, ApprovalScope};
use roost_model::event::EventBody;
use roost_model::ids::ToolCallId;
use roost_model::payload::{ToolCallCompletedPayload, ToolCallDeniedPayload, ToolCallRequestedPayload};
use roost_model::tool::PolicyResult;
use roost_rpc::call;
use serde_json::Value;

use crate::ask::{Against, Extent, answerer_name, content};
use crate::screen::{one_line, visible};
use crate::style::Style;

/// Lines of output shown of one call.
const PREVIEW_LINES: usize = 5;
/// Characters shown of one line.
const PREVIEW_CHARS: usize = 200;

/// The tool calls of a task that have not completed yet.
#[derive(Default)]
pub(super) struct ToolCalls {
    calls: HashMap<ToolCallId, ShownCall>,
    /// The call that the last printed line was about.
    last: Option<ToolCallId>,
}

#[derive(Default)]
struct ShownCall {
    title: String,
    /// The rules that allowed it.
    rules: Vec<String>,
    lines: usize,
    /// Output after the last line end.
    rest: String,
}

impl ToolCalls {
    /// The lines of an event, if it is about a tool call.
    pub(super) fn lines(&mut self, style: Style, body: &EventBody) -> String {
        match body {
            EventBody::ToolCallRequested(requested) => self.requested(style, requested),
            EventBody::ToolCallPolicyEvaluated(word) => {
                if word.result == PolicyResult::Allow {
                    self.call(&word.identity.tool_call_id).rules.extend(word.rule.clone());
                }
                String::new()
            }
            EventBody::ToolCallApproved(approved) => {
                let rules = self.call(&approved.identity.tool_call_id).rules.join(", ");
                let by = if rules.is_empty() { String::new() } else { format!(" (rule {})", visible(&rules)) };
                let whose = self.whose(&approved.identity.tool_call_id);
                format!("  {whose}{}\n", style.dim(format!("approved{by}")))
            }
            EventBody::ToolCallDenied(denied) => self.denied(style, denied),
            EventBody::ApprovalRequested(asked) => {
                let rule = asked.rule.as_ref().map(|rule| format!(" (rule {})", visible(rule)));
                let whose = self.whose(&asked.identity.tool_call_id);
                let waits = style.yellow("waits for an answer");
                let what = content(style, asked, Against::Nothing, Extent::Beginning);
                let all = if what.cut {
                    format!("  {}\n", style.dim("`roost log --json` has all of it"))
                } else {
                    String::new()
                };
                format!("  {whose}{waits}{}\n{}{all}", style.dim(rule.unwrap_or_default()), what.text)
            }
            EventBody::ApprovalResolved(resolved) if resolved.end == ApprovalEnd::Answered => {
                let whose = self.whose(&resolved.identity.tool_call_id);
                let remembered = resolved.remembered.as_ref().map(|rule| {
                    let scope = match rule.scope {
                        ApprovalScope::Once => "once",
                        ApprovalScope::Session => "this session",
                        ApprovalScope::Workspace => "this workspace",
                        ApprovalScope::Always => "always",
                    };
                    format!(", for {scope}: {}", visible(&rule.pattern.to_string()))
                });
                let by = answerer_name(resolved.answered_by.as_ref());
                let text = format!("answered by {by}{}", remembered.unwrap_or_default());
                format!("  {whose}{}\n", style.dim(text))
            }
            EventBody::ToolOutputDelta(output) => self.call(&output.identity.tool_call_id).output(style, &output.delta),
            EventBody::ToolOutputCompleted(output) => {
                let call = self.call(&output.identity.tool_call_id);
                if call.lines > 0 {
                    return String::new();
                }
                let both = [&output.stdout, &output.stderr];
                both.into_iter().flatten().map(|text| call.output(style, text)).collect()
            }
            EventBody::ToolCallCompleted(completed) => self.completed(style, completed),
            _ => String::new(),
        }
    }

    fn requested(&mut self, style: Style, requested: &ToolCallRequestedPayload) -> String {
        let call = self.call(&requested.identity.tool_call_id);
        call.title = describe(requested);
        let line = format!("{} {}\n", style.yellow("→"), style.bold(preview(&call.title)));
        self.last = Some(requested.identity.tool_call_id.clone());
        line
    }

    fn denied(&mut self, style: Style, denied: &ToolCallDeniedPayload) -> String {
        let rules = denied.policy_snapshot.sources.iter().filter(|source| source.result != PolicyResult::Allow);
        let rules: Vec<_> = rules.filter_map(|source| source.rule.as_deref()).collect();
        let by = if rules.is_empty() { String::new() } else { format!(" (rule {})", visible(&rules.join(", "))) };
        let whose = self.whose(&denied.identity.tool_call_id);
        format!("  {whose}{}{}: {}\n", style.red("denied"), style.dim(by), visible(&denied.reason))
    }

    fn completed(&mut self, style: Style, completed: &ToolCallCompletedPayload) -> String {
        let mut call = self.calls.remove(&completed.identity.tool_call_id).unwrap_or_default();
        let mut text = call.flush(style);
        if call.lines > PREVIEW_LINES {
            text.push_str(&format!("  {}\n", style.dim(format!("… {} more lines", call.lines - PREVIEW_LINES))));
        }
        let failed = completed.is_error == Some(true);
        let sign = if failed { style.red("✗") } else { style.green("✓") };
        let title = if call.title.is_empty() { &completed.name } else { &call.title };
        let result = match &completed.result_preview {
            Some(result) if failed => format!(": {}", preview(&words(result))),
            _ => String::new(),
        };
        text.push_str(&format!("{sign} {}{result}\n", preview(title)));
        text
    }

    /// The call's title, unless the line before was about it already.
    fn whose(&mut self, id: &ToolCallId) -> String {
        let known = self.last.replace(id.clone()).as_ref() == Some(id);
        let title = preview(&self.call(id).title);
        if known || title.is_empty() { String::new() } else { format!("{title}: ") }
    }

    fn call(&mut self, id: &ToolCallId) -> &mut ShownCall {
        self.calls.entry(id.clone()).or_default()
    }
}

impl ShownCall {
    /// The lines that became whole with this piece of output, as far as they are shown.
    fn output(&mut self, style: Style, piece: &str) -> String {
        self.rest.push_str(piece);
        let Some(end) = self.rest.rfind('\n') else { return String::new() };
        let rest = self.rest.split_off(end + 1);
        let whole = std::mem::replace(&mut self.rest, rest);
        whole.lines().map(|line| self.line(style, line)).collect()
    }

    fn flush(&mut self, style: Style) -> String {
        let rest = std::mem::take(&mut self.rest);
        if rest.is_empty() { String::new() } else { self.line(style, &rest) }
    }

    fn line(&mut self, style: Style, line: &str) -> String {
        self.lines += 1;
        if self.lines > PREVIEW_LINES {
            String::new()
        } else {
            format!("  {}\n", style.dim(format!("│ {}", preview(line))))
        }
    }
}

/// A call in one line: what it would do, and the agent's title if that says more.
fn describe(requested: &ToolCallRequestedPayload) -> String {
    let shown = call::ToolCallView { name: &requested.name, kind: requested.kind, input: &requested.input }.display();
    match call::other_title(&shown, requested.title.as_deref(), &requested.name) {
        Some(title) => format!("{shown} · {}", one_line(title)),
        None => shown,
    }
}

/// The error of a failed call: its text if it has one, else its JSON.
fn words(result: &Value) -> String {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let nested = || result.pointer("/0/content/text").or_else(|| result.get("error")).and_then(text);
    text(result).or_else(nested).unwrap_or_else(|| result.to_string())
}

fn preview(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let cut: String = line.chars().take(PREVIEW_CHARS).collect();
    let more = if cut.len() < text.trim_end().len() { "…" } else { "" };
    format!("{}{more}", visible(&cut))
}
