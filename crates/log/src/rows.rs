//! The host's own rows: what must survive a restart and is no session.
//!
//! Events tell that they changed, but not all that is in them (token hashes stay here), so they cannot be made anew
//! from events: `check` and `rebuild` leave them alone, and so does retention.

use rusqlite::{Connection, OptionalExtension, params};

use crate::error::Result;

/// What a row of the host is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowKind {
    /// A directory that clients know by name.
    Workspace,
    /// A paired device and the hashes of its tokens.
    Device,
    /// A position in the log that a client named.
    Cursor,
    /// What a session is started with and events must not tell.
    Session,
    /// Something that is hashed or must not be told, such as a pairing token.
    Secret,
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
        }
    }
}

/// A row that is written or deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowChange {
    /// What it is about.
    pub kind: RowKind,
    /// Which one of its kind.
    pub id: String,
    /// What it says from now on, as JSON; `None` deletes it.
    pub body: Option<String>,
}

impl RowChange {
    /// Bytes that it takes, roughly.
    pub(crate) fn size(&self) -> usize {
        self.id.len() + self.body.as_ref().map_or(0, String::len)
    }

    /// Writes the change.
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

/// The rows of a kind, id and JSON, ordered by id.
pub(crate) fn rows(db: &Connection, kind: RowKind) -> Result<Vec<(String, String)>> {
    let mut select = db.prepare_cached("SELECT id, body FROM rows WHERE kind = ?1 ORDER BY id")?;
    let found = select.query_map([kind.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}
