//! The capabilities of an ACP agent, from its handshake and its profile.

use agent_client_protocol_schema::v1 as acp;
use roost_model::runtime::{
    AuthModel, CancellationModel, McpSupport, McpTransport, PermissionModel, ResumeModel, RuntimeCapabilities,
    RuntimeIsolationMode, RuntimeStateModel, ToolExecutionModel, ToolReplaySafety,
};

use super::presets::AgentProfile;

/// The capabilities of an agent. Before its first handshake only those that every ACP agent has are claimed.
pub(super) fn capabilities(handshake: Option<&acp::InitializeResponse>, profile: AgentProfile) -> RuntimeCapabilities {
    let agent = handshake.map(|handshake| &handshake.agent_capabilities);
    let resumes = agent.is_some_and(|agent| agent.load_session || agent.session_capabilities.resume.is_some());
    let mut transports = vec![McpTransport::Stdio];
    if agent.is_some_and(|agent| agent.mcp_capabilities.http) {
        transports.push(McpTransport::Http);
    }
    RuntimeCapabilities {
        supports_streaming: true,
        supports_tool_calls: true,
        supports_parallel_tool_calls: profile.asks_in_parallel,
        supports_stop: true,
        supports_artifacts: false,
        supports_session_create: true,
        supports_session_resume: resumes,
        supports_usage_reporting: profile.counts_tokens,
        // Without a person every request is denied, so the agent must survive denials.
        supports_non_interactive: profile.outlives_refusals,
        max_outstanding_tool_calls: None,
        auth_model: match handshake {
            Some(handshake) if handshake.auth_methods.is_empty() => AuthModel::Unknown,
            Some(_) => AuthModel::Both,
            None => AuthModel::Unknown,
        },
        tool_execution_model: ToolExecutionModel::RuntimeInternal,
        permission_model: PermissionModel::Hybrid,
        state_model: if resumes { RuntimeStateModel::LocalDisk } else { RuntimeStateModel::InProcess },
        resume_model: if resumes { ResumeModel::Native } else { ResumeModel::Reconstruct },
        tool_replay_safety: ToolReplaySafety::RequiresReapproval,
        mcp_support: McpSupport::ClientOnly,
        mcp_transports: Some(transports),
        cancellation_model: CancellationModel::BestEffort,
        supported_isolation_modes: vec![RuntimeIsolationMode::Subprocess],
        recommended_isolation_mode: RuntimeIsolationMode::Subprocess,
    }
}
