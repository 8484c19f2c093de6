//! What Codex tells, as facts. Pure: notifications in, drafts out.

use std::collections::HashMap;
use std::sync::Arc;

use roost_engine::adapter::{Draft, Fact};
use roost_model::content::AssistantContentBlock;
use roost_model::payload::{
    ContextFill, ModelOutputCompletedPayload, ModelOutputDeltaKind, ModelOutputDeltaPayload, NoticeLevel, NoticeSource,
    PlanEntry, PlanPriority, PlanStatus, PlanUpdatedPayload, RuntimeNoticePayload, SessionUpdatedPayload,
    UsageReportedPayload,
};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::item::ToolItem;
use super::tools::Tools;
use super::wire::{
    DeltaParams, ErrorParams, Item, ItemParams, ItemStatus, Place, PlanParams, PlanStepStatus, TokenUsage, UsageParams,
};

/// Notifications that say nothing which is not said elsewhere; Codex is asked not to send them.
pub(super) const UNWANTED: [&str; 8] = [
    "account/rateLimits/updated",
    "item/reasoning/summaryPartAdded",
    "remoteControl/status/changed",
    "skills/changed",
    "thread/goal/cleared",
    "thread/readState/changed",
    "thread/started",
    "thread/status/changed",
];

/// Notifications that are heard and need no answer.
const QUIET: [&str; 5] = [
    "item/commandExecution/terminalInteraction",
    "item/fileChange/patchUpdated",
    "item/mcpToolCall/progress",
    "thread/settings/updated",
    "turn/started",
];

/// A message that is being written.
#[derive(Debug)]
struct Block {
    native: String,
    id: Arc<str>,
    text: String,
}

/// Names blocks by their order, not by Codex's ids, which differ each time the same story is told.
#[derive(Debug)]
struct Blocks {
    prefix: &'static str,
    known: HashMap<String, Arc<str>>,
}

impl Blocks {
    fn id(&mut self, native: &str) -> Arc<str> {
        let (prefix, next) = (self.prefix, self.known.len() + 1);
        self.known.entry(native.to_owned()).or_insert_with(|| format!("{prefix}_{next}").into()).clone()
    }
}

impl Default for Blocks {
    fn default() -> Self {
        Self { prefix: "block", known: HashMap::new() }
    }
}

/// Turns one task's notifications into drafts.
#[derive(Debug, Default)]
pub(super) struct Mapper {
    pub(super) tools: Tools,
    block: Option<Block>,
    blocks: Blocks,
    /// What the turn changed so far, as one patch.
    diff: Option<Value>,
}

impl Mapper {
    /// For a turn that another daemon began to listen to: no block of its is named twice.
    pub(super) fn again() -> Self {
        Self { blocks: Blocks { prefix: "later_block", ..Blocks::default() }, ..Self::default() }
    }

    /// Takes a notification of this thread's turn, or of a thread that it started.
    pub(super) fn notification(&mut self, at: &At<'_>, method: &str, params: &RawValue, drafts: &mut Vec<Draft>) {
        let known = match method {
            "item/agentMessage/delta" | "item/plan/delta" => self.text(at, params, drafts),
            "item/reasoning/summaryTextDelta" | "item/reasoning/textDelta" => self.thought(at, params, drafts),
            "item/commandExecution/outputDelta" => self.output(at, params, drafts),
            "item/started" => self.item(at, ItemStatus::InProgress, params, drafts),
            "item/completed" => self.item(at, ItemStatus::Completed, params, drafts),
            _ if read(params).is_some_and(|place: Place| at.is_past(&place)) => Some(()),
            "thread/tokenUsage/updated" => read(params).map(|usage: UsageParams| drafts.push(used(&usage.token_usage))),
            "turn/plan/updated" => read(params).map(|plan: PlanParams| drafts.push(Fact::Plan(planned(plan)).into())),
            "turn/diff/updated" => read(params).map(|diff: Value| self.diff = Some(diff)),
            "error" => read(params).map(|error: ErrorParams| drafts.extend(retried(&error, params))),
            _ => told(method, params).map(|told| drafts.extend(told)),
        };
        if known.is_none() {
            drafts.push(notice(NoticeLevel::Warning, format!("Roost does not know what {method} means"), Some(params)));
        }
    }

    /// The turn is over: whatever is being written is finished.
    pub(super) fn end(&mut self, cut: bool, drafts: &mut Vec<Draft>) {
        if let Some(Block { text, .. }) = self.block.take() {
            said(text, drafts);
        }
        self.tools.end(cut, drafts);
        if let Some(diff) = self.diff.take() {
            let message = "what the turn changed, as one patch".to_owned();
            let notice = RuntimeNoticePayload { level: NoticeLevel::Info, source: NoticeSource::Protocol, message };
            drafts.push(Draft { fact: Fact::Notice(notice), raw: Some(diff) });
        }
    }

    fn text(&mut self, at: &At<'_>, params: &RawValue, drafts: &mut Vec<Draft>) -> Option<()> {
        let piece: DeltaParams<'_> = serde_json::from_str(params.get()).ok()?;
        if at.is_ours(&piece.thread_id, &piece.turn_id) {
            self.write(&piece.item_id, piece.delta.into_owned(), drafts);
        }
        Some(())
    }

    fn write(&mut self, native: &str, delta: String, drafts: &mut Vec<Draft>) {
        if self.block.as_ref().is_none_or(|block| block.native != native) {
            let block = Block { native: native.to_owned(), id: self.blocks.id(native), text: String::new() };
            let before = self.block.replace(block);
            before.into_iter().for_each(|before| said(before.text, drafts));
        }
        if let Some(block) = self.block.as_mut().filter(|_| !delta.is_empty()) {
            block.text.push_str(&delta);
            drafts.push(piece(ModelOutputDeltaKind::TextDelta, block.id.clone(), delta));
        }
    }

    fn thought(&mut self, at: &At<'_>, params: &RawValue, drafts: &mut Vec<Draft>) -> Option<()> {
        let thought: DeltaParams<'_> = serde_json::from_str(params.get()).ok()?;
        if at.is_ours(&thought.thread_id, &thought.turn_id) && !thought.delta.is_empty() {
            let block = self.blocks.id(&format!("{}:{}", thought.item_id, thought.summary_index));
            drafts.push(piece(ModelOutputDeltaKind::ReasoningDelta, block, thought.delta.into_owned()));
        }
        Some(())
    }

    fn output(&mut self, at: &At<'_>, params: &RawValue, drafts: &mut Vec<Draft>) -> Option<()> {
        let output: DeltaParams<'_> = serde_json::from_str(params.get()).ok()?;
        if at.concerns(&output.thread_id, &output.turn_id) {
            self.tools.output(&output.item_id, &output.delta, drafts);
        }
        Some(())
    }

    fn item(&mut self, at: &At<'_>, so_far: ItemStatus, params: &RawValue, drafts: &mut Vec<Draft>) -> Option<()> {
        let ItemParams { item, thread_id, turn_id } = read(params)?;
        let done = so_far == ItemStatus::Completed;
        match item {
            _ if !at.concerns(&thread_id, &turn_id) => {}
            Item::Other => drafts.push(notice(NoticeLevel::Info, other(params), Some(params))),
            // What the user said is in the log already, and thoughts come in pieces.
            Item::UserMessage | Item::Reasoning => {}
            // What another agent of Codex's says is said to ours, not to the user.
            Item::AgentMessage { .. } | Item::Plan { .. } if !at.is_ours(&thread_id, &turn_id) => {}
            Item::AgentMessage { id, text } | Item::Plan { id, text } => {
                if done {
                    self.finish(&id, text, drafts);
                }
            }
            tool => {
                let item = ToolItem::of(tool, so_far)?;
                match done {
                    true => self.tools.completed(&turn_id, item, drafts),
                    false => self.tools.started(&turn_id, item, drafts),
                }
            }
        }
        Some(())
    }

    /// An item that was finished while nobody listened.
    pub(super) fn missed(&mut self, turn: &str, item: Item, drafts: &mut Vec<Draft>) {
        match item {
            Item::AgentMessage { id, text } | Item::Plan { id, text } => self.finish(&id, text, drafts),
            item => {
                if let Some(tool) = ToolItem::of(item, ItemStatus::Completed) {
                    self.tools.completed(turn, tool, drafts);
                }
            }
        }
    }

    /// A message is whole; what its pieces did not bring comes first.
    fn finish(&mut self, native: &str, text: String, drafts: &mut Vec<Draft>) {
        let written = self.block.take_if(|block| block.native == native).map(|block| block.text).unwrap_or_default();
        if let Some(rest) = text.strip_prefix(&written).filter(|rest| !rest.is_empty()) {
            let block = self.blocks.id(native);
            drafts.push(piece(ModelOutputDeltaKind::TextDelta, block, rest.to_owned()));
        }
        said(text, drafts);
    }
}

/// The thread and turn of a task.
#[derive(Clone, Copy, Debug)]
pub(super) struct At<'a> {
    pub(super) thread: &'a str,
    /// Unknown until Codex has answered the request that began it.
    pub(super) turn: Option<&'a str>,
}

impl At<'_> {
    /// Whether a message is about this very turn.
    fn is_ours(&self, thread: &str, turn: &str) -> bool {
        thread == self.thread && self.turn.is_none_or(|ours| ours == turn)
    }

    /// Whether a message is about this turn or a thread that it started; a session has a server of its own, so every
    /// other thread is one of those.
    pub(super) fn concerns(&self, thread: &str, turn: &str) -> bool {
        thread != self.thread || self.is_ours(thread, turn)
    }

    /// Whether a message is of a turn of ours that is over.
    pub(super) fn is_past(&self, place: &Place) -> bool {
        match (&place.thread_id, &place.turn_id) {
            (Some(thread), Some(turn)) => !self.concerns(thread, turn),
            _ => false,
        }
    }
}

/// A line that is not protocol.
pub(super) fn noise(source: NoticeSource, message: String) -> Draft {
    Fact::Notice(RuntimeNoticePayload { level: NoticeLevel::Info, source, message }).into()
}

/// What a notification outside of any item says to people; `None` if nobody knows it.
pub(super) fn told(method: &str, params: &RawValue) -> Option<Option<Draft>> {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Told {
        message: Option<String>,
        summary: Option<String>,
        details: Option<String>,
        thread_name: Option<String>,
        to_model: Option<String>,
        name: Option<String>,
        status: Option<Value>,
        error: Option<Value>,
    }
    if UNWANTED.contains(&method) || QUIET.contains(&method) {
        return Some(None);
    }
    let told: Told = read(params)?;
    let warning = |text: Option<String>| text.map(|text| notice(NoticeLevel::Warning, text, None));
    Some(match method {
        "warning" | "guardianWarning" => warning(told.message),
        "configWarning" | "deprecationNotice" => warning(
            told.summary
                .map(|summary| [Some(summary), told.details].into_iter().flatten().collect::<Vec<_>>().join(" ")),
        ),
        "thread/name/updated" => told
            .thread_name
            .map(|title| Fact::Session(SessionUpdatedPayload { title: Some(title), ..Default::default() }).into()),
        "model/rerouted" => told
            .to_model
            .map(|model| Fact::Session(SessionUpdatedPayload { model: Some(model), ..Default::default() }).into()),
        "mcpServer/startupStatus/updated" => {
            let failed = told.status.is_some_and(|status| status == "failed");
            let (name, error) = (told.name.unwrap_or_default(), told.error.unwrap_or_default());
            failed.then(|| notice(NoticeLevel::Warning, format!("tool server {name} did not start: {error}"), None))
        }
        _ => return None,
    })
}

/// Something that Codex tells, kept as it came where our words say less.
pub(super) fn notice(level: NoticeLevel, message: String, raw: Option<&RawValue>) -> Draft {
    let notice = RuntimeNoticePayload { level, source: NoticeSource::Protocol, message };
    Draft { fact: Fact::Notice(notice), raw: raw.and_then(|raw| serde_json::from_str(raw.get()).ok()) }
}

fn read<'a, T: Deserialize<'a>>(params: &'a RawValue) -> Option<T> {
    serde_json::from_str(params.get()).ok()
}

fn piece(kind: ModelOutputDeltaKind, block_id: Arc<str>, delta: String) -> Draft {
    Fact::Delta(ModelOutputDeltaPayload { kind, block_id, delta, tool_call_id: None, language: None }).into()
}

fn said(text: String, drafts: &mut Vec<Draft>) {
    if !text.is_empty() {
        let content = vec![AssistantContentBlock::Text { text }];
        drafts.push(Fact::Output(ModelOutputCompletedPayload { content }).into());
    }
}

/// The usage of the last request; Codex reports after each, so they add up to the turn's.
fn used(usage: &TokenUsage) -> Draft {
    let (last, size) = (&usage.last, usage.model_context_window);
    let payload = UsageReportedPayload {
        input_tokens: Some(last.input_tokens),
        cached_input_tokens: Some(last.cached_input_tokens),
        output_tokens: Some(last.output_tokens),
        reasoning_tokens: Some(last.reasoning_output_tokens),
        cost_usd: None,
        context: size.map(|size| ContextFill { used: last.total_tokens, size }),
    };
    Draft { fact: Fact::Usage(payload), raw: serde_json::to_value(usage).ok() }
}

fn planned(plan: PlanParams) -> PlanUpdatedPayload {
    let entries = plan.plan.into_iter().map(|step| PlanEntry {
        content: step.step,
        priority: PlanPriority::Medium,
        status: match step.status {
            PlanStepStatus::Pending => PlanStatus::Pending,
            PlanStepStatus::InProgress => PlanStatus::InProgress,
            PlanStepStatus::Completed => PlanStatus::Completed,
        },
    });
    PlanUpdatedPayload { entries: entries.collect() }
}

/// An error that Codex tries to overcome; the last one comes again with the end of the turn.
fn retried(error: &ErrorParams, params: &RawValue) -> Option<Draft> {
    let details = error.error.additional_details.iter().map(|details| format!(": {details}"));
    let message = format!("{}{}", error.error.message, details.collect::<String>());
    error.will_retry.then(|| notice(NoticeLevel::Warning, message, Some(params)))
}

fn other(params: &RawValue) -> String {
    #[derive(Deserialize)]
    struct Kind {
        item: Typed,
    }
    #[derive(Deserialize)]
    struct Typed {
        r#type: String,
    }
    let kind = read::<Kind>(params).map_or_else(|| "without a type".to_owned(), |kind| kind.item.r#type);
    format!("Codex tells of an item that Roost does not show: {kind}")
}
