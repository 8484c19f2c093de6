//! Events about a session as a whole: it is created, changed and closed.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ids::{RuntimeSessionId, WorkspaceId};
use crate::mode::{Mode, PermissionMode};
use crate::runtime::{IsolationLevel, RuntimeName};
use crate::session::{Adopted, Forked, QueuedPrompt, SessionStatus};

payload! {
    /// `session.created`: the settings of a new session.
    SessionCreatedPayload {
        /// Version of the runtime contract that it was created under; `1` in this version.
        contract_version: String,
        /// The runtime that runs it; never changes.
        runtime: RuntimeName,
        /// The working directory, absolute; never changes.
        cwd: String,
        /// Name of the set of logins and runtime state that it uses; `default` unless named.
        credential_namespace: String,
        /// Title for lists; absent until somebody or the first prompt gives one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// The model that was requested; absent means the runtime's default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The mode in the seed's three words.
        permission_mode: PermissionMode,
        /// The mode in Roost's five words; counts where the two differ.
        mode: Mode,
        /// The workspace it was created in; absent if its folder belongs to none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace_id: Option<WorkspaceId>,
        /// How much of the user's home the runtime shares; absent means the runtime's configured default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        isolation: Option<IsolationLevel>,
        /// Names of the extra environment variables that a client gave it; the values are in no event.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        env: Vec<String>,
        /// Names of its own MCP servers; how they are reached may hold secrets and is in no event (not in the seed).
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        mcp_servers: Vec<String>,
        /// The runtime's own settings, passed on unchanged to the runtime; secrets are removed here.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        runtime_config: Option<Map<String, Value>>,
        /// `sha256:<hex>` of those settings with their secrets, to notice changes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        runtime_config_hash: Option<String>,
        /// Present if the conversation began outside Roost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        adopted: Option<Adopted>,
        /// Present if it was forked from another session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        forked: Option<Forked>,
    }
}

payload! {
    /// `session.updated`: what changed about a session. An absent field is unchanged.
    #[derive(Default)]
    SessionUpdatedPayload {
        /// The new status.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<SessionStatus>,
        /// The new title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// The new model, from the next task on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The new mode, from the next task on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<Mode>,
        /// The runtime's own settings after a change, without their secrets, from the next task on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        runtime_config: Option<Map<String, Value>>,
        /// The hash of the settings with their secrets; there if `runtime_config` is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        runtime_config_hash: Option<String>,
        /// The runtime's own id for the session, once it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        runtime_session_id: Option<RuntimeSessionId>,
        /// The complete queue of waiting prompts after the change.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queue: Option<Vec<QueuedPrompt>>,
        /// True if it was removed from lists with `session/delete`, false if it is listed again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hidden: Option<bool>,
        /// The reason for the change, if there is one to tell.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
}

payload! {
    /// `session.closed`: the session's process and resources are gone.
    SessionClosedPayload {
        /// What ended it, for people: a stop, the idle timeout, an exit or a restart.
        reason: String,
    }
}
