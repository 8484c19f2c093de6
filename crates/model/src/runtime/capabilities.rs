//! What a runtime can do, in seed 001's vocabulary.

use serde::{Deserialize, Serialize};

wire_enum! {
    /// How a runtime's user logs in.
    AuthModel {
        /// With OAuth; the credential lies on the local disk.
        OauthLocal,
        /// With an API key.
        ApiKey,
        /// Either with OAuth or with an API key.
        Both,
        /// The runtime does not say.
        Unknown,
    }
}
wire_enum! {
    /// Who runs the tools that an agent calls.
    ToolExecutionModel {
        /// MCP servers outside the runtime.
        ExternalMcp,
        /// The runtime itself.
        RuntimeInternal,
        /// The runtime runs its own tools and calls those of MCP servers.
        Hybrid,
    }
}
wire_enum! {
    /// Who decides whether a tool may run.
    PermissionModel {
        /// Roost alone; the runtime follows.
        Codesdk,
        /// The runtime alone; Roost is not asked.
        Runtime,
        /// Both: the runtime asks Roost about the calls that it does not decide itself.
        Hybrid,
    }
}
wire_enum! {
    /// Where a runtime keeps its state.
    RuntimeStateModel {
        /// In memory; lost when its process ends.
        InProcess,
        /// In files on this machine.
        LocalDisk,
        /// On a server.
        ServerSide,
        /// In more than one of these places.
        Hybrid,
        /// The runtime does not say.
        Unknown,
    }
}
wire_enum! {
    /// How an ended session is continued.
    ResumeModel {
        /// The runtime reloads the conversation by its own id.
        Native,
        /// Roost sends the conversation again, from its transcript.
        Reconstruct,
        /// It cannot be continued.
        None,
    }
}
wire_enum! {
    /// Whether a tool call may be repeated after a resume.
    ToolReplaySafety {
        /// Running it again is harmless.
        SafeReplay,
        /// It must be approved again.
        RequiresReapproval,
        /// The runtime does not say.
        Unknown,
    }
}
wire_enum! {
    /// Which roles a runtime can take in the Model Context Protocol.
    McpSupport {
        /// It does not speak MCP.
        None,
        /// It calls tools of MCP servers.
        ClientOnly,
        /// It offers its own tools as an MCP server.
        ServerOnly,
        /// It is both client and server.
        Both,
    }
}
wire_enum! {
    /// A transport of the Model Context Protocol.
    McpTransport {
        /// Standard input and output of a child process.
        Stdio,
        /// Server-sent events over HTTP.
        Sse,
        /// Streamable HTTP, which replaces SSE.
        Http,
    }
}
wire_enum! {
    /// What the runtime guarantees when a task is stopped.
    CancellationModel {
        /// It tries to stop, but may go on.
        BestEffort,
        /// It always stops.
        Guaranteed,
        /// The runtime does not say.
        Unknown,
    }
}
wire_enum! {
    /// Where a runtime runs.
    #[derive(PartialOrd, Ord)]
    RuntimeIsolationMode {
        /// Inside the daemon's own process.
        InProcess,
        /// In a child process with its own environment.
        Subprocess,
        /// On a server that is already running.
        ServerSide,
    }
}

/// What a runtime can do, as observed in tests rather than as its vendor advertises it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RuntimeCapabilities {
    /// Whether output arrives in deltas while the model writes.
    pub supports_streaming: bool,
    /// Whether tool calls are reported as events.
    pub supports_tool_calls: bool,
    /// Whether several tool calls can be open at the same time.
    pub supports_parallel_tool_calls: bool,
    /// A running task can be stopped.
    pub supports_stop: bool,
    /// Whether prompts can carry artifacts such as images.
    pub supports_artifacts: bool,
    /// Whether new sessions can be created.
    pub supports_session_create: bool,
    /// Whether the runtime itself can continue an ended session; in the registry also if Roost can, see `resumeModel`.
    pub supports_session_resume: bool,
    /// Whether it reports token usage (`usage.reported`).
    pub supports_usage_reporting: bool,
    /// Whether it works without a terminal and without anybody to ask.
    pub supports_non_interactive: bool,
    /// Most tool calls that one task can have open at once, at least 1; absent if there is no known limit.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_outstanding_tool_calls: Option<u32>,
    /// How its user logs in.
    pub auth_model: AuthModel,
    /// Who runs its tools.
    pub tool_execution_model: ToolExecutionModel,
    /// Who decides whether its tools may run.
    pub permission_model: PermissionModel,
    /// Where it keeps its state.
    pub state_model: RuntimeStateModel,
    /// How an ended session is continued.
    pub resume_model: ResumeModel,
    /// Whether a tool call may be repeated after a resume.
    pub tool_replay_safety: ToolReplaySafety,
    /// Its roles in MCP.
    pub mcp_support: McpSupport,
    /// The MCP transports that it supports; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_transports: Option<Vec<McpTransport>>,
    /// What it guarantees when a task is stopped.
    pub cancellation_model: CancellationModel,
    /// Where it can run.
    pub supported_isolation_modes: Vec<RuntimeIsolationMode>,
    /// Where Roost runs it unless configured otherwise.
    pub recommended_isolation_mode: RuntimeIsolationMode,
}
