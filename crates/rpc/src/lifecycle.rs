//! The methods that open and close a connection, and those for the daemon's state.

use std::collections::BTreeMap;

use roost_model::registry::RuntimeRegistry;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::service::GatewayStatus;

/// Version of the protocol that this daemon speaks.
pub const PROTOCOL_VERSION: &str = "1.0";
/// The server name that clients of the cdev protocol expect.
pub const SERVER_NAME: &str = "cdev";

params! {
    /// Parameters of `initialize`. Each is understood in snake case and in camel case.
    #[derive(Default)]
    InitializeParams {
        ;
        /// The version that the client speaks. No version is refused: the answer says which one is spoken.
        #[serde(alias = "protocolVersion")]
        protocol_version: String,
        /// Name and version of the client; ignored in this version.
        #[serde(alias = "clientInfo")]
        client_info: ClientInfo,
        /// What the client can do. `notifications` with `agent_message_delta` in it asks for that event; the rest is
        /// ignored.
        capabilities: Value,
        /// Working directory of the client; ignored in this version.
        #[serde(alias = "rootPath")]
        root_path: String,
    }
}

params! {
    /// A client's name and version.
    #[derive(Default)]
    ClientInfo {
        ;
        /// Name of the client program.
        name: String,
        /// Version of the client program.
        version: String,
    }
}

wire! {
    /// Name and version of the server.
    ServerInfo {
        /// Always `cdev`, the name that clients of that protocol expect.
        name: String,
        /// Version of Roost.
        version: String,
    }
}

wire! {
    /// What the server is and can do.
    #[serde(rename_all = "camelCase")]
    InitializeResult {
        /// The version that will be spoken: `1.0`.
        protocol_version: String,
        /// Name and version of the server.
        server_info: ServerInfo,
        /// The same, for clients that look for it in snake case.
        #[serde(rename = "server_info")]
        server_info_snake: ServerInfo,
        /// What the server can do.
        capabilities: ServerCapabilities,
        /// Id of this connection, as in `viewers` and `answered_by`.
        client_id: String,
    }
}

wire! {
    /// What the server can do. In the maps, an operation that is absent cannot be used.
    #[serde(rename_all = "camelCase")]
    ServerCapabilities {
        /// Operations on agents, such as `run` and `sessionWatch`.
        agent: BTreeMap<String, bool>,
        /// Operations on git, such as `commit`.
        git: BTreeMap<String, bool>,
        /// Operations on files: `get` and `list`.
        file: BTreeMap<String, bool>,
        /// Operations on the index of files, such as `search`.
        repository: BTreeMap<String, bool>,
        /// Names of all events that may be sent, without the prefix `event/`.
        notifications: Vec<String>,
        /// Ids of the runtimes, the values for `agent_type`.
        supported_agents: Vec<String>,
        /// Everything about the runtimes (seed 000), including whether they can be used now.
        runtime_registry: RuntimeRegistry,
    }
}

params! {
    /// Parameters of methods that take none.
    #[derive(Default)]
    NoParams { ; }
}
wire! {
    /// The call succeeded, and there is nothing more to return.
    Success {
        /// Always true; a failure is an error.
        success: bool,
    }
}

impl Success {
    /// The one value that it has.
    pub const DONE: Self = Self { success: true };
}

wire! {
    /// An empty result.
    #[derive(Default)]
    Empty {}
}

wire! {
    /// The state of the daemon and its default agent. It has every field that some client reads, hence the repetitions.
    StatusResult {
        /// The running or latest session of the default workspace; empty if there is none.
        session_id: String,
        /// Id of this run of the daemon; changes with every start.
        agent_session_id: String,
        /// State of that session: `idle`, `running`, or `waiting` for an answer.
        claude_state: String,
        /// The same as `claude_state`.
        agent_state: String,
        /// Id of the runtime that is used if a call names none.
        agent_type: String,
        /// Version of Roost.
        version: String,
        /// The same as `version`.
        agent_version: String,
        /// Clients that are connected now.
        connected_clients: u64,
        /// The default workspace's folder, absolute; empty if there is no workspace.
        repo_path: String,
        /// Name of the default workspace; empty if there is none.
        repo_name: String,
        /// Seconds since the daemon started.
        uptime_seconds: u64,
        /// Whether file changes are reported; always true.
        watcher_enabled: bool,
        /// Whether git can be used; always true.
        git_enabled: bool,
        /// Whether the default workspace is a git repository.
        is_git_repo: bool,
        /// Number of tasks that are running, in all sessions.
        running_tasks: u64,
        /// Number of approvals and questions that wait for an answer, in all sessions.
        pending: u64,
        /// The gateway and its services, in the same object.
        #[serde(flatten)]
        gateway: GatewayStatus,
    }
}

wire! {
    /// Whether the daemon works.
    HealthResult {
        /// `ok`, or `stalled` while events cannot be stored.
        status: String,
        /// Whether the status is `ok`.
        healthy: bool,
        /// Seconds since the daemon started.
        uptime_seconds: u64,
    }
}
