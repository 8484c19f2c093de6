//! Identifiers: one newtype each, so that a task id can never be passed as a session id.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::runtime::RuntimeName;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The id as text.
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
    /// A session: a plain UUID (v7), or the native id of an adopted session. Permanent.
    SessionId
}
id! {
    /// A runtime's own id for a session; an alias of the [`SessionId`], never a key of ours.
    RuntimeSessionId
}
id! {
    /// One prompt and everything the runtime did about it.
    TaskId
}
id! {
    /// A tool call within Roost, stable over attempts.
    ToolCallId
}
id! {
    /// A question that a runtime put to the user.
    QuestionId
}
id! {
    /// A prompt that waits for its turn.
    PromptId
}
id! {
    /// One request to a runtime or of a client.
    RequestId
}
id! {
    /// A connected client.
    ClientId
}
id! {
    /// Whoever is behind a client.
    UserId
}
id! {
    /// A stored artifact.
    ArtifactId
}
id! {
    /// A directory that clients know by name: a plain UUID (v7).
    WorkspaceId
}
id! {
    /// A device that was paired with this host.
    DeviceId
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

    /// The id of a conversation that a runtime keeps: the runtime's own where that is a UUID, else one that follows from
    /// it.
    pub fn of_native(runtime: &RuntimeName, native: &RuntimeSessionId) -> Self {
        match Uuid::try_parse(native.as_str()) {
            Ok(_) => native.as_str().into(),
            Err(_) => {
                let name = format!("roost:{}/{native}", runtime.id());
                Uuid::new_v5(&Uuid::NAMESPACE_URL, name.as_bytes()).to_string().into()
            }
        }
    }

    /// What the host's own events bear where others bear a session's id; not a session.
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
