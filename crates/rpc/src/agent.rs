//! One agent in the default workspace: the methods of clients that know only one.

use std::collections::BTreeMap;

use roost_model::mode::AnyMode;
use roost_model::secret::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::attachment::PromptImage;

words! {
    /// Whether a prompt begins a session or goes on with one.
    #[derive(Default)]
    RunMode {
        /// It begins one.
        #[default]
        New,
        /// It goes on with one.
        Continue,
    }
}

params! {
    /// A prompt for the agent.
    AgentRunParams {
        /// What to do.
        prompt: String,
        ;
        /// A new session, or the one named.
        mode: RunMode,
        /// The session to go on with.
        session_id: String,
        /// How much it may do unasked.
        permission_mode: AnyMode,
        /// It may do everything unasked.
        yolo_mode: bool,
        /// Where; the default workspace if absent.
        workspace_id: String,
        /// Which runtime.
        #[serde(alias = "runtime")]
        agent_type: String,
        /// Variables that a new session's runtime gets on top of its environment; their values are told nobody else.
        env: BTreeMap<String, Secret>,
        /// Images that belong to the prompt: png, jpeg, gif or webp, at most 5 of 10 MiB each.
        images: Vec<PromptImage>,
        /// Files that the prompt refers to: paths below the session's folder; at the local door any.
        files: Vec<String>,
    }
}

wire! {
    /// The agent works.
    AgentRunResult {
        /// `started`.
        status: String,
        /// Its session.
        session_id: String,
        /// Its task.
        task_id: String,
        /// As asked.
        mode: RunMode,
        /// Its runtime.
        agent_type: String,
    }
}

params! {
    /// Which agent; the one of the latest `agent/run` if nothing is said.
    #[derive(Default)]
    AgentParams {
        ;
        /// Its session.
        session_id: String,
        /// Its runtime.
        #[serde(alias = "runtime")]
        agent_type: String,
    }
}

wire! {
    /// One word about what was done.
    StatusWord {
        /// `stopped`, `sent`, ….
        status: String,
        /// The runtime.
        #[serde(skip_serializing_if = "Option::is_none")]
        agent_type: Option<String>,
    }
}

params! {
    /// An answer to what the agent asked.
    AgentRespondParams {
        /// What is answered.
        tool_use_id: String,
        ;
        /// The answer.
        response: String,
        /// It is a no.
        is_error: bool,
        /// The session, where the id alone is not enough.
        session_id: String,
        /// Which runtime.
        #[serde(alias = "runtime")]
        agent_type: String,
    }
}

wire! {
    /// The answer was taken.
    AgentRespondResult {
        /// `sent`.
        status: String,
        /// What was answered.
        tool_use_id: String,
    }
}

wire! {
    /// How the agent is.
    AgentStatusResult {
        /// `idle`, `running` or `waiting`.
        state: String,
        /// Its session.
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
        /// Its runtime.
        agent_type: String,
        /// What it waits for.
        #[serde(skip_serializing_if = "Option::is_none")]
        waiting_for: Option<String>,
    }
}

params! {
    /// Something typed to the agent.
    AgentInputParams {
        /// Text, or the name of a key.
        input: String,
        ;
        /// The session.
        session_id: String,
        /// Which runtime.
        #[serde(alias = "runtime")]
        agent_type: String,
    }
}
