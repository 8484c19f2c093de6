//! Opening: what is not a log of this version gives an error that says what to do.

use std::path::Path;

use roost_log::{Error, LogOptions, SqliteLog, StateLock, check};
use tempfile::TempDir;

use crate::kit::*;

fn try_open(dir: &Path) -> Result<SqliteLog, Error> {
    SqliteLog::open(&StateLock::acquire(dir, "test").unwrap(), LogOptions::default())
}

#[test]
fn reading_where_nothing_was_written_is_not_found() {
    let dir = TempDir::new().unwrap();
    assert!(matches!(SqliteLog::open_read_only(dir.path()), Err(Error::NotFound { .. })));
}

#[tokio::test]
async fn a_database_of_a_newer_roost_is_refused_and_left_alone() {
    let Home { dir, log } = Home::new();
    log.close().await;
    drop(log);
    let path = dir.path().join("roost.db");
    rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let before = std::fs::read(&path).unwrap();
    assert!(matches!(try_open(dir.path()), Err(Error::Newer { found: 99, supported: 5, .. })));
    assert!(matches!(SqliteLog::open_read_only(dir.path()), Err(Error::Newer { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("roost.db");
    let text = "this is not a database, but long enough to be looked at as one\n".repeat(100);
    std::fs::write(&path, &text).unwrap();
    assert!(matches!(try_open(dir.path()), Err(Error::Corrupt { .. })));
    assert!(matches!(SqliteLog::open_read_only(dir.path()), Err(Error::Corrupt { .. })));
    assert_eq!(check(dir.path()).unwrap().problems.len(), 1);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

#[tokio::test]
async fn a_damaged_database_is_called_damaged() {
    let Home { dir, log } = Home::new();
    for _ in 0..20 {
        store(&log, "s", deltas("s", 256)).await;
    }
    log.close().await;
    drop(log);
    let path = dir.path().join("roost.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let header = 4096;
    bytes[header..].fill(0xa5);
    std::fs::write(&path, bytes).unwrap();
    assert!(matches!(try_open(dir.path()), Err(Error::Corrupt { .. })));
    assert!(!check(dir.path()).unwrap().problems.is_empty());
}

#[test]
fn two_logs_cannot_be_open_for_writing() {
    let home = Home::new();
    assert!(matches!(StateLock::acquire(home.path(), "test"), Err(Error::Held { .. })));
}
