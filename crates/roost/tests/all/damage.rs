//! Databases that are broken, too new, or disagree with themselves.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;

use crate::kit::Place;

/// Where SQLite keeps the version that its user sets.
const USER_VERSION: u64 = 60;

/// A place where something was run, at rest.
fn used() -> Place {
    let place = Place::new();
    place.run(&["run", "hello"]).ended(0);
    place.assert_nothing_left();
    place
}

#[test]
fn a_corrupt_database_is_named_with_what_to_do() {
    let place = used();
    fs::write(place.database(), "this is not a database, however long one looks at it".repeat(100)).unwrap();
    for args in [&["run", "hello"][..], &["sessions"], &["log", "x"]] {
        let done = place.run(args).ended(1);
        assert!(done.stderr.contains("roost.db") && done.stderr.contains("roost check"), "{args:?}: {done:#?}");
    }
    let check = place.run(&["check"]).ended(1);
    assert!(check.stdout.contains("wrong: "), "{check:#?}");
    place.run(&["doctor"]).ended(1);
}

#[test]
fn a_newer_database_is_left_alone() {
    let place = used();
    let file = OpenOptions::new().write(true).open(place.database()).unwrap();
    file.write_all_at(&99_u32.to_be_bytes(), USER_VERSION).unwrap();
    let before = fs::read(place.database()).unwrap();
    for args in [&["run", "hello"][..], &["sessions"], &["check"], &["check", "--rebuild"]] {
        let done = place.run(args).ended(1);
        assert!(done.stderr.contains("newer Roost"), "{args:?}: {done:#?}");
    }
    assert_eq!(fs::read(place.database()).unwrap(), before);
}

#[test]
fn a_lost_session_list_is_found_and_made_anew() {
    let place = used();
    let list = place.run(&["sessions", "--json"]).ended(0).stdout;
    rusqlite::Connection::open(place.database()).unwrap().execute("DELETE FROM sessions", []).unwrap();
    let check = place.run(&["check"]).ended(1);
    assert!(check.stdout.contains("--rebuild"), "{check:#?}");
    let rebuilt = place.run(&["check", "--rebuild"]).ended(0);
    assert!(rebuilt.stdout.contains("mended: "), "{rebuilt:#?}");
    place.run(&["check"]).ended(0);
    assert_eq!(place.run(&["sessions", "--json"]).ended(0).stdout, list);
}

#[test]
fn nothing_to_check_is_said_and_changes_nothing() {
    let place = Place::new();
    let done = place.run(&["check"]).ended(1);
    assert!(done.stderr.contains("no session has been run here yet"), "{done:#?}");
    assert!(!place.database().exists());
}
