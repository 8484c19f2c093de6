//! Runtimes: their names, what they can do, whether they are logged in, and the environment they run in (seed 001).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value};

use crate::ids::{RuntimeSessionId, SessionId};
use crate::mode::PermissionMode;

/// The runtimes as events name them: the seed's four, `demo`, and `acp:<id>` for any other ACP agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RuntimeName {
    /// Claude Code.
    ClaudeAgentSdk,
    /// Codex.
    CodexSdk,
    /// Gemini CLI.
    GeminiCliCore,
    /// OpenCode.
    OpencodeServer,
    /// The agent inside Roost's own binary.
    Demo,
    /// Any agent that speaks ACP, by the id it is configured under.
    Acp(Arc<str>),
}

/// A runtime name that is none of ours.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown runtime name \"{0}\"")]
pub struct UnknownRuntimeName(pub String);

/// The runtimes whose names are fixed.
const FIXED: [RuntimeName; 5] = [
    RuntimeName::ClaudeAgentSdk,
    RuntimeName::CodexSdk,
    RuntimeName::GeminiCliCore,
    RuntimeName::OpencodeServer,
    RuntimeName::Demo,
];

impl RuntimeName {
    /// The name that events carry.
    pub fn wire(&self) -> Cow<'static, str> {
        match self {
            Self::ClaudeAgentSdk => "claude-agent-sdk".into(),
            Self::CodexSdk => "codex-sdk".into(),
            Self::GeminiCliCore => "gemini-cli-core".into(),
            Self::OpencodeServer => "opencode-server".into(),
            Self::Demo => "demo".into(),
            Self::Acp(id) => format!("acp:{id}").into(),
        }
    }

    /// The id under which people and seed 000 know the runtime (`claude`, `codex`, … or the ACP agent's own id).
    pub fn id(&self) -> &str {
        match self {
            Self::ClaudeAgentSdk => "claude",
            Self::CodexSdk => "codex",
            Self::GeminiCliCore => "gemini",
            Self::OpencodeServer => "opencode",
            Self::Demo => "demo",
            Self::Acp(id) => id,
        }
    }

    /// Reads the name that events carry.
    pub fn from_wire(text: &str) -> Result<Self, UnknownRuntimeName> {
        if let Some(name) = FIXED.iter().find(|name| name.wire() == text) {
            return Ok(name.clone());
        }
        match text.strip_prefix("acp:") {
            Some(id) if !id.is_empty() => Ok(Self::Acp(id.into())),
            _ => Err(UnknownRuntimeName(text.into())),
        }
    }

    /// The runtime known under this id; ids that are not ours are ACP agents.
    pub fn from_id(id: &str) -> Self {
        let fixed = FIXED.iter().find(|name| name.id() == id);
        fixed.cloned().unwrap_or_else(|| Self::Acp(id.into()))
    }
}

impl fmt::Display for RuntimeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.wire())
    }
}

impl Serialize for RuntimeName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.wire())
    }
}

impl<'de> Deserialize<'de> for RuntimeName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        Self::from_wire(&text).map_err(de::Error::custom)
    }
}

impl JsonSchema for RuntimeName {
    fn schema_name() -> Cow<'static, str> {
        "RuntimeName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let fixed: Vec<_> = FIXED.iter().map(RuntimeName::wire).collect();
        json_schema!({ "anyOf": [
            { "type": "string", "enum": fixed },
            { "type": "string", "pattern": "^acp:.+$" },
        ] })
    }
}

macro_rules! wire_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$vdoc])* $variant),* }
    };
}

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
wire_enum! {
    /// Whether somebody can be asked while a task runs.
    #[derive(Default)]
    InteractionMode {
        /// A person may answer.
        Interactive,
        /// Nobody answers; nothing may wait for a terminal.
        #[default]
        NonInteractive,
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

/// Whether a runtime is ready for its user; never holds a secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthStatus {
    /// The question could be answered.
    pub ok: bool,
    /// A login is there.
    pub logged_in: bool,
    /// How its user logs in.
    pub auth_model: AuthModel,
    /// A name for the account that is safe to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account_label: Option<String>,
    /// More that is safe to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Map<String, Value>>,
}

/// Where and with what environment a runtime runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeEnv {
    /// The working directory; absolute.
    pub cwd: String,
    /// The whole environment of the runtime.
    pub env: BTreeMap<String, String>,
    /// Whose runtime state and credentials are used.
    pub credential_namespace: String,
    /// How the runtime is isolated, when asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<RuntimeIsolation>,
}

/// The folders of an isolated runtime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeIsolation {
    /// How the runtime is hosted.
    pub mode: RuntimeIsolationMode,
    /// Its `HOME`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home_dir: Option<String>,
    /// Its `XDG_CONFIG_HOME`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xdg_config_home: Option<String>,
    /// Its `XDG_STATE_HOME`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xdg_state_home: Option<String>,
    /// Its `XDG_CACHE_HOME`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xdg_cache_home: Option<String>,
}

/// What a new session is made with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateSessionInput {
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The model to use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How much may run unasked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<PermissionMode>,
    /// The runtime's own configuration, passed on and never interpreted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_config: Option<Map<String, Value>>,
}

/// A session as host and runtime know it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeSessionHandle {
    /// Roost's id: the truth.
    pub session_id: SessionId,
    /// The runtime's own id: an optimisation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_session_id: Option<RuntimeSessionId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_ids_map_both_ways() {
        let cases = [
            ("claude-agent-sdk", "claude"),
            ("codex-sdk", "codex"),
            ("gemini-cli-core", "gemini"),
            ("opencode-server", "opencode"),
            ("demo", "demo"),
            ("acp:goose", "goose"),
        ];
        for (wire, id) in cases {
            let name = RuntimeName::from_wire(wire).unwrap();
            assert_eq!((&*name.wire(), name.id()), (wire, id));
            assert_eq!(RuntimeName::from_id(id), name);
        }
    }

    #[test]
    fn a_name_that_is_not_ours_is_refused() {
        for text in ["", "claude", "acp:", "gpt"] {
            assert!(RuntimeName::from_wire(text).is_err(), "{text}");
        }
    }
}
