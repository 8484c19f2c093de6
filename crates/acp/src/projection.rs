//! What an editor sees of a session's events: a pure function from events to updates.
//!
//! Answers come in pieces and are repeated as a whole when they are finished. Live, the pieces are passed on and the whole
//! is left out; in a replay it is the other way round, because pieces may be gone from the log by then.

use std::collections::HashMap;
use std::sync::Arc;

use agent_client_protocol_schema::v1::{self as acp, SessionUpdate};
use roost_model::content::{AssistantContentBlock, TranscriptContentBlock, TranscriptMessage, TranscriptRole, mention};
use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::ids::ToolCallId;
use roost_model::payload::{
    ModelOutputDeltaKind, ModelOutputDeltaPayload, NoticeLevel, PlanPriority, PlanStatus, PlanUpdatedPayload,
    QuestionAskedPayload, RuntimeNoticePayload, ToolCallRequestedPayload, UsageReportedPayload,
};
use serde_json::{Value, json};

use crate::profile::OWN_META;
use crate::tool_calls;

/// The client's abilities that decide what it is shown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shows {
    /// The connection speaks the draft of version 2.
    pub(crate) v2: bool,
    /// It shows notices.
    pub(crate) notices: bool,
    /// It shows forms, so questions need no text.
    pub(crate) forms: bool,
}

/// The state between events.
#[derive(Default)]
pub(crate) struct Projection {
    shows: Shows,
    is_replay: bool,
    /// Pieces of the answer that a replay has not shown, by block, in order.
    unsaid: Vec<(Arc<str>, String)>,
    /// Pieces of the answer were passed on, so its whole is left out.
    is_streamed: bool,
    calls: HashMap<ToolCallId, ShownCall>,
    /// What the session has cost so far, in US dollars: the editor is told the sum.
    cost_usd: f64,
}

/// A tool call that has not ended.
#[derive(Default)]
struct ShownCall {
    /// The editor knows of it.
    is_announced: bool,
    /// It was announced with a diff, which its end must not replace with a text.
    has_diff: bool,
    /// The editor's own terminals in which it runs. They show its output, so no text repeats it.
    terminals: Vec<acp::ToolCallContent>,
    output: String,
    /// The length that was shown last. It is shown again when it has doubled, because every update repeats the whole.
    shown: usize,
}

impl Projection {
    pub(crate) fn new(shows: Shows) -> Self {
        Self { shows, ..Self::default() }
    }

    /// The same, for a session that has cost this much already.
    pub(crate) fn after_cost(self, cost_usd: f64) -> Self {
        Self { cost_usd, ..self }
    }

    /// A projection for events that happened before; [`Projection::end_replay`] makes it one for new events.
    pub(crate) fn replay(shows: Shows) -> Self {
        Self { shows, is_replay: true, ..Self::default() }
    }

    /// The updates for an event. The editor that sent a prompt shows it already, so `is_own` leaves it out.
    pub(crate) fn project(&mut self, event: &NormalizedEvent, is_own: bool) -> Vec<SessionUpdate> {
        match &event.body {
            EventBody::ModelOutputDelta(delta) => self.delta(event, delta),
            EventBody::ModelOutputCompleted(completed) => {
                self.unsaid.clear();
                match std::mem::take(&mut self.is_streamed) {
                    true => Vec::new(),
                    false => completed.content.iter().map(|block| agent_chunk(answer_block(block))).collect(),
                }
            }
            EventBody::TaskStarted(started) => {
                let mut updates = self.flush();
                if !is_own || self.is_replay {
                    let from = json!({ OWN_META: prompted_by(event) });
                    let prompts = started.messages.iter().filter(|message| message.role == TranscriptRole::User);
                    let id = started.prompt_id.as_ref().map(|id| acp::MessageId::new(id.to_string()));
                    updates.extend(prompts.flat_map(|message| prompt(message, &from, id.as_ref())));
                }
                updates
            }
            EventBody::TaskSteered(steered) => {
                let mut updates = self.flush();
                updates.extend(prompt(&steered.message, &json!({ OWN_META: prompted_by(event) }), None));
                updates
            }
            body if body.ends_task() => {
                self.calls.clear();
                self.flush()
            }
            EventBody::ToolCallRequested(call) => self.requested(call),
            EventBody::ToolCallStarted(call) => {
                vec![status(&call.identity.tool_call_id, acp::ToolCallStatus::InProgress, None)]
            }
            EventBody::ToolOutputDelta(output) => self.output(&output.identity.tool_call_id, &output.delta),
            EventBody::ToolOutputCompleted(output) => {
                let call = self.calls.entry(output.identity.tool_call_id.clone()).or_default();
                call.output = [&output.stdout, &output.stderr].into_iter().flatten().map(String::as_str).collect();
                Vec::new()
            }
            EventBody::ToolCallCompleted(call) => {
                let ShownCall { has_diff, output, terminals, .. } =
                    self.calls.remove(&call.identity.tool_call_id).unwrap_or_default();
                let mut update = tool_calls::completed(call, Some(&*output).filter(|output| !output.is_empty()));
                let is_text = |content: &acp::ToolCallContent| matches!(content, acp::ToolCallContent::Content(_));
                let keeps_diff = has_diff && update.fields.status == Some(acp::ToolCallStatus::Completed);
                if keeps_diff || !terminals.is_empty() {
                    // What is shown already stays where an update says nothing about it.
                    update.fields.content = update.fields.content.filter(|content| !content.iter().all(is_text));
                }
                if let Some(content) = &mut update.fields.content {
                    content.extend(terminals);
                }
                vec![SessionUpdate::ToolCallUpdate(update)]
            }
            EventBody::ToolCallDenied(call) => {
                let reason = vec![call.reason.clone().into()];
                vec![status(&call.identity.tool_call_id, acp::ToolCallStatus::Failed, Some(reason))]
            }
            EventBody::PlanUpdated(updated) => vec![plan(updated)],
            EventBody::UsageReported(usage) => self.usage(usage).into_iter().collect(),
            EventBody::SessionUpdated(updated) => {
                let title = updated.title.iter();
                title
                    .map(|title| {
                        let info = acp::SessionInfoUpdate::new().title(title).updated_at(event.time.to_string());
                        SessionUpdate::SessionInfoUpdate(info)
                    })
                    .collect()
            }
            EventBody::QuestionAsked(question) if !self.shows.forms && !self.is_replay => {
                vec![agent_chunk(question_text(question).into())]
            }
            EventBody::RuntimeNotice(notice) if self.shows.notices && !self.is_replay => {
                notice_update(notice).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// What a replay still has to show: the beginning of an answer that is being written. New events follow.
    pub(crate) fn end_replay(&mut self) -> Vec<SessionUpdate> {
        let updates = self.flush();
        self.is_streamed = !updates.is_empty();
        self.is_replay = false;
        updates
    }

    fn delta(&mut self, event: &NormalizedEvent, delta: &ModelOutputDeltaPayload) -> Vec<SessionUpdate> {
        match delta.kind {
            ModelOutputDeltaKind::TextDelta | ModelOutputDeltaKind::CodeDelta if self.is_replay => {
                match self.unsaid.last_mut().filter(|(block, _)| *block == delta.block_id) {
                    Some((_, text)) => text.push_str(&delta.delta),
                    None => self.unsaid.push((delta.block_id.clone(), delta.delta.clone())),
                }
                Vec::new()
            }
            ModelOutputDeltaKind::TextDelta | ModelOutputDeltaKind::CodeDelta => {
                self.is_streamed = true;
                vec![SessionUpdate::AgentMessageChunk(chunk(event, delta))]
            }
            ModelOutputDeltaKind::ReasoningDelta => vec![SessionUpdate::AgentThoughtChunk(chunk(event, delta))],
            ModelOutputDeltaKind::JsonDelta | ModelOutputDeltaKind::UnknownDelta => Vec::new(),
        }
    }

    /// How full the context is, and what the session has cost; a report without a context has no place in the protocol.
    fn usage(&mut self, usage: &UsageReportedPayload) -> Option<SessionUpdate> {
        self.cost_usd += usage.cost_usd.unwrap_or_default();
        let context = usage.context?;
        let cost = (self.cost_usd > 0.0).then(|| acp::Cost::new(self.cost_usd, "USD"));
        Some(SessionUpdate::UsageUpdate(acp::UsageUpdate::new(context.used, context.size).cost(cost)))
    }

    /// Pieces of an answer that was never finished.
    fn flush(&mut self) -> Vec<SessionUpdate> {
        self.is_streamed = false;
        self.unsaid.drain(..).map(|(_, text)| agent_chunk(text.into())).collect()
    }

    /// Shows a terminal of the editor inside a call: at once, or with the call if that is still to come.
    pub(crate) fn show_terminal(&mut self, id: &ToolCallId, terminal: String) -> Vec<SessionUpdate> {
        let call = self.calls.entry(id.clone()).or_default();
        call.terminals.push(acp::ToolCallContent::Terminal(acp::Terminal::new(terminal)));
        if !call.is_announced {
            return Vec::new();
        }
        let fields = acp::ToolCallUpdateFields::new().content(call.terminals.clone());
        vec![SessionUpdate::ToolCallUpdate(acp::ToolCallUpdate::new(id.to_string(), fields))]
    }

    fn requested(&mut self, call: &ToolCallRequestedPayload) -> Vec<SessionUpdate> {
        let mut shown = tool_calls::requested(call);
        let has_diff = !shown.content.is_empty();
        let id = &call.identity.tool_call_id;
        let terminals = self.calls.remove(id).map(|known| known.terminals).unwrap_or_default();
        shown.content.extend(terminals.iter().cloned());
        let known = ShownCall { is_announced: true, has_diff, terminals, ..ShownCall::default() };
        self.calls.insert(id.clone(), known);
        match call.identity.attempt {
            1 => vec![SessionUpdate::ToolCall(shown)],
            _ => vec![status(&call.identity.tool_call_id, acp::ToolCallStatus::Pending, None)],
        }
    }

    fn output(&mut self, id: &ToolCallId, delta: &str) -> Vec<SessionUpdate> {
        let call = self.calls.entry(id.clone()).or_default();
        call.output.push_str(delta);
        if self.is_replay || !call.terminals.is_empty() || call.output.len() < call.shown * 2 {
            return Vec::new();
        }
        call.shown = call.output.len();
        let content = tool_calls::preview(&call.output);
        vec![status(id, acp::ToolCallStatus::InProgress, Some(content))]
    }
}

/// A piece of an answer. Pieces with one id belong to one message.
fn chunk(event: &NormalizedEvent, delta: &ModelOutputDeltaPayload) -> acp::ContentChunk {
    let task = event.trace.task_id.as_ref().map_or("", |task| task.as_str());
    acp::ContentChunk::new(delta.delta.clone().into())
        .message_id(acp::MessageId::new(format!("{task}:{}", delta.block_id)))
}

fn agent_chunk(content: acp::ContentBlock) -> SessionUpdate {
    SessionUpdate::AgentMessageChunk(acp::ContentChunk::new(content))
}

fn answer_block(block: &AssistantContentBlock) -> acp::ContentBlock {
    match block {
        AssistantContentBlock::Text { text } => text.clone().into(),
        AssistantContentBlock::Code { code, language } => {
            format!("```{}\n{code}\n```\n", language.as_deref().unwrap_or_default()).into()
        }
        AssistantContentBlock::ArtifactRef { artifact_id, name, .. } => {
            let name = name.clone().unwrap_or_else(|| artifact_id.to_string());
            acp::ContentBlock::ResourceLink(acp::ResourceLink::new(name, format!("roost://artifact/{artifact_id}")))
        }
    }
}

/// A prompt of somebody else, with who sent it.
fn prompt(message: &TranscriptMessage, from: &serde_json::Value, id: Option<&acp::MessageId>) -> Vec<SessionUpdate> {
    let texts = message.content.iter().filter_map(|block| match block {
        TranscriptContentBlock::Text { text } => Some(text.clone()),
        TranscriptContentBlock::Code { code, .. } => Some(code.clone()),
        TranscriptContentBlock::FileRef { path } => Some(mention(path)),
        TranscriptContentBlock::Image { name, .. } => Some(format!("[{}]", name.as_deref().unwrap_or("image"))),
        TranscriptContentBlock::ArtifactRef { name, .. } => name.clone(),
        TranscriptContentBlock::ToolUse { .. } | TranscriptContentBlock::ToolResult { .. } => None,
    });
    let meta = from.as_object().cloned();
    let chunk = |text: String| acp::ContentChunk::new(text.into()).message_id(id.cloned()).meta(meta.clone());
    texts.map(|text| SessionUpdate::UserMessageChunk(chunk(text))).collect()
}

fn status(id: &ToolCallId, status: acp::ToolCallStatus, content: Option<Vec<acp::ToolCallContent>>) -> SessionUpdate {
    let fields = acp::ToolCallUpdateFields::new().status(status).content(content);
    SessionUpdate::ToolCallUpdate(acp::ToolCallUpdate::new(id.to_string(), fields))
}

fn plan(updated: &PlanUpdatedPayload) -> SessionUpdate {
    let entries = updated.entries.iter().map(|entry| {
        let priority = match entry.priority {
            PlanPriority::High => acp::PlanEntryPriority::High,
            PlanPriority::Medium => acp::PlanEntryPriority::Medium,
            PlanPriority::Low => acp::PlanEntryPriority::Low,
        };
        let status = match entry.status {
            PlanStatus::Pending => acp::PlanEntryStatus::Pending,
            PlanStatus::InProgress => acp::PlanEntryStatus::InProgress,
            PlanStatus::Completed => acp::PlanEntryStatus::Completed,
        };
        acp::PlanEntry::new(entry.content.clone(), priority, status)
    });
    SessionUpdate::Plan(acp::Plan::new(entries.collect()))
}

fn notice_update(notice: &RuntimeNoticePayload) -> Option<SessionUpdate> {
    let severity = match notice.level {
        NoticeLevel::Info => return None,
        NoticeLevel::Warning => acp::NoticeSeverity::Warning,
        NoticeLevel::Error => acp::NoticeSeverity::Error,
    };
    Some(SessionUpdate::Notice(acp::Notice::new(severity, notice.message.clone())))
}

/// A question as text, for an editor that shows no forms.
fn question_text(question: &QuestionAskedPayload) -> String {
    let fields = question.fields.iter().map(|field| {
        let options: Vec<_> = field.options.iter().map(|option| option.label.as_str()).collect();
        match options.is_empty() {
            true => format!("\n- {}", field.label),
            false => format!("\n- {}: {}", field.label, options.join(", ")),
        }
    });
    let fields: String = fields.collect();
    format!("\n\n{}{fields}\n\nThis editor cannot answer questions; another client of Roost can.\n", question.message)
}

#[cfg(test)]
#[path = "projection_tests.rs"]
mod tests;

/// The task that a prompt is for, and who sent it.
fn prompted_by(event: &NormalizedEvent) -> Value {
    let mut from = json!({ "taskId": event.trace.task_id, "promptedBy": {} });
    if let Some(client) = &event.trace.client_id {
        from["promptedBy"]["clientId"] = json!(client);
    }
    if let Some(user) = &event.trace.user_id {
        from["promptedBy"]["userId"] = json!(user);
    }
    from
}
