//! A session is made, changes and is closed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ids::{RuntimeSessionId, WorkspaceId};
use crate::mode::{Mode, PermissionMode};
use crate::runtime::{IsolationLevel, RuntimeName};
use crate::session::{Adopted, Forked, QueuedPrompt, SessionStatus};

payload! {
    /// `session.created`: what the session was made with.
    SessionCreatedPayload {
        /// The version of this contract.
        contract_version: String,
        /// Which runtime serves it.
        runtime: RuntimeName,
        /// The working directory.
        cwd: String,
        /// Whose runtime state and credentials are used.
        credential_namespace: String,
        /// A name for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// The model asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The mode in the seed's words.
        permission_mode: PermissionMode,
        /// The mode in ours.
        mode: Mode,
        /// The workspace it was made in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace_id: Option<WorkspaceId>,
        /// How much of the user's home its runtime shares, where the session says so itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        isolation: Option<IsolationLevel>,
        /// The names of the variables that its runtime gets; their values are told nobody else.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        env: Vec<String>,
        /// The runtime's own configuration, passed on and never interpreted; secrets are taken out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        runtime_config: Option<Map<String, Value>>,
        /// The hash of that configuration with its secrets.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        runtime_config_hash: Option<String>,
        /// It began outside of Roost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        adopted: Option<Adopted>,
        /// It goes on from where another session was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        forked: Option<Forked>,
    }
}

payload! {
    /// `session.updated`: what changed about a session; absent means unchanged.
    #[derive(Default)]
    SessionUpdatedPayload {
        /// Its state.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<SessionStatus>,
        /// Its name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// Its model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// Its mode.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<Mode>,
        /// The runtime's id for it became known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        runtime_session_id: Option<RuntimeSessionId>,
        /// The prompts that wait now, all of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queue: Option<Vec<QueuedPrompt>>,
        /// It was taken off the lists, or put on them again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hidden: Option<bool>,
        /// Why, where that is not plain.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
}

payload! {
    /// `session.closed`: the session's process and resources are gone.
    SessionClosedPayload {
        /// Why.
        reason: String,
    }
}
