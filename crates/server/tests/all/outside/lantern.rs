//! A runtime that no crate of Roost's knows of. Everything about it is in this file, which uses only what a crate of
//! somebody else's could use too: `roost-engine` and `roost-model`.
//!
//! A prompt is a tool call, as `NAME INPUT`. Lantern asks about it, says that it ran if it may, and ends its turn.

use async_trait::async_trait;
use roost_engine::adapter::{
    AdapterError, Answer, Availability, DRAFT_QUEUE, Draft, Fact, OpenSession, RuntimeAdapter, RuntimeSession,
    RuntimeTask, SentInput, StartedTask, TaskControl, TaskEnd, TaskInput, ToolOutcome,
};
use roost_engine::facts::{Action, ControlFiles, RuntimeFacts, Toolset};
use roost_engine::plain::{PlainSetting, Takes};
use roost_model::content::TranscriptMessage;
use roost_model::ids::{QuestionId, RuntimeSessionId};
use roost_model::payload::ToolCallRequestedPayload;
use roost_model::runtime::{
    AuthModel, AuthStatus, CancellationModel, McpSupport, PermissionModel, ResumeModel, RuntimeCapabilities,
    RuntimeEnv, RuntimeIsolationMode, RuntimeName, RuntimeStateModel, ToolExecutionModel, ToolReplaySafety,
};
use roost_model::sources::ImplicitSources;
use roost_model::tool::ToolCallIdentity;
use serde_json::Value;
use tokio::sync::mpsc;

static FACTS: RuntimeFacts = RuntimeFacts {
    preference: Some(7),
    plain_settings: &[PlainSetting { path: &["glow"], takes: Takes::OneOf(&["dim", "bright"]) }],
    tools: Toolset {
        actions: &[(Action::Read, &["look"]), (Action::Edit, &["paint"]), (Action::Shell, &["run"])],
        silent_fields: &["wick"],
        ..Toolset::UNKNOWN
    },
    control_files: ControlFiles { folders: &["lantern.d"], files: &["lantern.toml"] },
    ..RuntimeFacts::UNKNOWN
};

/// The adapter of a runtime that is none of Roost's own.
pub(super) struct Lantern;

struct Session;

struct Control {
    drafts: mpsc::Sender<Vec<Draft>>,
}

impl Control {
    /// Ends the turn, after these.
    async fn end(&self, before: impl IntoIterator<Item = Fact>) -> Result<(), AdapterError> {
        let end = Fact::Ended(TaskEnd::Completed("end_turn".into()));
        let batch = before.into_iter().chain([end]).map(Draft::from).collect();
        self.drafts.send(batch).await.map_err(|_| AdapterError::Unsupported("talk to nobody"))
    }
}

#[async_trait]
impl RuntimeAdapter for Lantern {
    fn name(&self) -> RuntimeName {
        RuntimeName::from_id("lantern")
    }

    fn display_name(&self) -> &str {
        "Lantern"
    }

    fn facts(&self) -> &'static RuntimeFacts {
        &FACTS
    }

    fn capabilities(&self) -> RuntimeCapabilities {
        RuntimeCapabilities {
            supports_streaming: false,
            supports_tool_calls: true,
            supports_parallel_tool_calls: false,
            supports_stop: true,
            supports_artifacts: false,
            supports_session_create: true,
            supports_session_resume: false,
            supports_usage_reporting: false,
            supports_non_interactive: true,
            max_outstanding_tool_calls: Some(1),
            auth_model: AuthModel::Unknown,
            tool_execution_model: ToolExecutionModel::RuntimeInternal,
            permission_model: PermissionModel::Hybrid,
            state_model: RuntimeStateModel::InProcess,
            resume_model: ResumeModel::None,
            tool_replay_safety: ToolReplaySafety::RequiresReapproval,
            mcp_support: McpSupport::None,
            mcp_transports: None,
            cancellation_model: CancellationModel::BestEffort,
            supported_isolation_modes: vec![RuntimeIsolationMode::InProcess],
            recommended_isolation_mode: RuntimeIsolationMode::InProcess,
        }
    }

    fn asks_questions(&self) -> bool {
        false
    }

    async fn availability(&self, _: &RuntimeEnv) -> Availability {
        Availability::Installed { version: Some("1.0".into()) }
    }

    async fn auth_status(&self, _: &RuntimeEnv) -> AuthStatus {
        let auth_model = AuthModel::Unknown;
        AuthStatus { ok: true, logged_in: true, auth_model, account_label: None, details: None }
    }

    async fn ensure_login(&self, _: &RuntimeEnv) -> Option<String> {
        None
    }

    async fn create_session(&self, _: OpenSession) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        Ok(Box::new(Session))
    }

    async fn resume_session(
        &self,
        _: OpenSession,
        native: RuntimeSessionId,
    ) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        Err(AdapterError::UnknownSession(native))
    }
}

#[async_trait]
impl RuntimeSession for Session {
    fn native_id(&self) -> Option<RuntimeSessionId> {
        None
    }

    async fn start_task(&mut self, input: TaskInput) -> Result<StartedTask, AdapterError> {
        let prompt: String = input.messages.iter().map(TranscriptMessage::text).collect();
        let (name, call) = prompt.split_once(' ').unwrap_or((&prompt, "{}"));
        let call: Value = serde_json::from_str(call).unwrap_or_default();
        let asked = ToolCallRequestedPayload {
            identity: ToolCallIdentity::first(None, &call),
            name: name.into(),
            input: call,
            input_ref: None,
            title: None,
            kind: None,
        };
        let (drafts, receiver) = mpsc::channel(DRAFT_QUEUE);
        // An empty queue has room.
        let _ = drafts.try_send(vec![Fact::ToolAsks(asked).into()]);
        Ok(StartedTask {
            input: SentInput::from_task(&input, ImplicitSources::disabled("it reads nothing")),
            task: RuntimeTask { drafts: receiver, control: Box::new(Control { drafts }) },
        })
    }

    async fn exited(&mut self) {
        std::future::pending().await
    }

    async fn close(self: Box<Self>) {}
}

#[async_trait]
impl TaskControl for Control {
    async fn send_tool_result(&self, _: &ToolCallIdentity, _: Value) -> Result<(), AdapterError> {
        Err(AdapterError::Unsupported("have the host run a tool"))
    }

    async fn send_tool_approved(&self, call: &ToolCallIdentity) -> Result<(), AdapterError> {
        let id = &call.tool_call_id;
        let done = ToolOutcome::of_runtime(id.clone(), Some("lit".into()), false);
        self.end([Fact::ToolStarted(id.clone()), Fact::ToolCompleted(done)]).await
    }

    async fn send_tool_denied(&self, _: &ToolCallIdentity, _: &str) -> Result<(), AdapterError> {
        self.end([]).await
    }

    async fn send_answer(&self, question: &QuestionId, _: Answer) -> Result<(), AdapterError> {
        Err(AdapterError::NotPending(question.to_string()))
    }

    async fn steer(&self, _: TranscriptMessage) -> Result<(), AdapterError> {
        Err(AdapterError::Unsupported("be steered"))
    }

    async fn stop(&self) -> Result<(), AdapterError> {
        self.end([]).await
    }
}
