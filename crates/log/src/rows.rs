//! The host's own rows: workspaces, devices, services and secrets, which must survive a restart.
//!
//! Events say that a row changed, but not all that it holds (token hashes stay here), so rows cannot be rebuilt from
//! events: `check`, `rebuild` and retention leave them alone.

use rusqlite::{Connection, OptionalExtension, params};

use crate::error::Result;

/// The kind of a host's row. Ids are unique within a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowKind {
    /// A directory that is registered as a workspace.
    Workspace,
    /// A paired device and the hashes of its tokens.
    Device,
    /// A position in the log that a client stored under a name.
    Cursor,
    /// The secret variables, settings and MCP servers of a session.
    Session,
    /// A secret of the host or its hash, such as a pairing token.
    Secret,
    /// A service of the MCP gateway: its manifest, its approved tools, and whether it is quarantined.
    Service,
    /// A run that orchestration clients report: what its events in the host's stream add up to.
    Run,
}

impl RowKind {
    /// The name as stored; must never change.
    fn as_str(self) -> &'static str {
        match self {
            Self::Workspace => "workspace",
            Self::Device => "device",
            Self::Cursor => "cursor",
            Self::Session => "session",
            Self::Secret => "secret",
            Self::Service => "service",
            Self::Run => "run",
        }
    }
}

/// A row that is written or deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowChange {
    /// Together with `id` the key of the row.
    pub kind: RowKind,
    /// Unique within its kind.
    pub id: String,
    /// The new content as JSON; `None` deletes the row.
    pub body: Option<String>,
}

impl RowChange {
    /// Roughly the bytes that it takes in the queue.
    pub(crate) fn size(&self) -> usize {
        self.id.len() + self.body.as_ref().map_or(0, String::len)
    }

    /// Writes the change in the transaction of its events.
    pub(crate) fn store(&self, db: &Connection) -> Result<()> {
        let kind = self.kind.as_str();
        match &self.body {
            Some(body) => db
                .prepare_cached("INSERT OR REPLACE INTO rows(kind, id, body) VALUES(?1, ?2, ?3)")?
                .execute(params![kind, self.id, body])?,
            None => db.prepare_cached("DELETE FROM rows WHERE kind = ?1 AND id = ?2")?.execute([kind, &self.id])?,
        };
        Ok(())
    }
}

/// The row of this id.
pub(crate) fn row(db: &Connection, kind: RowKind, id: &str) -> Result<Option<String>> {
    let mut select = db.prepare_cached("SELECT body FROM rows WHERE kind = ?1 AND id = ?2")?;
    Ok(select.query_row([kind.as_str(), id], |row| row.get(0)).optional()?)
}

/// The rows of a kind as pairs of id and JSON, ordered by id.
pub(crate) fn rows(db: &Connection, kind: RowKind) -> Result<Vec<(String, String)>> {
    let mut select = db.prepare_cached("SELECT id, body FROM rows WHERE kind = ?1 ORDER BY id")?;
    let found = select.query_map([kind.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}
