//! The runtime registry as clients see it (seed 000).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::runtime::RuntimeCapabilities;
use crate::time::Timestamp;

/// The version of the registry's shape.
pub const REGISTRY_VERSION: &str = "1.0";

/// Whether a runtime may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RuntimeStatus {
    /// It may.
    #[default]
    Active,
    /// It may, and may change.
    Preview,
    /// It may, for now.
    Deprecated,
    /// It may not, whatever a client's screen shows.
    Disabled,
}

/// Whether a client finds sessions through a workspace or through the runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SessionListSource {
    /// Through the workspace.
    WorkspaceHistory,
    /// Through the runtime.
    RuntimeScoped,
}

/// Whether a client reads a session through a workspace or through the runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SessionSource {
    /// Through the workspace.
    WorkspaceScoped,
    /// Through the runtime.
    RuntimeScoped,
}

/// The RPC method behind each operation of a runtime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RuntimeMethods {
    /// Lists past sessions.
    pub history: String,
    /// Reads messages.
    pub messages: String,
    /// Follows a session.
    pub watch: String,
    /// Stops following.
    pub unwatch: String,
    /// Starts a session.
    pub start: String,
    /// Sends a prompt.
    pub send: String,
    /// Stops a task.
    pub stop: String,
    /// Sends input.
    pub input: String,
    /// Answers a question or an approval.
    pub respond: String,
    /// Reads a session's state.
    pub state: String,
}

impl Default for RuntimeMethods {
    fn default() -> Self {
        Self {
            history: "workspace/session/history".into(),
            messages: "workspace/session/messages".into(),
            watch: "workspace/session/watch".into(),
            unwatch: "workspace/session/unwatch".into(),
            start: "session/start".into(),
            send: "session/send".into(),
            stop: "session/stop".into(),
            input: "session/input".into(),
            respond: "session/respond".into(),
            state: "session/state".into(),
        }
    }
}

/// One runtime of the registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeEntry {
    /// Its stable id.
    pub id: String,
    /// Its name for people.
    pub display_name: String,
    /// Whether it may be used.
    pub status: RuntimeStatus,
    /// Where its sessions are listed.
    pub session_list_source: SessionListSource,
    /// Where its messages are read.
    pub session_messages_source: SessionSource,
    /// Where its sessions are followed.
    pub session_watch_source: SessionSource,
    /// A client must activate the workspace before it resumes.
    pub requires_workspace_activation_on_resume: bool,
    /// A client must wait until the session's id is resolved.
    pub requires_session_resolution_on_new_session: bool,
    /// Past sessions can be continued.
    pub supports_resume: bool,
    /// It asks questions.
    pub supports_interactive_questions: bool,
    /// It asks for permission.
    pub supports_permissions: bool,
    /// The methods behind its operations.
    pub methods: RuntimeMethods,
    /// What it can do, in seed 001's words (additive).
    pub capabilities: RuntimeCapabilities,
    /// Whether it can be used on this machine (additive); absent where nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub availability: Option<RuntimeAvailability>,
}

/// Whether a runtime can be used on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeAvailability {
    /// It is there.
    pub installed: bool,
    /// Its version, when it tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Its user is logged in, as far as can be known without the network.
    pub logged_in: bool,
    /// Whether and how, in words: `yes, by a key`, `yes, by an account`, `no` or `unknown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
    /// Why it cannot be used, and what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How a call finds its runtime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeRouting {
    /// The parameter that selects the runtime.
    pub agent_type_field: String,
    /// The runtime when the parameter is absent.
    pub default_agent_type: String,
    /// The methods that should carry the parameter.
    pub required_on_methods: Vec<String>,
}

/// All runtimes, from the adapters that are registered and the server's policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeRegistry {
    /// The version of this shape.
    pub schema_version: String,
    /// When it was made.
    pub generated_at: Timestamp,
    /// The runtime when a client names none.
    pub default_runtime: String,
    /// How a call finds its runtime.
    pub routing: RuntimeRouting,
    /// The runtimes.
    pub runtimes: Vec<RuntimeEntry>,
}

impl RuntimeRegistry {
    /// The registry of these runtimes at this time.
    pub fn new(generated_at: Timestamp, default_runtime: &str, runtimes: Vec<RuntimeEntry>) -> Self {
        let required = ["session/start", "session/send", "session/stop", "session/input", "session/respond"];
        Self {
            schema_version: REGISTRY_VERSION.into(),
            generated_at,
            default_runtime: default_runtime.into(),
            routing: RuntimeRouting {
                agent_type_field: "agent_type".into(),
                default_agent_type: default_runtime.into(),
                required_on_methods: required.map(Into::into).into(),
            },
            runtimes,
        }
    }
}
