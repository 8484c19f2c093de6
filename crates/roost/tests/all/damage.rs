//! Databases that are broken, too new, or disagree with themselves.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;

use crate::kit::RoostInstance;

/// Where SQLite keeps the version that its user sets.
const USER_VERSION: u64 = 60;

/// An instance where something was run, at rest.
fn used() -> RoostInstance {
    let instance = RoostInstance::new();
    instance.run(&["run", "hello"]).ended(0);
    instance.assert_nothing_left();
    instance
}

#[test]
fn a_corrupt_database_is_named_with_what_to_do() {
    let instance = used();
    fs::write(instance.database(), "this is not a database, however long one looks at it".repeat(100)).unwrap();
    for args in [&["run", "hello"][..], &["sessions"], &["log", "x"]] {
        let done = instance.run(args).ended(1);
        assert!(done.stderr.contains("roost.db") && done.stderr.contains("roost check"), "{args:?}: {done:#?}");
    }
    let check = instance.run(&["check"]).ended(1);
    assert!(check.stdout.contains("wrong: "), "{check:#?}");
    instance.run(&["doctor"]).ended(1);
}

#[test]
fn a_newer_database_is_left_alone() {
    let instance = used();
    let file = OpenOptions::new().write(true).open(instance.database()).unwrap();
    file.write_all_at(&99_u32.to_be_bytes(), USER_VERSION).unwrap();
    let before = fs::read(instance.database()).unwrap();
    for args in [&["run", "hello"][..], &["sessions"], &["check"], &["check", "--rebuild"]] {
        let done = instance.run(args).ended(1);
        assert!(done.stderr.contains("newer Roost"), "{args:?}: {done:#?}");
    }
    assert_eq!(fs::read(instance.database()).unwrap(), before);
}

#[test]
fn a_lost_session_list_is_found_and_made_anew() {
    let instance = used();
    let list = instance.run(&["sessions", "--json"]).ended(0).stdout;
    rusqlite::Connection::open(instance.database()).unwrap().execute("DELETE FROM sessions", []).unwrap();
    let check = instance.run(&["check"]).ended(1);
    assert!(check.stdout.contains("--rebuild"), "{check:#?}");
    let rebuilt = instance.run(&["check", "--rebuild"]).ended(0);
    assert!(rebuilt.stdout.contains("repaired: "), "{rebuilt:#?}");
    instance.run(&["check"]).ended(0);
    assert_eq!(instance.run(&["sessions", "--json"]).ended(0).stdout, list);
}

#[test]
fn nothing_to_check_is_said_and_changes_nothing() {
    let instance = RoostInstance::new();
    let done = instance.run(&["check"]).ended(1);
    assert!(done.stderr.contains("no session has been run here yet"), "{done:#?}");
    assert!(!instance.database().exists());
}
