//! The tables of the database, and the migrations from earlier versions.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::check::derive_rows;
use crate::error::{Error, Result};
use crate::sqlite::Synchronous;

/// The migrations: step n leads from version n to n + 1, and the first one starts from an empty file. Steps are only
/// added, never changed.
const STEPS: [MigrationStep; 5] = [
    MigrationStep::Sql(V1),
    MigrationStep::Sql(V2),
    MigrationStep::Sql(V3),
    MigrationStep::Sql(V4),
    MigrationStep::DeriveRows,
];

const VERSION: u32 = STEPS.len() as u32;

enum MigrationStep {
    /// Changes the tables.
    Sql(&'static str),
    /// Reads all events and writes the derived rows anew, because they hold more than the version before kept: since
    /// version 5 what a session has used up, and why its last task failed.
    DeriveRows,
}

const V1: &str = "
    CREATE TABLE streams(
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        last_seq INTEGER NOT NULL,
        resume_at INTEGER NOT NULL DEFAULT 1,   -- the first event still stored
        removed_to INTEGER NOT NULL DEFAULT 0,  -- the last block that retention removed
        snapshot TEXT                           -- what the removed events add up to
    );
    CREATE INDEX streams_by_removal ON streams(removed_to) WHERE removed_to > 0;

    CREATE TABLE blocks(
        id INTEGER PRIMARY KEY AUTOINCREMENT,   -- cursors name it, so it must never come again
        stream INTEGER NOT NULL,
        first_seq INTEGER NOT NULL,
        last_seq INTEGER NOT NULL,
        types INTEGER NOT NULL,                 -- bit n: the nth type of proto's table; bit 63: one unknown to the writer
        time_ms INTEGER NOT NULL,               -- of the last event
        bytes INTEGER NOT NULL,                 -- of the plain text
        codec INTEGER NOT NULL DEFAULT 0,       -- 0 plain, 1 zstd
        body BLOB NOT NULL                      -- NDJSON
    );
    CREATE UNIQUE INDEX blocks_by_seq ON blocks(stream, first_seq);
    CREATE INDEX blocks_by_stream ON blocks(stream, id);

    CREATE TABLE sessions(
        session_id TEXT PRIMARY KEY,
        stream INTEGER NOT NULL,
        status TEXT NOT NULL,
        runtime TEXT NOT NULL,
        cwd TEXT NOT NULL,
        updated_ms INTEGER NOT NULL,
        open_task TEXT,
        record TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX sessions_by_update ON sessions(updated_ms);
    CREATE INDEX sessions_with_task ON sessions(updated_ms) WHERE open_task IS NOT NULL;

    CREATE TABLE aliases(
        alias TEXT NOT NULL,
        session_id TEXT NOT NULL,
        PRIMARY KEY(alias, session_id)
    ) WITHOUT ROWID;
";

/// A restart looks at the sessions that were not closed, and at no others.
const V2: &str = "
    CREATE INDEX sessions_unclosed ON sessions(updated_ms) WHERE status IN ('active', 'ending');
";

/// The tables of what waits for a person, and of the remembered rules.
const V3: &str = "
    CREATE TABLE pending(
        session_id TEXT NOT NULL,
        id TEXT NOT NULL,                       -- of the tool call or the question
        asked_ms INTEGER NOT NULL,
        record TEXT NOT NULL,
        PRIMARY KEY(session_id, id)
    ) WITHOUT ROWID;
    CREATE INDEX pending_by_session ON pending(session_id, asked_ms);

    CREATE TABLE remembered(
        subject TEXT PRIMARY KEY,               -- what the rule is about, whatever it says about it
        made_ms INTEGER NOT NULL,
        rule TEXT NOT NULL
    ) WITHOUT ROWID;
";

/// The host's own rows.
const V4: &str = "
    CREATE TABLE rows(
        kind TEXT NOT NULL,
        id TEXT NOT NULL,
        body TEXT NOT NULL,                     -- JSON
        PRIMARY KEY(kind, id)
    ) WITHOUT ROWID;
";

/// How long a connection waits for the transaction of another process.
const BUSY: Duration = Duration::from_secs(5);
/// The write-ahead log is truncated to this many bytes after a burst.
const WAL_BYTES: i64 = 16 << 20;
/// A checkpoint runs when the write-ahead log has this many pages.
const CHECKPOINT_PAGES: i64 = 1000;

/// The path of the database in a state directory.
pub(crate) fn database(state: &Path) -> PathBuf {
    state.join("roost.db")
}

/// Opens the database for writing. Creates or migrates it first, if needed.
pub(crate) fn open_writer(path: &Path, synchronous: Synchronous) -> Result<Connection> {
    let open = || {
        let mut db = Connection::open(path)?;
        db.busy_timeout(BUSY)?;
        db.set_prepared_statement_cache_capacity(32);
        let version = version(&db, path)?;
        if version == 0 {
            // Both only take effect before the first table is there.
            db.execute_batch("PRAGMA page_size=8192; PRAGMA auto_vacuum=INCREMENTAL;")?;
        }
        db.pragma_update(None, "journal_mode", "WAL")?;
        db.pragma_update(None, "synchronous", synchronous.pragma())?;
        db.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        db.pragma_update(None, "journal_size_limit", WAL_BYTES)?;
        migrate(&mut db, version)?;
        Ok(db)
    };
    open().map_err(|error: Error| error.at(path))
}

/// Opens the database for reading.
pub(crate) fn open_reader(path: &Path) -> Result<Connection> {
    if !path.exists() {
        return Err(Error::NotFound { path: path.into() });
    }
    let open = || {
        let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        db.busy_timeout(BUSY)?;
        db.pragma_update(None, "cache_size", -512)?;
        match version(&db, path)? {
            // Made this moment by another process, which has not come to the tables yet.
            0 => Err(Error::NotFound { path: path.into() }),
            _ => Ok(db),
        }
    };
    open().map_err(|error: Error| error.at(path))
}

/// The schema version of a state directory's database. Blocks the thread.
pub fn tables_version(state: &Path) -> Result<u32> {
    let path = database(state);
    let db = open_reader(&path)?;
    version(&db, &path)
}

fn version(db: &Connection, path: &Path) -> Result<u32> {
    let found = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if found > VERSION {
        return Err(Error::Newer { path: path.into(), found, supported: VERSION });
    }
    Ok(found)
}

fn migrate(db: &mut Connection, from: u32) -> Result<()> {
    for (version, step) in (1..).zip(STEPS).skip(from as usize) {
        let step_taken = db.transaction()?;
        match step {
            MigrationStep::Sql(statements) => step_taken.execute_batch(statements)?,
            MigrationStep::DeriveRows => derive_rows(&step_taken)?,
        }
        step_taken.pragma_update(None, "user_version", version)?;
        step_taken.commit()?;
    }
    Ok(())
}
