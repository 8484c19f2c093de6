//! Maps the lines that `codex exec` prints to drafts of events. Pure: no I/O.

use roost_engine::adapter::{Draft, Fact, TaskEnd};
use roost_model::content::AssistantContentBlock;
use roost_model::payload::{
    ModelOutputCompletedPayload, ModelOutputDeltaKind, ModelOutputDeltaPayload, NoticeLevel, NoticeSource, PlanEntry,
    PlanPriority, PlanStatus, PlanUpdatedPayload, RuntimeNoticePayload,
};
use serde_json::Value;

use super::totals::Totals;
use super::wire::{self, ExecEvent, ExecItem, ExecLine, Step, Todo};
use crate::codex::failure;
use crate::codex::item::ToolItem;
use crate::codex::tools::ItemTracker;
use crate::codex::wire::{Item as AppItem, ItemStatus};
use crate::host::noise;

/// Maps the lines of one task.
#[derive(Debug)]
pub(super) struct ExecMapper {
    /// The task's id. It makes call ids unique, because items are numbered anew in every process.
    turn: String,
    cwd: String,
    tools: ItemTracker,
    /// The token totals of the thread before the turn, and after it once it is completed.
    pub(super) totals: Totals,
    /// Codex's id of the thread; `None` until the first line names it.
    pub(super) thread: Option<String>,
    /// How the turn ended; `None` while it runs.
    pub(super) end: Option<TaskEnd>,
    /// The agent has sent a message. If not, the last message of the notify source is used.
    pub(super) has_output: bool,
}

impl ExecMapper {
    /// A mapper for the task `turn` in the folder `cwd`, whose thread has used `totals` so far.
    pub(super) fn new(turn: String, cwd: String, totals: Totals) -> Self {
        let (tools, thread, end, has_output) = (ItemTracker::default(), None, None, false);
        Self { turn, cwd, tools, totals, thread, end, has_output }
    }

    /// Maps one line of stdout.
    pub(super) fn on_line(&mut self, line: &str, drafts: &mut Vec<Draft>) {
        match wire::parse(line) {
            ExecLine::Event(event) => self.on_event(*event, drafts),
            ExecLine::Unknown(raw) => {
                drafts.push(notice(NoticeLevel::Warning, "a message that Roost does not know", Some(raw)));
            }
            ExecLine::Noise if line.trim().is_empty() => {}
            ExecLine::Noise => drafts.push(noise(NoticeSource::Stdout, line)),
        }
    }

    fn on_event(&mut self, event: ExecEvent, drafts: &mut Vec<Draft>) {
        match event {
            ExecEvent::ThreadStarted { thread_id } => self.thread = Some(thread_id),
            ExecEvent::TurnStarted => {}
            ExecEvent::ItemChanged { item } => self.on_item(item, false, drafts),
            ExecEvent::ItemCompleted { item } => self.on_item(item, true, drafts),
            ExecEvent::TurnCompleted { usage } => {
                if let Some(after) = usage {
                    let raw = serde_json::to_value(after).ok();
                    drafts.push(Draft { fact: Fact::Usage(after.since(self.totals)), raw });
                    self.totals = after;
                }
                self.end = Some(TaskEnd::Completed("end_turn".into()));
            }
            ExecEvent::TurnFailed { error } => {
                self.end = Some(TaskEnd::Failed(Box::new(failure::from_message(&error.message))));
            }
            // The last one comes again with the end of the turn.
            ExecEvent::Error(error) => drafts.push(notice(NoticeLevel::Warning, &error.message, None)),
        }
    }

    fn on_item(&mut self, item: ExecItem, is_over: bool, drafts: &mut Vec<Draft>) {
        let ExecItem { id, step } = item;
        let tool = match step {
            Step::AgentMessage { text } if is_over => return self.push_output(text, drafts),
            Step::Reasoning { text } if is_over => return drafts.push(reasoning_draft(&id, text)),
            Step::AgentMessage { .. } | Step::Reasoning { .. } => return,
            Step::TodoList { items } => return drafts.push(Fact::Plan(plan_payload(items)).into()),
            Step::Error { message } => return drafts.push(notice(NoticeLevel::Warning, &message, None)),
            Step::CommandExecution { command, aggregated_output, exit_code, status } => AppItem::CommandExecution {
                // Commands are printed when they run and never need an approval, so each has a process.
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
        let Some(tool) = ToolItem::from_item(tool, so_far) else { return };
        if is_over {
            self.tools.on_completed(&self.turn, tool, drafts);
        } else {
            self.tools.on_started(&self.turn, tool, drafts);
        }
    }

    /// Reports a message of the agent.
    pub(super) fn push_output(&mut self, text: String, drafts: &mut Vec<Draft>) {
        self.has_output = true;
        let content = vec![AssistantContentBlock::Text { text }];
        drafts.push(Fact::Output(ModelOutputCompletedPayload { content }).into());
    }

    /// Completes the open tool calls, after the process has exited.
    pub(super) fn close(&mut self, drafts: &mut Vec<Draft>) {
        let completed = matches!(self.end, Some(TaskEnd::Completed(_)));
        self.tools.on_turn_end(!completed, drafts);
    }
}

/// A notice for people.
pub(super) fn notice(level: NoticeLevel, message: &str, raw: Option<Value>) -> Draft {
    let notice = RuntimeNoticePayload { level, source: NoticeSource::Protocol, message: message.into() };
    Draft { fact: Fact::Notice(notice), raw }
}

fn reasoning_draft(id: &str, text: String) -> Draft {
    let delta = ModelOutputDeltaPayload {
        kind: ModelOutputDeltaKind::ReasoningDelta,
        block_id: id.into(),
        delta: text,
        tool_call_id: None,
        language: None,
    };
    Fact::Delta(delta).into()
}

fn plan_payload(items: Vec<Todo>) -> PlanUpdatedPayload {
    let entries = items.into_iter().map(|Todo { text, completed }| PlanEntry {
        content: text,
        priority: PlanPriority::Medium,
        status: if completed { PlanStatus::Completed } else { PlanStatus::Pending },
    });
    PlanUpdatedPayload { entries: entries.collect() }
}
