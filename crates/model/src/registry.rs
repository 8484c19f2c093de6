//! The runtime registry as clients see it (seed 000).

use serde::{Deserialize, Serialize};

use crate::runtime::RuntimeCapabilities;
use crate::time::Timestamp;

/// Version of the registry's shape, which clients find in `schemaVersion`.
pub const REGISTRY_VERSION: &str = "1.0";

/// Whether this host lets clients use a runtime; set in `roost.toml`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RuntimeStatus {
    /// It may be used.
    #[default]
    Active,
    /// It may be used, and its behaviour may still change.
    Preview,
    /// It may be used for now, but clients should move to another runtime.
    Deprecated,
    /// It may not be used, whatever a client's screen offers.
    Disabled,
}

/// Where a client lists the sessions of a runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum SessionListSource {
    /// With the method for a workspace's history; always so in Roost.
    WorkspaceHistory,
    /// With a method of the runtime's own.
    RuntimeScoped,
}

/// Where a client reads or watches a session of a runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum SessionSource {
    /// With the methods of the session's workspace; always so in Roost.
    WorkspaceScoped,
    /// With methods of the runtime's own.
    RuntimeScoped,
}

/// The method to call for each operation. The same for all of Roost's runtimes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuntimeMethods {
    /// Lists the sessions of a workspace.
    pub history: String,
    /// Reads a session's messages.
    pub messages: String,
    /// Starts sending a session's events to this client.
    pub watch: String,
    /// Stops sending a session's events to this client.
    pub unwatch: String,
    /// Creates a session or attaches to one.
    pub start: String,
    /// Sends a prompt.
    pub send: String,
    /// Stops a task or the whole session.
    pub stop: String,
    /// Types text or a key.
    pub input: String,
    /// Answers an approval or a question.
    pub respond: String,
    /// Reads a session's current state.
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

/// One runtime in the registry: an agent that sessions can run on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RuntimeEntry {
    /// The value for `agent_type`, such as `claude`; never changes.
    pub id: String,
    /// Name to show, such as `Claude Code`.
    pub display_name: String,
    /// Whether this host lets clients use it; for devices `disabled` also if it is not installed.
    pub status: RuntimeStatus,
    /// Where a client lists its sessions.
    pub session_list_source: SessionListSource,
    /// Where a client reads its messages.
    pub session_messages_source: SessionSource,
    /// Where a client watches its sessions.
    pub session_watch_source: SessionSource,
    /// Whether a client should call `workspace/session/activate` before it resumes a session; true for `claude`, where
    /// cdev's clients do so. Roost itself does not need it.
    pub requires_workspace_activation_on_resume: bool,
    /// Whether a client should wait for `session_id_resolved` after it made a session; true for `claude`, where cdev's
    /// clients do so. Roost's ids are permanent from the first moment.
    pub requires_session_resolution_on_new_session: bool,
    /// Whether a session can go on after its process ended; the same as `supportsSessionResume` of its capabilities.
    pub supports_resume: bool,
    /// Whether it asks the user questions (`question.asked`).
    pub supports_interactive_questions: bool,
    /// Whether it asks for permission before it runs tools.
    pub supports_permissions: bool,
    /// The methods to call for its sessions.
    pub methods: RuntimeMethods,
    /// What it can do, in seed 001's terms.
    pub capabilities: RuntimeCapabilities,
    /// Whether it can be used on this machine now; absent if nobody has checked yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub availability: Option<RuntimeAvailability>,
}

/// Whether a runtime can be used on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RuntimeAvailability {
    /// Whether its program was found.
    pub installed: bool,
    /// Version that the program reports; absent if it reports none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether its user is logged in, as far as can be told without the network.
    pub logged_in: bool,
    /// The login in words: `yes, by a key`, `yes, by an account`, `yes`, `not needed`, `no` or `unknown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
    /// Why it cannot be used and what to do about it; absent if it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What to know although it can be used, such as a version that Roost was not tested with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// How clients say which runtime a call is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RuntimeRouting {
    /// Name of the parameter that selects the runtime: `agent_type`.
    pub agent_type_field: String,
    /// The runtime that is used if the parameter is absent.
    pub default_agent_type: String,
    /// The methods on which clients should send the parameter.
    pub required_on_methods: Vec<String>,
}

/// All runtimes, from the adapters that are registered and the server's policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RuntimeRegistry {
    /// Version of this shape; `1.0` in this version.
    pub schema_version: String,
    /// When it was put together; availability may have changed since.
    pub generated_at: Timestamp,
    /// The runtime that is used if a client names none.
    pub default_runtime: String,
    /// How clients say which runtime a call is for.
    pub routing: RuntimeRouting,
    /// All registered runtimes, including those that are disabled or not installed.
    pub runtimes: Vec<RuntimeEntry>,
}

impl RuntimeRegistry {
    /// A registry of these runtimes, with the routing that Roost always uses.
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
