//! Jobs.

use rusqlite::Connection;

/// Work besides appending, done in small steps between groups.
pub(crate) enum Job {}

impl Job {
    /// Takes one step; gives the job back while there is more to do.
    pub(crate) fn step(self, _db: &Connection) -> Option<Self> {
        match self {}
    }
}
