//! Check finds what is wrong; rebuild mends what events can tell.

use roost_log::{Log, LogOptions, StateLock, check, rebuild};
use roost_model::event::EventBody;
use roost_model::payload::UsageReportedPayload;
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

use crate::kit::*;

async fn some_log() -> TempDir {
    let Home { dir, log } = Home::new();
    for session in ["a", "b"] {
        store(&log, session, vec![created(session), known_as(session, &format!("native-{session}"))]).await;
        store(&log, session, deltas(session, 10)).await;
        store(&log, session, deltas(session, 600)).await;
        store(&log, session, vec![started(session)]).await;
    }
    log.close().await;
    dir
}

fn sql(dir: &TempDir, statements: &str) {
    Connection::open(dir.path().join("roost.db")).unwrap().execute_batch(statements).unwrap();
}

#[tokio::test]
async fn a_sound_log_has_no_problems_and_a_rebuild_changes_nothing() {
    let dir = some_log().await;
    let report = check(dir.path()).unwrap();
    assert_eq!((report.streams, report.events, &report.problems[..]), (2, 1226, &[][..]));
    assert_eq!(rebuild(&StateLock::acquire(dir.path(), "test").unwrap()).unwrap(), Default::default());
}

#[tokio::test]
async fn a_log_in_use_can_be_checked() {
    let home = Home::new();
    store(&home.log, "s", vec![created("s")]).await;
    assert_eq!(check(home.path()).unwrap().problems, [""; 0]);
}

#[tokio::test]
async fn the_rows_of_an_earlier_version_are_derived_anew_when_it_is_opened() {
    let Home { dir, log } = Home::new();
    let usage: UsageReportedPayload = serde_json::from_value(json!({ "input_tokens": 7, "output_tokens": 5 })).unwrap();
    store(&log, "s", vec![created("s"), started("s"), event("s", EventBody::UsageReported(usage))]).await;
    log.close().await;
    drop(log);
    sql(&dir, "UPDATE sessions SET record = json_remove(record, '$.usage'); PRAGMA user_version = 4");
    assert_eq!(check(dir.path()).unwrap().problems.len(), 1);
    let log = open(dir.path(), LogOptions::default());
    assert_eq!(log.session("s").await.unwrap().unwrap().usage.output_tokens, 5);
    log.close().await;
    assert_eq!(check(dir.path()).unwrap().problems, [""; 0]);
}

#[tokio::test]
async fn rebuild_mends_whatever_events_can_tell() {
    let damages = [
        ("DELETE FROM sessions WHERE session_id = 'a'", "session a: it is missing from the directory"),
        ("UPDATE sessions SET status = 'closed' WHERE session_id = 'b'", "session b: the directory differs"),
        ("UPDATE sessions SET record = '{' WHERE session_id = 'b'", "session b: the directory differs"),
        ("UPDATE sessions SET open_task = NULL", "session a: the directory differs"),
        (
            "INSERT INTO sessions SELECT 'ghost', stream, status, runtime, cwd, updated_ms, open_task, record
             FROM sessions LIMIT 1",
            "session ghost: it is in the directory, but no event made it",
        ),
        ("DELETE FROM aliases", "session a: its other name native-a is missing"),
        ("INSERT INTO aliases VALUES('x', 'a')", "session a: no event gave it the other name x"),
        ("UPDATE streams SET last_seq = 7 WHERE name = 'a'", "stream a: its last event is 613, but it is said to be 7"),
        ("UPDATE blocks SET types = 0 WHERE id = 2", "stream a: block 2 does not say what it holds"),
        ("UPDATE blocks SET last_seq = 5 WHERE id = 2", "stream a: block 2 does not say what it holds"),
    ];
    for (damage, problem) in damages {
        let dir = some_log().await;
        sql(&dir, damage);
        let problems = check(dir.path()).unwrap().problems;
        assert!(problems[0].starts_with(problem), "{damage}: {problems:?}");
        let rebuilt = rebuild(&StateLock::acquire(dir.path(), "test").unwrap()).unwrap();
        assert_eq!((rebuilt.mended, rebuilt.remaining.len()), (problems, 0), "{damage}");
        assert_eq!(check(dir.path()).unwrap().problems, [""; 0], "{damage}");
    }
}

#[tokio::test]
async fn events_that_are_gone_or_unreadable_are_told_and_stay_told() {
    let damages = [
        ("DELETE FROM blocks WHERE id = 2", "stream a: events 3 to 12 are missing"),
        ("UPDATE blocks SET body = x'00' WHERE id = 2", "stream a: "),
        ("UPDATE blocks SET codec = 1 WHERE id = 2", "stream a: events 3 to 12 cannot be read"),
        ("UPDATE blocks SET codec = 0 WHERE id = 3", "stream a: events 13 to 268 cannot be read"),
        ("UPDATE blocks SET codec = 9 WHERE id = 2", "stream a: events 3 to 12 cannot be read"),
        (
            "UPDATE blocks SET body = CAST(replace(CAST(body AS TEXT), '\"seq\":9,', '\"seq\":8,') AS BLOB) WHERE id = 2",
            "stream a: event 9 says that it is event 8",
        ),
        ("UPDATE blocks SET stream = 77 WHERE id = 2", "stream a: events 3 to 12 are missing"),
    ];
    for (damage, problem) in damages {
        let dir = some_log().await;
        sql(&dir, damage);
        let problems = check(dir.path()).unwrap().problems;
        assert!(problems[0].starts_with(problem), "{damage}: {problems:?}");
        let rebuilt = rebuild(&StateLock::acquire(dir.path(), "test").unwrap()).unwrap();
        assert!(rebuilt.remaining[0].starts_with(problem), "{damage}: {rebuilt:?}");
    }
}

#[tokio::test]
async fn an_unreadable_event_is_an_error_for_its_reader_and_not_a_gap() {
    let dir = some_log().await;
    sql(
        &dir,
        "UPDATE blocks SET body = CAST(replace(CAST(body AS TEXT), '\"seq\":9,', '\"seq\":x,') AS BLOB) WHERE id = 2",
    );
    let log = open(dir.path(), Default::default());
    let page = log.read(&"a".into(), 7, 3).await.unwrap();
    let readable: Vec<_> = page.batch.iter().map(|entry| (entry.seq(), entry.event().is_ok())).collect();
    assert_eq!(readable, [(8, true), (9, false), (10, true)]);
}
