//! Sessions and tasks as states, and the session record that a stream of events adds up to.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::content::{TranscriptContentBlock, TranscriptMessage};
use crate::event::{EventBody, NormalizedEvent};
use crate::ids::{PromptId, RuntimeSessionId, SessionId, TaskId, WorkspaceId};
use crate::mode::Mode;
use crate::payload::{NoticeLevel, NoticeSource, RuntimeNoticePayload, UsageReportedPayload};
use crate::runtime::{IsolationLevel, RuntimeName};
use crate::time::Timestamp;
use crate::transcript::is_message;

/// The lifecycle of a session (seed 002).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SessionStatus {
    /// It exists but was never prompted; no process runs.
    Created,
    /// It has been prompted; its process may be running.
    Active,
    /// Its process is being stopped.
    Ending,
    /// Its process and resources are gone. The next prompt resumes it.
    Closed,
}

/// What can happen to a session as a whole; drives [`SessionStatus::after`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionStep {
    /// A client sent a prompt.
    Prompt,
    /// It is stopped, closed or idle for too long, its process exited, or the daemon restarts.
    End,
    /// Its process has ended.
    Gone,
}

/// The step is not possible in the session's current status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a session that is {from} cannot take the step {step:?}")]
pub struct IllegalStep {
    /// The current status, which stays as it is.
    pub from: SessionStatus,
    /// The step that was refused.
    pub step: SessionStep,
}

impl SessionStatus {
    /// The status after this step.
    pub fn after(self, step: SessionStep) -> Result<Self, IllegalStep> {
        match (self, step) {
            // A closed session that is prompted is resumed: a new live entry under the same id.
            (Self::Created | Self::Active | Self::Closed, SessionStep::Prompt) => Ok(Self::Active),
            (Self::Created | Self::Active | Self::Ending, SessionStep::End) => Ok(Self::Ending),
            (Self::Ending, SessionStep::Gone) => Ok(Self::Closed),
            (from, step) => Err(IllegalStep { from, step }),
        }
    }
}

impl fmt::Display for SessionStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Created => "created",
            Self::Active => "active",
            Self::Ending => "ending",
            Self::Closed => "closed",
        })
    }
}

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TaskOutcome {
    /// The agent finished its turn.
    Completed,
    /// It ended with an error; the `task.failed` event has the reason.
    Failed,
    /// A client or the end of the session stopped it.
    Stopped,
}

impl TaskOutcome {
    /// The outcome, if this is the last event of a task; `None` for every other event.
    pub fn from_body(body: &EventBody) -> Option<Self> {
        match body {
            EventBody::TaskCompleted(_) => Some(Self::Completed),
            EventBody::TaskFailed(_) => Some(Self::Failed),
            EventBody::TaskStopped(_) => Some(Self::Stopped),
            _ => None,
        }
    }
}

/// A prompt that waits for the running task to end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueuedPrompt {
    /// Id of the prompt, as in the result of `session/send`.
    pub prompt_id: PromptId,
    /// The prompt as it was sent.
    pub message: TranscriptMessage,
    /// True if it no longer starts by itself, because the session was closed, the daemon restarted or the session's
    /// mode changed while it waited; false if absent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held: bool,
}

/// The task that runs now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpenTask {
    /// Id of the task.
    pub task_id: TaskId,
    /// `seq` of its `task.started` event.
    pub first_seq: u64,
    /// When it started.
    pub started_at: Timestamp,
}

/// A conversation that began outside Roost, as it was when Roost took it over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Adopted {
    /// The runtime's id for the conversation.
    pub runtime_session_id: RuntimeSessionId,
    /// Messages it had by then. Roost's log does not contain them; the runtime does.
    pub messages: u64,
}

/// The point at which a session was forked from another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Forked {
    /// The session it was forked from.
    pub session_id: SessionId,
    /// `seq` of the last event of that session that both have in common.
    pub seq: u64,
    /// Tasks that the other session had had by then.
    pub tasks: u64,
    /// Messages that the other session had by then.
    pub messages: u64,
}

/// What a session has used up, as far as its runtime reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SessionUsage {
    /// Tool calls that its agent made, those that were denied included.
    #[serde(skip_serializing_if = "is_zero")]
    pub tool_calls: u64,
    /// Reports of usage, which a runtime makes for each model call or for each task.
    #[serde(skip_serializing_if = "is_zero")]
    pub model_calls: u64,
    /// Tokens that models read, those from a cache included.
    #[serde(skip_serializing_if = "is_zero")]
    pub input_tokens: u64,
    /// Tokens that models wrote.
    #[serde(skip_serializing_if = "is_zero")]
    pub output_tokens: u64,
    /// What models cost, in US dollars.
    #[serde(skip_serializing_if = "is_free")]
    pub cost_usd: f64,
}

impl SessionUsage {
    fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Adds what an event of the session says was used; whether it says anything of that.
    pub fn count(&mut self, body: &EventBody) -> bool {
        match body {
            EventBody::ToolCallRequested(_) => self.tool_calls += 1,
            EventBody::UsageReported(usage) => self.add(usage),
            _ => return false,
        }
        true
    }

    fn add(&mut self, reported: &UsageReportedPayload) {
        let UsageReportedPayload { input_tokens, output_tokens, cost_usd, .. } = reported;
        // An update of the context window alone is no call of a model.
        self.model_calls += u64::from(input_tokens.is_some() || output_tokens.is_some());
        self.input_tokens += input_tokens.unwrap_or_default();
        self.output_tokens += output_tokens.unwrap_or_default();
        self.cost_usd += cost_usd.unwrap_or_default();
    }
}

/// The current state of a session: the sum of its events and nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionRecord {
    /// Id of the session; never changes.
    pub session_id: SessionId,
    /// The runtime that runs it; never changes.
    pub runtime: RuntimeName,
    /// Where it is in its lifecycle.
    pub status: SessionStatus,
    /// Its working directory, absolute; never changes.
    pub cwd: String,
    /// Name of the set of logins and runtime state that it uses.
    pub credential_namespace: String,
    /// How much it may do without asking.
    pub mode: Mode,
    /// Title for lists: the one that was given, else the first line of the first prompt. Absent before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The model in use; absent means the runtime's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The runtime's own id for it; absent until the runtime has told it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_session_id: Option<RuntimeSessionId>,
    /// When it was created.
    pub created_at: Timestamp,
    /// Time of the last change to the session or end of a task; not of every event.
    pub updated_at: Timestamp,
    /// The running task; absent if none runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_task: Option<OpenTask>,
    /// How the last task ended; absent before the first one ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_outcome: Option<TaskOutcome>,
    /// Why the last task failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Tasks that it has had, including the running one.
    pub tasks: u64,
    /// What it has used up so far.
    #[serde(default, skip_serializing_if = "SessionUsage::is_none")]
    pub usage: SessionUsage,
    /// Messages in its history, including those from before it was adopted or forked.
    #[serde(default)]
    pub messages: u64,
    /// Messages of its runtime that Roost did not understand. Each is in the log unchanged.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unknown_messages: u64,
    /// Whether it was removed from lists with `session/delete`; the next prompt lists it again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// Prompts that wait for the running task to end, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queue: Vec<QueuedPrompt>,
    /// The workspace it was created in; absent if its folder belongs to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    /// How much of the user's home the runtime shares; absent means the runtime's configured default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<IsolationLevel>,
    /// Names of the extra environment variables that a client gave it; the values are shown to nobody.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// Names of its own MCP servers, which a client gave it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mcp_servers: Vec<String>,
    /// The runtime's own settings, passed on without interpretation; secrets are removed here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_config: Option<Map<String, Value>>,
    /// `sha256:<hex>` of those settings with their secrets, to notice changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_config_hash: Option<String>,
    /// Present if the conversation began outside Roost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adopted: Option<Adopted>,
    /// Present if it was forked from another session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked: Option<Forked>,
}

fn earlier_messages(adopted: Option<&Adopted>, forked: Option<&Forked>) -> u64 {
    adopted.map_or(0, |adopted| adopted.messages) + forked.map_or(0, |forked| forked.messages)
}

/// Longest title made from a prompt, in characters.
const TITLE_CHARS: usize = 80;

impl SessionRecord {
    /// The record after one more event: `None` stays `None` until the session is created.
    pub fn after(record: Option<Self>, event: &NormalizedEvent) -> Option<Self> {
        let mut record = match (record, &event.body) {
            (None, EventBody::SessionCreated(made)) => Self {
                session_id: event.trace.session_id.clone(),
                runtime: made.runtime.clone(),
                status: SessionStatus::Created,
                cwd: made.cwd.clone(),
                credential_namespace: made.credential_namespace.clone(),
                mode: made.mode,
                title: made.title.clone(),
                model: made.model.clone(),
                runtime_session_id: made.adopted.as_ref().map(|adopted| adopted.runtime_session_id.clone()),
                created_at: event.time,
                updated_at: event.time,
                open_task: None,
                last_outcome: None,
                failure: None,
                tasks: 0,
                usage: SessionUsage::default(),
                messages: earlier_messages(made.adopted.as_ref(), made.forked.as_ref()),
                unknown_messages: 0,
                hidden: false,
                queue: Vec::new(),
                workspace_id: made.workspace_id.clone(),
                isolation: made.isolation,
                env: made.env.clone(),
                mcp_servers: made.mcp_servers.clone(),
                runtime_config: made.runtime_config.clone(),
                runtime_config_hash: made.runtime_config_hash.clone(),
                adopted: made.adopted.clone(),
                forked: made.forked.clone(),
            },
            (record, _) => record?,
        };
        record.apply(event);
        Some(record)
    }

    /// Whether [`SessionRecord::after`] does anything with this event. All others can be skipped.
    pub fn concerns(body: &EventBody) -> bool {
        is_unknown(body)
            || matches!(
                body,
                EventBody::SessionCreated(_)
                    | EventBody::SessionUpdated(_)
                    | EventBody::SessionClosed(_)
                    | EventBody::TaskStarted(_)
                    | EventBody::TaskSteered(_)
                    | EventBody::TaskCompleted(_)
                    | EventBody::TaskFailed(_)
                    | EventBody::TaskStopped(_)
                    | EventBody::ModelOutputCompleted(_)
                    | EventBody::ToolCallRequested(_)
                    | EventBody::UsageReported(_)
                    | EventBody::ToolCallCompleted(_)
                    | EventBody::ToolCallDenied(_)
                    | EventBody::QuestionAsked(_)
                    | EventBody::QuestionResolved(_)
            )
    }

    fn apply(&mut self, event: &NormalizedEvent) {
        self.messages += u64::from(is_message(&event.body));
        self.unknown_messages += u64::from(event.is_unknown_message());
        match &event.body {
            EventBody::TaskStarted(started) => {
                self.hidden = false;
                self.status = SessionStatus::Active;
                self.tasks += 1;
                self.mode = started.mode;
                self.open_task = event.trace.task_id.clone().map(|task_id| OpenTask {
                    task_id,
                    first_seq: event.seq,
                    started_at: event.time,
                });
                if self.title.is_none() {
                    self.title = started.messages.first().and_then(title_of);
                }
            }
            EventBody::SessionUpdated(update) => {
                let update = update.clone();
                self.status = update.status.unwrap_or(self.status);
                self.hidden = update.hidden.unwrap_or(self.hidden);
                self.mode = update.mode.unwrap_or(self.mode);
                self.title = update.title.or(self.title.take());
                self.model = update.model.or(self.model.take());
                self.runtime_config = update.runtime_config.or(self.runtime_config.take());
                self.runtime_config_hash = update.runtime_config_hash.or(self.runtime_config_hash.take());
                self.runtime_session_id = update.runtime_session_id.or(self.runtime_session_id.take());
                self.queue = update.queue.unwrap_or_else(|| std::mem::take(&mut self.queue));
            }
            EventBody::SessionClosed(_) => self.status = SessionStatus::Closed,
            body if self.usage.count(body) => return,
            body => match TaskOutcome::from_body(body) {
                Some(outcome) => {
                    self.open_task = None;
                    self.last_outcome = Some(outcome);
                    self.failure = match body {
                        EventBody::TaskFailed(failed) => Some(failed.reason.clone()),
                        _ => None,
                    };
                }
                None => return,
            },
        }
        self.updated_at = event.time;
    }
}

impl NormalizedEvent {
    /// Whether it is a message of the runtime's that meant nothing to Roost: a warning that holds the message itself.
    pub fn is_unknown_message(&self) -> bool {
        self.runtime.raw.is_some() && is_unknown(&self.body)
    }
}

/// Whether an event can be a native message that meant nothing to Roost; it is one if it came with that message.
fn is_unknown(body: &EventBody) -> bool {
    let unknown =
        |notice: &RuntimeNoticePayload| notice.source == NoticeSource::Protocol && notice.level == NoticeLevel::Warning;
    matches!(body, EventBody::RuntimeNotice(notice) if unknown(notice))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_free(cost: &f64) -> bool {
    *cost == 0.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The title that a message gives. One that was too big for its event is known by the name of its artifact, which is
/// its first line.
fn title_of(message: &TranscriptMessage) -> Option<String> {
    let named = || {
        message.content.iter().find_map(|block| match block {
            TranscriptContentBlock::ArtifactRef { name, .. } => name.clone(),
            _ => None,
        })
    };
    title(&message.text()).or_else(named)
}

/// The first line of a prompt that is not blank, cut to 80 characters (`TITLE_CHARS`); `None` if all lines are blank.
pub fn title(prompt: &str) -> Option<String> {
    let line = prompt.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(TITLE_CHARS).collect())
}
