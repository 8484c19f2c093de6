//! The state lock: one holder, and everyone else is told who.

use std::os::unix::fs::PermissionsExt;

use roost_log::{Error, StateLock};
use tempfile::TempDir;

#[test]
fn a_second_taker_is_told_who_holds_the_directory() {
    let dir = TempDir::new().unwrap();
    let _lock = StateLock::acquire(dir.path(), "roost run hello").unwrap();
    let Err(Error::Held { holder: Some(holder), .. }) = StateLock::acquire(dir.path(), "roost sessions") else {
        panic!("the lock was given twice");
    };
    assert_eq!((holder.pid, holder.command.as_str()), (std::process::id(), "roost run hello"));
}

#[test]
fn the_directory_is_free_when_the_last_clone_is_gone() {
    let dir = TempDir::new().unwrap();
    let lock = StateLock::acquire(dir.path(), "first").unwrap();
    let clone = lock.clone();
    drop(lock);
    assert!(StateLock::acquire(dir.path(), "second").is_err());
    drop(clone);
    assert!(StateLock::acquire(dir.path(), "a shorter one").is_ok());
}

#[test]
fn the_directory_is_made_for_its_owner_only() {
    let dir = TempDir::new().unwrap();
    let state = dir.path().join("a/b");
    let _lock = StateLock::acquire(&state, "test").unwrap();
    assert_eq!(state.metadata().unwrap().permissions().mode() & 0o777, 0o700);
}
