//! The runtime of sessions that belong to clients of the MCP gateway. It is no program: the client runs elsewhere, and its
//! session only holds the calls that a person is asked about.

use async_trait::async_trait;
use roost_model::content::TranscriptMessage;
use roost_model::ids::{QuestionId, RuntimeSessionId};
use roost_model::runtime::{
    AuthModel, AuthStatus, CancellationModel, McpSupport, PermissionModel, ResumeModel, RuntimeCapabilities,
    RuntimeEnv, RuntimeIsolationMode, RuntimeName, RuntimeStateModel, ToolExecutionModel, ToolReplaySafety,
};
use roost_model::tool::ToolCallIdentity;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::adapter::{
    AdapterError, Answer, Availability, Draft, Fact, OpenSession, RuntimeAdapter, RuntimeSession, RuntimeTask,
    TaskControl, TaskEnd,
};
use crate::facts::RuntimeFacts;

const UNPROMPTABLE: AdapterError = AdapterError::Unsupported("be prompted, because it is a client of the MCP gateway");

/// See the module.
pub(crate) struct McpClientAdapter;

#[async_trait]
impl RuntimeAdapter for McpClientAdapter {
    fn name(&self) -> RuntimeName {
        RuntimeName::McpClient
    }

    fn display_name(&self) -> &str {
        "MCP client"
    }

    fn facts(&self) -> &'static RuntimeFacts {
        &RuntimeFacts::UNKNOWN
    }

    fn capabilities(&self) -> RuntimeCapabilities {
        RuntimeCapabilities {
            supports_streaming: false,
            supports_tool_calls: true,
            supports_parallel_tool_calls: true,
            supports_stop: true,
            supports_artifacts: false,
            supports_session_create: false,
            supports_session_resume: false,
            supports_usage_reporting: false,
            supports_non_interactive: false,
            max_outstanding_tool_calls: None,
            auth_model: AuthModel::Unknown,
            tool_execution_model: ToolExecutionModel::ExternalMcp,
            permission_model: PermissionModel::Codesdk,
            state_model: RuntimeStateModel::InProcess,
            resume_model: ResumeModel::None,
            tool_replay_safety: ToolReplaySafety::RequiresReapproval,
            mcp_support: McpSupport::ClientOnly,
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
        Availability::Missing { reason: UNPROMPTABLE.to_string() }
    }

    async fn auth_status(&self, _: &RuntimeEnv) -> AuthStatus {
        let auth_model = AuthModel::Unknown;
        AuthStatus { ok: true, logged_in: true, auth_model, account_label: None, details: None }
    }

    async fn ensure_login(&self, _: &RuntimeEnv) -> Option<String> {
        None
    }

    async fn create_session(&self, _: OpenSession) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        Err(UNPROMPTABLE)
    }

    async fn resume_session(
        &self,
        _: OpenSession,
        _: RuntimeSessionId,
    ) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        Err(UNPROMPTABLE)
    }
}

/// A task that lasts while calls of the client are open. Nothing is reported by it but its stop.
pub(crate) fn task() -> RuntimeTask {
    let (sender, drafts) = mpsc::channel(1);
    RuntimeTask { drafts, control: Box::new(ClientControl { drafts: sender }) }
}

struct ClientControl {
    drafts: mpsc::Sender<Vec<Draft>>,
}

#[async_trait]
impl TaskControl for ClientControl {
    async fn send_tool_result(&self, call: &ToolCallIdentity, _: Value) -> Result<(), AdapterError> {
        Err(AdapterError::NotPending(call.tool_call_id.to_string()))
    }

    async fn send_tool_approved(&self, call: &ToolCallIdentity) -> Result<(), AdapterError> {
        Err(AdapterError::NotPending(call.tool_call_id.to_string()))
    }

    async fn send_tool_denied(&self, call: &ToolCallIdentity, _: &str) -> Result<(), AdapterError> {
        Err(AdapterError::NotPending(call.tool_call_id.to_string()))
    }

    async fn send_answer(&self, question: &QuestionId, _: Answer) -> Result<(), AdapterError> {
        Err(AdapterError::NotPending(question.to_string()))
    }

    async fn steer(&self, _: TranscriptMessage) -> Result<(), AdapterError> {
        Err(UNPROMPTABLE)
    }

    async fn stop(&self) -> Result<(), AdapterError> {
        let ended = Fact::Ended(TaskEnd::Stopped("stopped".into()));
        // A stop that waits already is the same stop.
        let _ = self.drafts.try_send(vec![ended.into()]);
        Ok(())
    }
}
