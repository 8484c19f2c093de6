//! Names of streams and places in them.

use std::fmt;
use std::sync::Arc;

use roost_model::ids::SessionId;

/// An event's place in its stream: from 1, without a gap, for ever the same.
pub type Seq = u64;

/// The name of a stream; a session's stream bears the session's id.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId(Arc<str>);

impl StreamId {
    /// The stream of what happens to the host itself.
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
