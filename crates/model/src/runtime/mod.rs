//! Runtimes: their names, what they can do, whether they are logged in, and the environment they run in (seed 001).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ids::{RuntimeSessionId, SessionId};
use crate::mode::PermissionMode;

macro_rules! wire_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$vdoc])* $variant),* }
    };
}

mod capabilities;
pub(crate) mod name;
mod slash_command;

pub use capabilities::*;
pub use name::*;
pub use slash_command::*;

wire_enum! {
    /// Whether approvals and questions may wait for a person while a task runs.
    #[derive(Default)]
    InteractionMode {
        /// They wait until somebody answers or they expire.
        Interactive,
        /// Nobody answers: what would be asked is denied at once.
        #[default]
        NonInteractive,
    }
}

wire_enum! {
    /// How much of the user's own home a runtime shares.
    #[derive(Default)]
    IsolationLevel {
        /// It uses the user's own home and XDG directories, with the user's logins.
        #[default]
        Shared,
        /// It has directories of its credential namespace, which stay between sessions.
        Namespaced,
        /// It has directories of its own session, which are removed at the end.
        Ephemeral,
    }
}

/// Whether a runtime is ready for its user; never holds a secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AuthStatus {
    /// Whether the login could be checked at all; if false, the other fields mean nothing.
    pub ok: bool,
    /// Whether a login was found.
    pub logged_in: bool,
    /// How the runtime's user logs in.
    pub auth_model: AuthModel,
    /// Account name that is safe to show, such as an e-mail address; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account_label: Option<String>,
    /// Further facts that are safe to show; the keys are the adapter's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Map<String, Value>>,
}

impl AuthStatus {
    fn has(&self, field: &str) -> Option<bool> {
        self.details.as_ref()?.get(field)?.as_bool()
    }

    /// Whether the runtime can be used: somebody is logged in, or nobody has to be (`needsLogin` in its details).
    pub fn is_ready(&self) -> bool {
        self.logged_in || self.has("needsLogin") == Some(false)
    }

    /// Whether and how somebody is logged in, in a few words; see [`crate::registry::RuntimeAvailability::login`].
    pub fn summary(&self) -> &'static str {
        let has = |field: &str| self.has(field) == Some(true);
        match self {
            Self { ok: false, .. } | Self { auth_model: AuthModel::Unknown, .. } => "unknown",
            Self { logged_in: false, .. } if self.is_ready() => "not needed",
            Self { logged_in: false, .. } => "no",
            _ if has("hasApiKey") => "yes, by a key",
            _ if has("hasOauth") || has("hasCredentials") => "yes, by an account",
            _ => "yes",
        }
    }
}

/// The directory and the environment that a runtime's process gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RuntimeEnv {
    /// The working directory, absolute.
    pub cwd: String,
    /// The complete environment: nothing is inherited beside it.
    pub env: BTreeMap<String, String>,
    /// Name of the set of logins and runtime state in use.
    pub credential_namespace: String,
    /// Directories of its own, if it does not share the user's home; absent if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<RuntimeIsolation>,
}

/// The home and XDG directories of a runtime that does not share the user's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RuntimeIsolation {
    /// Where the runtime runs.
    pub mode: RuntimeIsolationMode,
    /// Value of `HOME`; absent means the user's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home_dir: Option<String>,
    /// Value of `XDG_CONFIG_HOME`; absent means unset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xdg_config_home: Option<String>,
    /// Value of `XDG_STATE_HOME`; absent means unset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xdg_state_home: Option<String>,
    /// Value of `XDG_CACHE_HOME`; absent means unset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xdg_cache_home: Option<String>,
}

/// What an adapter gets to create a session with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreateSessionInput {
    /// Title for lists; absent if nobody gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Model to use; absent means the runtime's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How much may run without asking; absent means the runtime's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<PermissionMode>,
    /// The runtime's own settings, passed on without interpretation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_config: Option<Map<String, Value>>,
    /// Names of the environment variables that the client set for this session. Configured values do not replace them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub variables: BTreeSet<String>,
}

/// The two ids of one session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RuntimeSessionHandle {
    /// Roost's own id, by which everything is stored.
    pub session_id: SessionId,
    /// The runtime's id, used to resume; absent until the runtime has told it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_session_id: Option<RuntimeSessionId>,
}
