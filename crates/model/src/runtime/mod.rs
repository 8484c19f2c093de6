//! Runtimes: their names, what they can do, whether they are logged in, and the environment they run in (seed 001).

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ids::{RuntimeSessionId, SessionId};
use crate::mode::PermissionMode;

macro_rules! wire_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$vdoc])* $variant),* }
    };
}

mod capabilities;
mod name;

pub use capabilities::*;
pub use name::*;

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

wire_enum! {
    /// How much of the user's own home a runtime shares.
    #[derive(Default)]
    IsolationLevel {
        /// The user's own home and XDG directories.
        #[default]
        Shared,
        /// Directories of the credential namespace, kept between sessions.
        Namespaced,
        /// Directories of one session, removed at its end.
        Ephemeral,
    }
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

impl AuthStatus {
    fn has(&self, field: &str) -> Option<bool> {
        self.details.as_ref()?.get(field)?.as_bool()
    }

    /// Whether the runtime can be used: somebody is logged in, or nobody has to be (`needsLogin` in its details).
    pub fn is_ready(&self) -> bool {
        self.logged_in || self.has("needsLogin") == Some(false)
    }

    /// Whether somebody is logged in and how, in a few words.
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
    /// The names of variables that the session itself sets: nothing that is configured replaces them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub variables: BTreeSet<String>,
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
