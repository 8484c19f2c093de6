//! What `codex exec` prints, as facts. Pure: lines in, drafts out.

use roost_engine::adapter::{Draft, Fact, TaskEnd};
use roost_model::content::AssistantContentBlock;
use roost_model::payload::{
    ModelOutputCompletedPayload, ModelOutputDeltaKind, ModelOutputDeltaPayload, NoticeLevel, NoticeSource, PlanEntry,
    PlanPriority, PlanStatus, PlanUpdatedPayload, RuntimeNoticePayload,
};
use serde_json::Value;

use super::totals::Totals;
use super::wire::{self, Event, Incoming, Item, Step, Todo};
use crate::codex::failure;
use crate::codex::item::ToolItem;
use crate::codex::tools::Tools;
use crate::codex::wire::{Item as AppItem, ItemStatus};

/// Turns one task's lines into drafts.
#[derive(Debug)]
pub(super) struct Mapper {
    /// Names the turn; items are numbered anew in every process.
    turn: String,
    cwd: String,
    tools: Tools,
    /// The tokens of the thread before and, once the turn is over, after it.
    pub(super) totals: Totals,
    /// Codex's id of the thread, once it is told.
    pub(super) thread: Option<String>,
    /// How the turn ended, once it has.
    pub(super) end: Option<TaskEnd>,
    /// The agent has said something.
    pub(super) spoke: bool,
}

impl Mapper {
    /// For a turn of this name in this folder, whose thread has used this before.
    pub(super) fn new(turn: String, cwd: String, totals: Totals) -> Self {
        let (tools, thread, end, spoke) = (Tools::default(), None, None, false);
        Self { turn, cwd, tools, totals, thread, end, spoke }
    }

    /// Takes one line.
    pub(super) fn line(&mut self, line: &str, drafts: &mut Vec<Draft>) {
        match wire::parse(line) {
            Incoming::Event(event) => self.event(*event, drafts),
            Incoming::Unknown(raw) => {
                drafts.push(notice(NoticeLevel::Warning, "a message that Roost does not know", Some(raw)));
            }
            Incoming::Noise if line.trim().is_empty() => {}
            Incoming::Noise => drafts.push(noise(NoticeSource::Stdout, line)),
        }
    }

    fn event(&mut self, event: Event, drafts: &mut Vec<Draft>) {
        match event {
            Event::ThreadStarted { thread_id } => self.thread = Some(thread_id),
            Event::TurnStarted => {}
            Event::ItemChanged { item } => self.item(item, false, drafts),
            Event::ItemCompleted { item } => self.item(item, true, drafts),
            Event::TurnCompleted { usage } => {
                if let Some(after) = usage {
                    let raw = serde_json::to_value(after).ok();
                    drafts.push(Draft { fact: Fact::Usage(after.since(self.totals)), raw });
                    self.totals = after;
                }
                self.end = Some(TaskEnd::Completed("end_turn".into()));
            }
            Event::TurnFailed { error } => {
                self.end = Some(TaskEnd::Failed(Box::new(failure::in_words(&error.message))));
            }
            // The last one comes again with the end of the turn.
            Event::Error(error) => drafts.push(notice(NoticeLevel::Warning, &error.message, None)),
        }
    }

    fn item(&mut self, item: Item, is_over: bool, drafts: &mut Vec<Draft>) {
        let Item { id, step } = item;
        let tool = match step {
            Step::AgentMessage { text } if is_over => return self.say(text, drafts),
            Step::Reasoning { text } if is_over => return drafts.push(thought(&id, text)),
            Step::AgentMessage { .. } | Step::Reasoning { .. } => return,
            Step::TodoList { items } => return drafts.push(Fact::Plan(planned(items)).into()),
            Step::Error { message } => return drafts.push(notice(NoticeLevel::Warning, &message, None)),
            Step::CommandExecution { command, aggregated_output, exit_code, status } => AppItem::CommandExecution {
                // It is told when it runs, and never asked about.
                process_id: Some(id.clone()),
                id,
                command,
                cwd: self.cwd.clone(),
                status: status.into(),
                command_actions: Vec::new(),
                aggregated_output,
                exit_code,
            },
            Step::FileChange { changes, status } => AppItem::FileChange { id, changes, status: status.into() },
            Step::McpToolCall { server, tool, status, arguments, result, error } => {
                AppItem::McpToolCall { id, server, tool, status: status.into(), arguments, result, error }
            }
            Step::WebSearch { query } => AppItem::WebSearch { id, query, action: None },
        };
        let so_far = if is_over { ItemStatus::Completed } else { ItemStatus::InProgress };
        let Some(tool) = ToolItem::of(tool, so_far) else { return };
        if is_over {
            self.tools.completed(&self.turn, tool, drafts);
        } else {
            self.tools.started(&self.turn, tool, drafts);
        }
    }

    /// The agent said this.
    pub(super) fn say(&mut self, text: String, drafts: &mut Vec<Draft>) {
        self.spoke = true;
        let content = vec![AssistantContentBlock::Text { text }];
        drafts.push(Fact::Output(ModelOutputCompletedPayload { content }).into());
    }

    /// The process is gone: closes what is open.
    pub(super) fn close(&mut self, drafts: &mut Vec<Draft>) {
        let completed = matches!(self.end, Some(TaskEnd::Completed(_)));
        self.tools.end(!completed, drafts);
    }
}

/// A line that is not protocol.
pub(super) fn noise(source: NoticeSource, message: impl Into<String>) -> Draft {
    Fact::Notice(RuntimeNoticePayload { level: NoticeLevel::Info, source, message: message.into() }).into()
}

/// Something that a person should know.
pub(super) fn notice(level: NoticeLevel, message: &str, raw: Option<Value>) -> Draft {
    let notice = RuntimeNoticePayload { level, source: NoticeSource::Protocol, message: message.into() };
    Draft { fact: Fact::Notice(notice), raw }
}

fn thought(id: &str, text: String) -> Draft {
    let delta = ModelOutputDeltaPayload {
        kind: ModelOutputDeltaKind::ReasoningDelta,
        block_id: id.into(),
        delta: text,
        tool_call_id: None,
        language: None,
    };
    Fact::Delta(delta).into()
}

fn planned(items: Vec<Todo>) -> PlanUpdatedPayload {
    let entries = items.into_iter().map(|Todo { text, completed }| PlanEntry {
        content: text,
        priority: PlanPriority::Medium,
        status: if completed { PlanStatus::Completed } else { PlanStatus::Pending },
    });
    PlanUpdatedPayload { entries: entries.collect() }
}
