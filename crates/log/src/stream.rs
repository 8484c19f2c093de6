//! Streams and the numbers of their events.

use std::fmt;
use std::sync::Arc;

use roost_model::ids::SessionId;

/// The number of an event in its stream: starts at 1, has no gaps and never changes.
pub type Seq = u64;

/// The name of a stream. A session's stream is named by the session's id.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId(Arc<str>);

impl StreamId {
    /// The stream of the host's own events, such as paired devices and workspaces.
    pub fn host() -> Self {
        Self::from(&SessionId::host())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for StreamId {
    fn from(name: &str) -> Self {
        Self(name.into())
    }
}

impl From<&SessionId> for StreamId {
    fn from(session: &SessionId) -> Self {
        Self(session.as_str().into())
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StreamId({})", self.0)
    }
}
