//! Maps Codex's notifications to drafts of events. Pure: no I/O.

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

use super::failure;
use super::item::ToolItem;
use super::tools::ItemTracker;
use super::wire::{
    DeltaParams, ErrorParams, HookParams, HookRun, Item, ItemParams, ItemStatus, PlanParams, PlanStepStatus,
    RawItemParams, ScopeParams, TokenUsage, UsageParams,
};

/// Notifications that carry nothing we need; `initialize` asks Codex not to send them.
pub(super) const OPTED_OUT: [&str; 8] = [
    "account/rateLimits/updated",
    "item/reasoning/summaryPartAdded",
    "remoteControl/status/changed",
    "skills/changed",
    "thread/goal/cleared",
    "thread/readState/changed",
    "thread/started",
    "thread/status/changed",
];

/// Notifications that Codex sends all the same and that are ignored.
const IGNORED: [&str; 6] = [
    "hook/started",
    "item/commandExecution/terminalInteraction",
    "item/fileChange/patchUpdated",
    "item/mcpToolCall/progress",
    "thread/settings/updated",
    "turn/started",
];

/// The message that is being streamed.
#[derive(Debug)]
struct MessageBlock {
    native: String,
    id: Arc<str>,
    text: String,
}

/// Gives blocks ids by their order. Codex's own ids differ every time the same conversation is replayed; these do not.
#[derive(Debug)]
struct BlockIds {
    prefix: &'static str,
    known: HashMap<String, Arc<str>>,
    /// How many ids were given.
    given: usize,
}

impl BlockIds {
    fn id(&mut self, native: &str) -> Arc<str> {
        let (prefix, given) = (self.prefix, &mut self.given);
        let next = || {
            *given += 1;
            format!("{prefix}_{given}").into()
        };
        self.known.entry(native.to_owned()).or_insert_with(next).clone()
    }

    /// Lets the same block get another id, because its text starts over.
    fn forget(&mut self, native: &str) {
        self.known.remove(native);
    }
}

impl Default for BlockIds {
    fn default() -> Self {
        Self { prefix: "block", known: HashMap::new(), given: 0 }
    }
}

/// Maps the notifications of one turn.
#[derive(Debug, Default)]
pub(super) struct NotificationMapper {
    pub(super) tools: ItemTracker,
    block: Option<MessageBlock>,
    blocks: BlockIds,
    /// The last `turn/diff/updated`: everything that the turn changed so far, as one patch.
    diff: Option<Value>,
}

impl NotificationMapper {
    /// For a turn that an earlier daemon started: the ids of its blocks have another prefix, so that none is given
    /// twice.
    pub(super) fn for_adopted_turn() -> Self {
        Self { blocks: BlockIds { prefix: "later_block", ..BlockIds::default() }, ..Self::default() }
    }

    /// Maps one notification, of this turn or of a thread that it started. One that nobody knows becomes a warning
    /// that carries it.
    pub(super) fn on_notification(
        &mut self,
        scope: &TurnScope<'_>,
        method: &str,
        params: &RawValue,
        drafts: &mut Vec<Draft>,
    ) {
        let known = match method {
            "item/agentMessage/delta" | "item/plan/delta" => self.on_text_delta(scope, params, drafts),
            "item/reasoning/summaryTextDelta" | "item/reasoning/textDelta" => {
                self.on_reasoning_delta(scope, params, drafts)
            }
            "item/commandExecution/outputDelta" => self.on_output_delta(scope, params, drafts),
            "item/started" => self.on_item(scope, ItemStatus::InProgress, params, drafts),
            "item/completed" => self.on_item(scope, ItemStatus::Completed, params, drafts),
            "rawResponseItem/completed" => self.on_raw_item(scope, params),
            _ if read(params).is_some_and(|params: ScopeParams| scope.is_past(&params)) => Some(()),
            "thread/tokenUsage/updated" => {
                read(params).map(|usage: UsageParams| drafts.push(usage_draft(&usage.token_usage)))
            }
            "hook/completed" => read(params).map(|hook: HookParams| drafts.extend(hook_notice(&hook.run))),
            "turn/plan/updated" => {
                read(params).map(|plan: PlanParams| drafts.push(Fact::Plan(plan_payload(plan)).into()))
            }
            // The model has answered, so everything that it called before is over.
            "rawResponse/completed" => {
                self.tools.on_model_response(drafts);
                Some(())
            }
            "turn/diff/updated" => read(params).map(|diff: Value| self.diff = Some(diff)),
            "error" => read(params).map(|error: ErrorParams| self.on_error(&error, drafts)),
            _ => notification_draft(method, params).map(|draft| drafts.extend(draft)),
        };
        if known.is_none() {
            drafts.push(notice(NoticeLevel::Warning, format!("Roost does not know what {method} means"), Some(params)));
        }
    }

    /// Completes the open message and the tool calls. `cut` says that the turn was interrupted or failed.
    pub(super) fn on_turn_end(&mut self, cut: bool, drafts: &mut Vec<Draft>) {
        if let Some(MessageBlock { text, .. }) = self.block.take() {
            push_output(text, drafts);
        }
        self.tools.on_turn_end(cut, drafts);
        if let Some(diff) = self.diff.take() {
            let message = "what the turn changed, as one patch".to_owned();
            let notice = RuntimeNoticePayload { level: NoticeLevel::Info, source: NoticeSource::Protocol, message };
            drafts.push(Draft { fact: Fact::Notice(notice), raw: Some(diff) });
        }
    }

    /// Warns of an error that Codex will retry. The last error is not reported here: it comes again with the end of the
    /// turn. The model starts its message over then, so what was streamed of it is no part of the answer.
    fn on_error(&mut self, error: &ErrorParams, drafts: &mut Vec<Draft>) {
        if error.will_retry {
            if let Some(discarded) = self.block.take() {
                self.blocks.forget(&discarded.native);
            }
            drafts.push(notice(NoticeLevel::Warning, failure::retry_message(&error.error), None));
        }
    }

    fn on_text_delta(&mut self, scope: &TurnScope<'_>, params: &RawValue, drafts: &mut Vec<Draft>) -> Option<()> {
        let piece: DeltaParams<'_> = serde_json::from_str(params.get()).ok()?;
        if scope.is_ours(&piece.thread_id, &piece.turn_id) {
            self.append(&piece.item_id, piece.delta.into_owned(), drafts);
        }
        Some(())
    }

    fn append(&mut self, native: &str, delta: String, drafts: &mut Vec<Draft>) {
        if self.block.as_ref().is_none_or(|block| block.native != native) {
            let block = MessageBlock { native: native.to_owned(), id: self.blocks.id(native), text: String::new() };
            let before = self.block.replace(block);
            before.into_iter().for_each(|before| push_output(before.text, drafts));
        }
        if let Some(block) = self.block.as_mut().filter(|_| !delta.is_empty()) {
            block.text.push_str(&delta);
            drafts.push(delta_draft(ModelOutputDeltaKind::TextDelta, block.id.clone(), delta));
        }
    }

    fn on_reasoning_delta(&mut self, scope: &TurnScope<'_>, params: &RawValue, drafts: &mut Vec<Draft>) -> Option<()> {
        let thought: DeltaParams<'_> = serde_json::from_str(params.get()).ok()?;
        if scope.is_ours(&thought.thread_id, &thought.turn_id) && !thought.delta.is_empty() {
            let block = self.blocks.id(&format!("{}:{}", thought.item_id, thought.summary_index));
            drafts.push(delta_draft(ModelOutputDeltaKind::ReasoningDelta, block, thought.delta.into_owned()));
        }
        Some(())
    }

    fn on_output_delta(&mut self, scope: &TurnScope<'_>, params: &RawValue, drafts: &mut Vec<Draft>) -> Option<()> {
        let output: DeltaParams<'_> = serde_json::from_str(params.get()).ok()?;
        if scope.concerns(&output.thread_id, &output.turn_id) {
            self.tools.on_output(&output.item_id, &output.delta, drafts);
        }
        Some(())
    }

    fn on_item(
        &mut self,
        scope: &TurnScope<'_>,
        so_far: ItemStatus,
        params: &RawValue,
        drafts: &mut Vec<Draft>,
    ) -> Option<()> {
        let ItemParams { item, thread_id, turn_id } = read(params)?;
        let done = so_far == ItemStatus::Completed;
        match item {
            _ if !scope.concerns(&thread_id, &turn_id) => {}
            Item::Other => drafts.push(notice(NoticeLevel::Info, unknown_item_message(params), Some(params))),
            // The user's message is in the log already, and reasoning arrives as deltas.
            Item::UserMessage | Item::Reasoning => {}
            Item::ContextCompaction => {
                let message = "the conversation so far was summarised, to make room for more".to_owned();
                drafts.extend(done.then(|| notice(NoticeLevel::Info, message, None)));
            }
            // Messages of a subagent are meant for our agent, not for the user.
            Item::AgentMessage { .. } | Item::Plan { .. } if !scope.is_ours(&thread_id, &turn_id) => {}
            Item::AgentMessage { id, text } | Item::Plan { id, text } => {
                if done {
                    self.finish_message(&id, text, drafts);
                }
            }
            tool => {
                let item = ToolItem::from_item(tool, so_far)?;
                match done {
                    true => self.tools.on_completed(&turn_id, item, drafts),
                    false => self.tools.on_started(&turn_id, item, drafts),
                }
            }
        }
        Some(())
    }

    fn on_raw_item(&mut self, scope: &TurnScope<'_>, params: &RawValue) -> Option<()> {
        let RawItemParams { item, thread_id, turn_id } = read(params)?;
        if scope.concerns(&thread_id, &turn_id) {
            self.tools.on_raw_item(&turn_id, item);
        }
        Some(())
    }

    /// Maps an item that was completed while no daemon was connected.
    pub(super) fn on_missed_item(&mut self, turn: &str, item: Item, drafts: &mut Vec<Draft>) {
        match item {
            Item::AgentMessage { id, text } | Item::Plan { id, text } => self.finish_message(&id, text, drafts),
            item => {
                if let Some(tool) = ToolItem::from_item(item, ItemStatus::Completed) {
                    self.tools.on_completed(turn, tool, drafts);
                }
            }
        }
    }

    /// Completes a message. Text that no delta brought is sent as one more delta first.
    fn finish_message(&mut self, native: &str, text: String, drafts: &mut Vec<Draft>) {
        let streamed = self.block.take_if(|block| block.native == native).map(|block| block.text).unwrap_or_default();
        if let Some(rest) = text.strip_prefix(&streamed).filter(|rest| !rest.is_empty()) {
            let block = self.blocks.id(native);
            drafts.push(delta_draft(ModelOutputDeltaKind::TextDelta, block, rest.to_owned()));
        }
        push_output(text, drafts);
    }
}

/// The thread and turn that a mapper listens to.
#[derive(Clone, Copy, Debug)]
pub(super) struct TurnScope<'a> {
    pub(super) thread: &'a str,
    /// `None` until Codex has answered the request that started the turn.
    pub(super) turn: Option<&'a str>,
}

impl TurnScope<'_> {
    /// Whether a message is about this very turn.
    fn is_ours(&self, thread: &str, turn: &str) -> bool {
        thread == self.thread && self.turn.is_none_or(|ours| ours == turn)
    }

    /// Whether a message is about this turn or about a thread that it started. Every session has a server of its own,
    /// so every other thread is one of those.
    pub(super) fn concerns(&self, thread: &str, turn: &str) -> bool {
        thread != self.thread || self.is_ours(thread, turn)
    }

    /// Whether a message is about an earlier turn of our thread; one without both ids never is.
    pub(super) fn is_past(&self, params: &ScopeParams) -> bool {
        match (&params.thread_id, &params.turn_id) {
            (Some(thread), Some(turn)) => !self.concerns(thread, turn),
            _ => false,
        }
    }
}

/// Maps a notification that belongs to no item. `None` if the method is unknown; `Some(None)` if it is known and has
/// nothing to report.
pub(super) fn notification_draft(method: &str, params: &RawValue) -> Option<Option<Draft>> {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct NoticeParams {
        message: Option<String>,
        summary: Option<String>,
        details: Option<String>,
        thread_name: Option<String>,
        to_model: Option<String>,
        name: Option<String>,
        status: Option<Value>,
        error: Option<Value>,
    }
    if OPTED_OUT.contains(&method) || IGNORED.contains(&method) {
        return Some(None);
    }
    let fields: NoticeParams = read(params)?;
    let warning = |text: Option<String>| text.map(|text| notice(NoticeLevel::Warning, text, None));
    Some(match method {
        "warning" | "guardianWarning" => warning(fields.message),
        "configWarning" | "deprecationNotice" => warning(
            fields
                .summary
                .map(|summary| [Some(summary), fields.details].into_iter().flatten().collect::<Vec<_>>().join(" ")),
        ),
        "thread/name/updated" => fields
            .thread_name
            .map(|title| Fact::Session(SessionUpdatedPayload { title: Some(title), ..Default::default() }).into()),
        "model/rerouted" => fields
            .to_model
            .map(|model| Fact::Session(SessionUpdatedPayload { model: Some(model), ..Default::default() }).into()),
        "mcpServer/startupStatus/updated" => {
            let failed = fields.status.is_some_and(|status| status == "failed");
            let (name, error) = (fields.name.unwrap_or_default(), fields.error.unwrap_or_default());
            failed.then(|| notice(NoticeLevel::Warning, format!("tool server {name} did not start: {error}"), None))
        }
        _ => return None,
    })
}

/// A notice for people. `raw` is kept with it where the message says less than the notification.
pub(super) fn notice(level: NoticeLevel, message: String, raw: Option<&RawValue>) -> Draft {
    let notice = RuntimeNoticePayload { level, source: NoticeSource::Protocol, message };
    Draft { fact: Fact::Notice(notice), raw: raw.and_then(|raw| serde_json::from_str(raw.get()).ok()) }
}

fn read<'a, T: Deserialize<'a>>(params: &'a RawValue) -> Option<T> {
    serde_json::from_str(params.get()).ok()
}

fn delta_draft(kind: ModelOutputDeltaKind, block_id: Arc<str>, delta: String) -> Draft {
    Fact::Delta(ModelOutputDeltaPayload { kind, block_id, delta, tool_call_id: None, language: None }).into()
}

fn push_output(text: String, drafts: &mut Vec<Draft>) {
    if !text.is_empty() {
        let content = vec![AssistantContentBlock::Text { text }];
        drafts.push(Fact::Output(ModelOutputCompletedPayload { content }).into());
    }
}

/// The usage of the last request to the model. Codex reports after each one, so the drafts add up to the turn's usage.
fn usage_draft(usage: &TokenUsage) -> Draft {
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

fn plan_payload(plan: PlanParams) -> PlanUpdatedPayload {
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

/// A warning about a hook of the user's that blocked something or failed; nothing for one that went well.
fn hook_notice(run: &HookRun) -> Option<Draft> {
    let what = match run.status.as_str() {
        "blocked" => "blocked what Codex was about to do",
        "stopped" => "stopped Codex",
        "failed" => "failed",
        _ => return None,
    };
    let why: Vec<_> = run.entries.iter().map(|entry| entry.text.as_str()).collect();
    let why = if why.is_empty() { String::new() } else { format!(": {}", why.join("; ")) };
    let message = format!("a {} hook of {} {what}{why}", run.event_name, run.source_path);
    Some(notice(NoticeLevel::Warning, message, None))
}

fn unknown_item_message(params: &RawValue) -> String {
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
