//! Saying hello, and how the daemon is.

use std::collections::BTreeMap;

use roost_model::registry::RuntimeRegistry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the protocol that is spoken here.
pub const PROTOCOL_VERSION: &str = "1.0";
/// The name that clients of the cdev protocol expect.
pub const SERVER_NAME: &str = "cdev";

params! {
    /// What a client says of itself; both spellings of each field are understood.
    #[derive(Default)]
    InitializeParams {
        ;
        /// The version it speaks: `1.x`.
        #[serde(alias = "protocolVersion")]
        protocol_version: String,
        /// Its name.
        #[serde(alias = "clientInfo")]
        client_info: ClientInfo,
        /// What it can do.
        capabilities: Value,
        /// Its working directory.
        #[serde(alias = "rootPath")]
        root_path: String,
    }
}

params! {
    /// A client's name and version.
    #[derive(Default)]
    ClientInfo {
        ;
        /// Its name.
        name: String,
        /// Its version.
        version: String,
    }
}

wire! {
    /// The server's name and version.
    ServerInfo {
        /// Its name.
        name: String,
        /// Its version.
        version: String,
    }
}

wire! {
    /// What the server is and can do.
    #[serde(rename_all = "camelCase")]
    InitializeResult {
        /// The version that will be spoken.
        protocol_version: String,
        /// Who answers.
        server_info: ServerInfo,
        /// The same, for clients that look for it in snake case.
        #[serde(rename = "server_info")]
        server_info_snake: ServerInfo,
        /// What there is.
        capabilities: ServerCapabilities,
        /// This connection's id.
        client_id: String,
    }
}

wire! {
    /// What the server can do.
    #[serde(rename_all = "camelCase")]
    ServerCapabilities {
        /// Agents can be run, stopped, answered, listed and watched.
        agent: BTreeMap<String, bool>,
        /// What can be done with git.
        git: BTreeMap<String, bool>,
        /// What can be done with files.
        file: BTreeMap<String, bool>,
        /// What can be done with the repository's index.
        repository: BTreeMap<String, bool>,
        /// The names of the events that may be sent.
        notifications: Vec<String>,
        /// The ids of the runtimes.
        supported_agents: Vec<String>,
        /// Everything about the runtimes (seed 000).
        runtime_registry: RuntimeRegistry,
    }
}

params! {
    /// No parameters.
    #[derive(Default)]
    NoParams { ; }
}
wire! {
    /// It is done, and there is nothing more to say.
    Success {
        /// Always true; a failure is an error.
        success: bool,
    }
}

impl Success {
    /// It is done.
    pub const DONE: Self = Self { success: true };
}

wire! {
    /// Nothing.
    #[derive(Default)]
    Empty {}
}

wire! {
    /// How the daemon and its default agent are; the union of what clients read.
    StatusResult {
        /// This run of the daemon.
        session_id: String,
        /// The session of the default workspace's agent.
        #[serde(skip_serializing_if = "Option::is_none")]
        agent_session_id: Option<String>,
        /// `idle`, `running` or `waiting`.
        claude_state: String,
        /// The same.
        agent_state: String,
        /// The runtime that is used when none is named.
        agent_type: String,
        /// Roost's version.
        version: String,
        /// The same.
        agent_version: String,
        /// Clients that are connected now.
        connected_clients: u64,
        /// The default workspace's folder; empty if there is none.
        repo_path: String,
        /// Its name.
        repo_name: String,
        /// How long the daemon runs.
        uptime_seconds: u64,
        /// File changes are reported.
        watcher_enabled: bool,
        /// Git can be used.
        git_enabled: bool,
        /// The default workspace is a git repository.
        is_git_repo: bool,
        /// Sessions with a running task.
        running_tasks: u64,
        /// What waits for an answer.
        pending: u64,
    }
}

wire! {
    /// The daemon is there.
    HealthResult {
        /// `ok`, or `stalled` while nothing can be recorded.
        status: String,
        /// It can do its work.
        healthy: bool,
        /// How long the daemon runs.
        uptime_seconds: u64,
    }
}
