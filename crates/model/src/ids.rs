//! Identifiers: one newtype each, so that a task id can never be passed as a session id.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::runtime::RuntimeName;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The id as it stands on the wire.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    };
}

macro_rules! random_id {
    ($name:ident, $prefix:literal) => {
        impl $name {
            /// A new unique id; ids made later sort later.
            #[allow(clippy::new_without_default)]
            pub fn new() -> Self {
                Self(format!(concat!($prefix, "{}"), Uuid::now_v7().simple()).into())
            }
        }
    };
}

id! {
    /// A session: a plain UUID (v7), or for an adopted session an id that follows from its runtime's. Never changes.
    SessionId
}
id! {
    /// A service of the MCP gateway: `svc_` and 12 hex digits.
    ServiceId
}
id! {
    /// A runtime's own id for a session; an alias of the [`SessionId`], never a key of ours.
    RuntimeSessionId
}
id! {
    /// One prompt and everything the runtime did about it: `task_` and 32 hex digits.
    TaskId
}
id! {
    /// A tool call in Roost, the same over all attempts: `tc_` and 32 hex digits.
    ToolCallId
}
id! {
    /// A question that a runtime asked the user: `q_` and 32 hex digits.
    QuestionId
}
id! {
    /// A prompt that waits in a session's queue: `prompt_` and 32 hex digits.
    PromptId
}
id! {
    /// One request to a runtime: `req_` and 32 hex digits.
    RequestId
}
id! {
    /// One connection of a client; a new one for every connection.
    ClientId
}
id! {
    /// The person or device behind a client.
    UserId
}
id! {
    /// Bytes in the artifact store, by their content: equal bytes have one id.
    ArtifactId
}
id! {
    /// A folder that clients may work in: a plain UUID (v7).
    WorkspaceId
}
id! {
    /// A paired device: `dev_` and 32 hex digits.
    DeviceId
}
id! {
    /// A run of an agent, as whoever orchestrates it names it.
    RunId
}

random_id!(TaskId, "task_");
random_id!(ToolCallId, "tc_");
random_id!(QuestionId, "q_");
random_id!(PromptId, "prompt_");
random_id!(RequestId, "req_");
random_id!(DeviceId, "dev_");

impl SessionId {
    /// A new unique session id; sessions made later sort later.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(Uuid::now_v7().to_string().into())
    }

    /// The session id of a conversation that a runtime keeps: the runtime's own id if that is a UUID, else a UUID
    /// derived from it, so that it is the same every time.
    pub fn for_native(runtime: &RuntimeName, native: &RuntimeSessionId) -> Self {
        match Uuid::try_parse(native.as_str()) {
            Ok(_) => native.as_str().into(),
            Err(_) => {
                let name = format!("roost:{}/{native}", runtime.id());
                Uuid::new_v5(&Uuid::NAMESPACE_URL, name.as_bytes()).to_string().into()
            }
        }
    }

    /// Stands in place of a session id in the daemon's own events; no session has it.
    pub fn host() -> Self {
        Self("host".into())
    }
}

impl WorkspaceId {
    /// A new unique workspace id; workspaces made later sort later.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(Uuid::now_v7().to_string().into())
    }
}
