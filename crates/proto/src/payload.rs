//! The typed payload of every event, seed 001's under their own names first, then Roost's own.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::content::{ArtifactRef, AssistantContentBlock, TranscriptMessage};
use crate::failure::TaskError;
use crate::ids::{ClientId, PromptId, QuestionId, RequestId, RuntimeSessionId, ToolCallId};
use crate::mode::{Mode, PermissionMode};
use crate::runtime::{InteractionMode, RuntimeName};
use crate::session::{QueuedPrompt, SessionStatus};
use crate::tool::{
    PolicyResult, PolicySource, ToolCallIdentity, ToolExecutedBy, ToolExecutionEnv, ToolPolicySnapshot,
    ToolSandboxSummary,
};

macro_rules! payload {
    ($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident: $ty:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        pub struct $name { $($(#[$fdoc])* pub $field: $ty),* }
    };
}

payload! {
    /// `session.created`: what the session was made with.
    SessionCreatedPayload {
        /// The version of this contract.
        contract_version: String,
        /// Which runtime serves it.
        runtime: RuntimeName,
        /// The working directory.
        cwd: String,
        /// Whose runtime state and credentials are used.
        credential_namespace: String,
        /// A name for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// The model asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The mode in the seed's words.
        permission_mode: PermissionMode,
        /// The mode in ours.
        mode: Mode,
    }
}
payload! {
    /// `task.started`: the new messages only, never the compiled history.
    TaskStartedPayload {
        /// What the user said.
        messages: Vec<TranscriptMessage>,
        /// The mode in the seed's words.
        permission_mode: PermissionMode,
        /// The mode in ours.
        mode: Mode,
        /// Whether somebody may be asked.
        interaction_mode: InteractionMode,
        /// The queued prompt that this task serves.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt_id: Option<PromptId>,
    }
}

/// How a context was made to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContextStrategy {
    /// It fitted.
    None,
    /// The oldest messages were left out.
    TruncateOldest,
}

payload! {
    /// What of the transcript reached the runtime.
    ContextWindow {
        /// How it was made to fit.
        strategy: ContextStrategy,
        /// The limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_chars: Option<u64>,
        /// The messages left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        omitted_indices: Option<Vec<u64>>,
        /// Even the last message was too big.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        overflow: Option<bool>,
    }
}
payload! {
    /// `model.input`: the canonical input that went to the runtime.
    ModelInputPayload {
        /// The input's bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input_ref: Option<ArtifactRef>,
        /// `sha256:<hex>` of the canonical input.
        input_hash: String,
        /// What of the transcript it holds.
        context_window: ContextWindow,
        /// Files the runtime reads by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        implicit_sources_ref: Option<ArtifactRef>,
    }
}
payload! {
    /// `runtime.request.started`: a request went to the runtime.
    RuntimeRequestStartedPayload {
        /// Which one.
        request_id: RequestId,
        /// The runtime's name for it.
        method: String,
    }
}

/// How a request to a runtime ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RequestStatus {
    /// It was answered.
    Ok,
    /// It was answered with an error.
    Error,
}

payload! {
    /// `runtime.request.completed`: the runtime answered.
    RuntimeRequestCompletedPayload {
        /// Which one.
        request_id: RequestId,
        /// The runtime's name for it.
        method: String,
        /// How it ended.
        status: RequestStatus,
        /// How long it took.
        duration_ms: u64,
    }
}

/// What a delta is a piece of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelOutputDeltaKind {
    /// The answer.
    TextDelta,
    /// A tool's input while it is written.
    JsonDelta,
    /// Source code.
    CodeDelta,
    /// The agent's thinking (not in the seed).
    ReasoningDelta,
    /// Something else.
    UnknownDelta,
}

payload! {
    /// `model.output.delta`: a piece of output.
    ModelOutputDeltaPayload {
        /// What it is a piece of.
        kind: ModelOutputDeltaKind,
        /// The block it belongs to; stable within a task.
        block_id: Arc<str>,
        /// The piece.
        delta: String,
        /// The tool call whose input it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<ToolCallId>,
        /// The language of code.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        language: Option<String>,
    }
}
payload! {
    /// `model.output.completed`: a finished answer.
    ModelOutputCompletedPayload {
        /// Its blocks.
        content: Vec<AssistantContentBlock>,
    }
}

/// What a tool does, as far as its runtime tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Reads.
    Read,
    /// Changes a file.
    Edit,
    /// Deletes a file.
    Delete,
    /// Moves a file.
    Move,
    /// Searches.
    Search,
    /// Runs a command.
    Execute,
    /// Thinks.
    Think,
    /// Fetches from the network.
    Fetch,
    /// Changes the session's mode.
    SwitchMode,
    /// Something else.
    Other,
}

payload! {
    /// `tool.call.requested`: the agent wants a tool to run.
    ToolCallRequestedPayload {
        /// Which call.
        #[serde(flatten)]
        identity: ToolCallIdentity,
        /// The tool.
        name: String,
        /// Its input.
        input: Value,
        /// A line for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// What it does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<ToolKind>,
    }
}
payload! {
    /// `tool.call.policy_evaluated`: one layer's word.
    ToolCallPolicyEvaluatedPayload {
        /// Which call.
        #[serde(flatten)]
        identity: ToolCallIdentity,
        /// Which layer.
        source: PolicySource,
        /// What it says.
        result: PolicyResult,
        /// Its rule's name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
    }
}
payload! {
    /// `tool.call.approved`: the call may run.
    ToolCallApprovedPayload {
        /// Which call.
        #[serde(flatten)]
        identity: ToolCallIdentity,
    }
}
payload! {
    /// `tool.call.denied`: the call may not run.
    ToolCallDeniedPayload {
        /// Which call.
        #[serde(flatten)]
        identity: ToolCallIdentity,
        /// The tool.
        name: String,
        /// Why, as the runtime was told.
        reason: String,
        /// The policy as it stood.
        policy_snapshot: ToolPolicySnapshot,
    }
}
payload! {
    /// `tool.call.started`: the tool runs.
    ToolCallStartedPayload {
        /// Which call.
        #[serde(flatten)]
        identity: ToolCallIdentity,
    }
}

/// A tool's output stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

payload! {
    /// `tool.output.delta`: a piece of a tool's output.
    ToolOutputDeltaPayload {
        /// Which call.
        #[serde(flatten)]
        identity: ToolCallIdentity,
        /// Which stream.
        stream: OutputStream,
        /// The piece.
        delta: String,
    }
}
payload! {
    /// `tool.output.completed`: a tool's whole output.
    ToolOutputCompletedPayload {
        /// Which call.
        #[serde(flatten)]
        identity: ToolCallIdentity,
        /// Standard output.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stdout: Option<String>,
        /// Standard error.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stderr: Option<String>,
    }
}
payload! {
    /// `tool.call.completed`: the tool is done.
    ToolCallCompletedPayload {
        /// Which call.
        #[serde(flatten)]
        identity: ToolCallIdentity,
        /// The tool.
        name: String,
        /// Who ran it.
        executed_by: ToolExecutedBy,
        /// Where it ran.
        execution_env: ToolExecutionEnv,
        /// The policy as it stood.
        policy_snapshot: ToolPolicySnapshot,
        /// What its sandbox allowed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sandbox: Option<ToolSandboxSummary>,
        /// A big result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result_ref: Option<ArtifactRef>,
        /// A small result, or the start of a big one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result_preview: Option<Value>,
        /// It failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
    }
}

/// How full the runtime's context is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextFill {
    /// Tokens used.
    pub used: u64,
    /// Tokens that fit.
    pub size: u64,
}

payload! {
    /// `usage.reported`: one shape for every runtime; what a runtime does not tell is absent.
    UsageReportedPayload {
        /// Tokens in, cached ones included.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input_tokens: Option<u64>,
        /// Tokens in that came from a cache.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cached_input_tokens: Option<u64>,
        /// Tokens out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output_tokens: Option<u64>,
        /// Tokens out that were thinking.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reasoning_tokens: Option<u64>,
        /// What it cost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost_usd: Option<f64>,
        /// How full the context is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<ContextFill>,
    }
}
payload! {
    /// `task.completed`: the agent is done.
    TaskCompletedPayload {
        /// Why it ended, in the runtime's word (`end_turn`, `max_tokens`, …).
        reason: String,
    }
}
payload! {
    /// `task.failed`: the agent is not done and will not be.
    TaskFailedPayload {
        /// What happened, for people.
        reason: String,
        /// What happened, for programs.
        error: TaskError,
    }
}
payload! {
    /// `task.stopped`: somebody stopped the agent.
    TaskStoppedPayload {
        /// Why.
        reason: String,
    }
}
payload! {
    /// `session.updated`: what changed about a session; absent means unchanged.
    #[derive(Default)]
    SessionUpdatedPayload {
        /// Its state.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<SessionStatus>,
        /// Its name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// Its model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// Its mode.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<Mode>,
        /// The runtime's id for it became known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        runtime_session_id: Option<RuntimeSessionId>,
        /// The prompts that wait now, all of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queue: Option<Vec<QueuedPrompt>>,
        /// Why, where that is not plain.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
}
payload! {
    /// `session.closed`: the session's process and resources are gone.
    SessionClosedPayload {
        /// Why.
        reason: String,
    }
}
payload! {
    /// One choice of a question.
    QuestionOption {
        /// What is sent back.
        value: String,
        /// What people read.
        label: String,
        /// More about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
    }
}
payload! {
    /// One field of a question.
    QuestionField {
        /// The key of the answer.
        id: String,
        /// What people read.
        label: String,
        /// The choices; none means free text.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        options: Vec<QuestionOption>,
        /// Several choices may be taken.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        multiple: bool,
        /// It must be answered.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        required: bool,
    }
}
payload! {
    /// `question.asked`: the agent asks the user.
    QuestionAskedPayload {
        /// Which question.
        question_id: QuestionId,
        /// What it asks.
        message: String,
        /// What an answer holds.
        fields: Vec<QuestionField>,
        /// The tool call that asks.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<ToolCallId>,
    }
}

/// What came of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum QuestionOutcome {
    /// It was answered.
    Answered,
    /// Somebody refused to answer, or nobody could.
    Declined,
    /// The task ended first.
    Cancelled,
}

payload! {
    /// `question.resolved`: the question is no longer open.
    QuestionResolvedPayload {
        /// Which question.
        question_id: QuestionId,
        /// What came of it.
        outcome: QuestionOutcome,
        /// The answers by field.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        answers: BTreeMap<String, Vec<String>>,
        /// Who answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answered_by: Option<ClientId>,
        /// Why it was not answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
}

/// How far a step of a plan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    /// Not begun.
    Pending,
    /// Under way.
    InProgress,
    /// Done.
    Completed,
}

/// How much a step of a plan matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PlanPriority {
    /// Much.
    High,
    /// Some.
    Medium,
    /// Little.
    Low,
}

payload! {
    /// One step of a plan.
    PlanEntry {
        /// What is to be done.
        content: String,
        /// How much it matters.
        priority: PlanPriority,
        /// How far it is.
        status: PlanStatus,
    }
}
payload! {
    /// `plan.updated`: the whole plan as it now stands.
    PlanUpdatedPayload {
        /// Its steps.
        entries: Vec<PlanEntry>,
    }
}

/// How much a notice matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NoticeLevel {
    /// Good to know.
    Info,
    /// Something was odd.
    Warning,
    /// Something went wrong.
    Error,
}

/// Where a notice comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NoticeSource {
    /// A line on stdout that is not protocol.
    Stdout,
    /// A line on stderr.
    Stderr,
    /// A protocol message that means nothing to us; kept raw.
    Protocol,
    /// Roost itself.
    Engine,
}

payload! {
    /// `runtime.notice`: noise, stderr, and native messages without a meaning of their own.
    RuntimeNoticePayload {
        /// How much it matters.
        level: NoticeLevel,
        /// Where it comes from.
        source: NoticeSource,
        /// What it says.
        message: String,
    }
}
