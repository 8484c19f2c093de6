//! Sessions and tasks as states, and the session record that a stream of events adds up to.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::content::{TranscriptContentBlock, TranscriptMessage};
use crate::event::{EventBody, NormalizedEvent};
use crate::ids::{PromptId, RuntimeSessionId, SessionId, TaskId, WorkspaceId};
use crate::mode::Mode;
use crate::payload::{NoticeLevel, NoticeSource, RuntimeNoticePayload};
use crate::runtime::{IsolationLevel, RuntimeName};
use crate::time::Timestamp;
use crate::transcript::is_message;

/// Where a session stands (seed 002).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SessionStatus {
    /// It exists; no process yet.
    Created,
    /// It has been prompted; its process may run.
    Active,
    /// Its process is being ended.
    Ending,
    /// Its process and resources are gone; it can be resumed.
    Closed,
}

/// What can happen to a session as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionStep {
    /// Somebody prompts it.
    Prompt,
    /// Stop, close, expiry, exit or restart.
    End,
    /// Its process is gone.
    Gone,
}

/// A step that a session cannot take from where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a session that is {from} cannot take the step {step:?}")]
pub struct IllegalStep {
    /// Where it stands.
    pub from: SessionStatus,
    /// The step.
    pub step: SessionStep,
}

impl SessionStatus {
    /// Where the session stands after this step.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TaskOutcome {
    /// The agent finished.
    Completed,
    /// It did not.
    Failed,
    /// Somebody stopped it.
    Stopped,
}

impl TaskOutcome {
    /// The outcome that a task's last event tells.
    pub fn of(body: &EventBody) -> Option<Self> {
        match body {
            EventBody::TaskCompleted(_) => Some(Self::Completed),
            EventBody::TaskFailed(_) => Some(Self::Failed),
            EventBody::TaskStopped(_) => Some(Self::Stopped),
            _ => None,
        }
    }
}

/// A prompt that waits for the running task to end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueuedPrompt {
    /// Which prompt.
    pub prompt_id: PromptId,
    /// What the user said.
    pub message: TranscriptMessage,
    /// It was queued before a restart and waits for somebody to release it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held: bool,
}

/// The task that runs now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenTask {
    /// Which task.
    pub task_id: TaskId,
    /// Its first event.
    pub first_seq: u64,
    /// Since when.
    pub started_at: Timestamp,
}

/// What was there of a session before Roost hosted it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Adopted {
    /// The runtime's id for it.
    pub runtime_session_id: RuntimeSessionId,
    /// How many messages it had, which only its runtime keeps.
    pub messages: u64,
}

/// Where a session that goes on from another one left it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Forked {
    /// The other session.
    pub session_id: SessionId,
    /// Its last event that belongs to both.
    pub seq: u64,
    /// How many tasks it had had.
    pub tasks: u64,
    /// How many messages it had.
    pub messages: u64,
}

/// What is known of a session: the sum of its events, and nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionRecord {
    /// Which session.
    pub session_id: SessionId,
    /// Which runtime serves it.
    pub runtime: RuntimeName,
    /// Where it stands.
    pub status: SessionStatus,
    /// Its working directory.
    pub cwd: String,
    /// Whose runtime state and credentials it uses.
    pub credential_namespace: String,
    /// How much it may do unasked.
    pub mode: Mode,
    /// Its name; the first prompt's first line when nobody gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The runtime's own id for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_session_id: Option<RuntimeSessionId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// The task that runs now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_task: Option<OpenTask>,
    /// How the last task ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_outcome: Option<TaskOutcome>,
    /// How many tasks it has had.
    pub tasks: u64,
    /// How many messages its history has.
    #[serde(default)]
    pub messages: u64,
    /// How many messages of its runtime meant nothing to Roost; each is in the log as it came.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unknown_messages: u64,
    /// Somebody took it off the lists.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// The prompts that wait.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queue: Vec<QueuedPrompt>,
    /// The workspace it was made in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    /// How much of the user's home its runtime shares, where the session says so itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<IsolationLevel>,
    /// The names of the variables that its runtime gets; their values are told nobody else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// The runtime's own configuration, passed on and never interpreted; secrets are taken out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_config: Option<Map<String, Value>>,
    /// The hash of that configuration with its secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_config_hash: Option<String>,
    /// It began outside of Roost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adopted: Option<Adopted>,
    /// It goes on from where another session was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked: Option<Forked>,
}

fn earlier(adopted: Option<&Adopted>, forked: Option<&Forked>) -> u64 {
    adopted.map_or(0, |adopted| adopted.messages) + forked.map_or(0, |forked| forked.messages)
}

/// Characters of a prompt that make a title.
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
                tasks: 0,
                messages: earlier(made.adopted.as_ref(), made.forked.as_ref()),
                unknown_messages: 0,
                hidden: false,
                queue: Vec::new(),
                workspace_id: made.workspace_id.clone(),
                isolation: made.isolation,
                env: made.env.clone(),
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

    /// The events that [`SessionRecord::after`] looks at.
    pub fn concerns(body: &EventBody) -> bool {
        is_unknown(body)
            || matches!(
                body,
                EventBody::SessionCreated(_)
                    | EventBody::SessionUpdated(_)
                    | EventBody::SessionClosed(_)
                    | EventBody::TaskStarted(_)
                    | EventBody::TaskCompleted(_)
                    | EventBody::TaskFailed(_)
                    | EventBody::TaskStopped(_)
                    | EventBody::ModelOutputCompleted(_)
                    | EventBody::ToolCallRequested(_)
                    | EventBody::ToolCallCompleted(_)
                    | EventBody::ToolCallDenied(_)
                    | EventBody::QuestionAsked(_)
                    | EventBody::QuestionResolved(_)
            )
    }

    fn apply(&mut self, event: &NormalizedEvent) {
        self.messages += u64::from(is_message(&event.body));
        self.unknown_messages += u64::from(is_unknown(&event.body) && event.runtime.raw.is_some());
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
                self.runtime_session_id = update.runtime_session_id.or(self.runtime_session_id.take());
                self.queue = update.queue.unwrap_or_else(|| std::mem::take(&mut self.queue));
            }
            EventBody::SessionClosed(_) => self.status = SessionStatus::Closed,
            body => match TaskOutcome::of(body) {
                Some(outcome) => {
                    self.open_task = None;
                    self.last_outcome = Some(outcome);
                }
                None => return,
            },
        }
        self.updated_at = event.time;
    }
}

/// Whether an event can be a native message that meant nothing to Roost; it is one if it came with that message.
fn is_unknown(body: &EventBody) -> bool {
    let unknown =
        |notice: &RuntimeNoticePayload| notice.source == NoticeSource::Protocol && notice.level == NoticeLevel::Warning;
    matches!(body, EventBody::RuntimeNotice(notice) if unknown(notice))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The title that a message gives; one that was too big for its event is known by its first line.
fn title_of(message: &TranscriptMessage) -> Option<String> {
    let named = || {
        message.content.iter().find_map(|block| match block {
            TranscriptContentBlock::ArtifactRef { name, .. } => name.clone(),
            _ => None,
        })
    };
    title(&message.text()).or_else(named)
}

/// The first line of a prompt that says something, cut to what a list can show.
pub fn title(prompt: &str) -> Option<String> {
    let line = prompt.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(TITLE_CHARS).collect())
}
