//! What a runtime can do, and the words it is said in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

wire_enum! {
    /// How a runtime's user logs in.
    AuthModel {
        /// OAuth with the credential on local disk.
        OauthLocal,
        /// An API key.
        ApiKey,
        /// Either.
        Both,
        /// The runtime does not say.
        Unknown,
    }
}
wire_enum! {
    /// Who executes tools.
    ToolExecutionModel {
        /// Tools reach the runtime over MCP.
        ExternalMcp,
        /// The runtime runs its own tools.
        RuntimeInternal,
        /// Both.
        Hybrid,
    }
}
wire_enum! {
    /// Who decides whether a tool may run.
    PermissionModel {
        /// The host alone.
        Codesdk,
        /// The runtime alone.
        Runtime,
        /// The runtime asks the host for some calls.
        Hybrid,
    }
}
wire_enum! {
    /// Where a runtime keeps its state.
    RuntimeStateModel {
        /// In its process.
        InProcess,
        /// On local disk.
        LocalDisk,
        /// On a server.
        ServerSide,
        /// In several places.
        Hybrid,
        /// The runtime does not say.
        Unknown,
    }
}
wire_enum! {
    /// How an ended session is continued.
    ResumeModel {
        /// The runtime continues it by its own id.
        Native,
        /// The host rebuilds the context from its transcript.
        Reconstruct,
        /// Not at all.
        None,
    }
}
wire_enum! {
    /// Whether a tool call may be repeated after a resume.
    ToolReplaySafety {
        /// Repeating is harmless.
        SafeReplay,
        /// Someone must approve again.
        RequiresReapproval,
        /// The runtime does not say.
        Unknown,
    }
}
wire_enum! {
    /// A runtime's part in MCP.
    McpSupport {
        /// None.
        None,
        /// It calls servers.
        ClientOnly,
        /// It is a server.
        ServerOnly,
        /// Both.
        Both,
    }
}
wire_enum! {
    /// An MCP transport.
    McpTransport {
        /// A child process.
        Stdio,
        /// Server-sent events.
        Sse,
        /// Streamable HTTP.
        Http,
    }
}
wire_enum! {
    /// What cancelling promises.
    CancellationModel {
        /// It is tried.
        BestEffort,
        /// It happens.
        Guaranteed,
        /// The runtime does not say.
        Unknown,
    }
}
wire_enum! {
    /// How a runtime is hosted.
    #[derive(PartialOrd, Ord)]
    RuntimeIsolationMode {
        /// In the host's own process.
        InProcess,
        /// In a process with its own environment.
        Subprocess,
        /// On a server that is there already.
        ServerSide,
    }
}

/// What a runtime can do, as observed and not as advertised by us.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeCapabilities {
    /// Output arrives in deltas.
    pub supports_streaming: bool,
    /// Tool calls are visible.
    pub supports_tool_calls: bool,
    /// Several tool calls may be open at once.
    pub supports_parallel_tool_calls: bool,
    /// A running task can be stopped.
    pub supports_stop: bool,
    /// Artifacts can be passed.
    pub supports_artifacts: bool,
    /// New sessions can be made.
    pub supports_session_create: bool,
    /// Ended sessions can be continued natively.
    pub supports_session_resume: bool,
    /// Token usage is reported.
    pub supports_usage_reporting: bool,
    /// The runtime works with nobody at the terminal.
    pub supports_non_interactive: bool,
    /// Most tool calls open at once in a task; at least 1.
    #[schemars(range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_outstanding_tool_calls: Option<u32>,
    /// How its user logs in.
    pub auth_model: AuthModel,
    /// Who executes tools.
    pub tool_execution_model: ToolExecutionModel,
    /// Who decides about tools.
    pub permission_model: PermissionModel,
    /// Where its state lives.
    pub state_model: RuntimeStateModel,
    /// How a session is continued.
    pub resume_model: ResumeModel,
    /// Whether a tool call may be repeated.
    pub tool_replay_safety: ToolReplaySafety,
    /// Its part in MCP.
    pub mcp_support: McpSupport,
    /// The MCP transports it speaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_transports: Option<Vec<McpTransport>>,
    /// What cancelling promises.
    pub cancellation_model: CancellationModel,
    /// How it may be hosted.
    pub supported_isolation_modes: Vec<RuntimeIsolationMode>,
    /// How it should be hosted.
    pub recommended_isolation_mode: RuntimeIsolationMode,
}
