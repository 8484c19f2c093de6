//! A database that version 1 wrote, committed once and opened for ever.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use roost_log::{Log, LogOptions, Retention, Seq, SqliteLog, check};
use roost_model::event::EventBody;
use roost_model::session::SessionRecord;
use roost_model::time::Timestamp;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::kit::*;

/// Everything that a log holds.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Contents {
    sessions: Vec<SessionRecord>,
    /// For each stream the first stored event's place, and all lines from there.
    streams: BTreeMap<String, (Seq, Vec<String>)>,
}

const STREAMS: [&str; 4] = ["audit", "closed", "cut", "running"];

async fn contents(log: &SqliteLog) -> Contents {
    let mut streams = BTreeMap::new();
    for name in STREAMS {
        let (stream, mut first, mut lines) = (name.into(), 1, Vec::new());
        loop {
            match log.read(&stream, first + lines.len() as Seq - 1, 1000).await {
                Ok(page) if page.batch.is_empty() => break,
                Ok(page) => lines.extend(page.batch.iter().map(|entry| entry.json().to_owned())),
                Err(roost_log::Error::Truncated { resume_at, .. }) => first = resume_at,
                Err(error) => panic!("{error}"),
            }
        }
        streams.insert(name.to_owned(), (first, lines));
    }
    Contents { sessions: log.sessions(100).await.unwrap(), streams }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

#[tokio::test]
async fn the_database_of_version_1_opens_and_says_the_same_as_ever() {
    let dir = TempDir::new().unwrap();
    std::fs::copy(fixtures().join("v1.db"), dir.path().join("roost.db")).unwrap();
    let expected: Contents = serde_json::from_slice(&std::fs::read(fixtures().join("v1.json")).unwrap()).unwrap();
    let log = open(dir.path(), LogOptions::default());
    assert_eq!(contents(&log).await, expected);
    assert_eq!(log.session("native-2").await.unwrap().unwrap().session_id.as_str(), "closed");
    assert_eq!(store(&log, "running", vec![completed("running")]).await.first, 303);
    log.close().await;
    assert_eq!(check(dir.path()).unwrap().problems, [""; 0]);
}

#[tokio::test]
#[ignore = "not a test: writes a fixture: set ROOST_FIXTURE to where its two files shall go, without their extension"]
async fn write_a_fixture() {
    let Some(path) = std::env::var_os("ROOST_FIXTURE").map(PathBuf::from) else { return };
    let Home { dir, log } = Home::new();
    let day = 24 * 60 * 60 * 1000;
    let cold = |events: Vec<_>| events.into_iter().map(|event| at(NOW - day, event)).collect::<Vec<_>>();
    store(&log, "cut", vec![at(NOW - 40 * day, created("cut")), at(NOW - 40 * day, known_as("cut", "native-1"))]).await;
    store(&log, "cut", vec![delta("cut", "after the cut")]).await;
    store(&log, "closed", cold(vec![created("closed"), known_as("closed", "native-2"), started("closed")])).await;
    store(&log, "closed", cold(deltas("closed", 20))).await;
    log.compact(Timestamp::from_millis(NOW)).await.unwrap();
    store(&log, "closed", vec![completed("closed")]).await;
    store(&log, "running", vec![created("running"), started("running")]).await;
    store(&log, "running", deltas("running", 300)).await;
    let unknown = EventBody::Other { name: "from.the.future".into(), payload: serde_json::json!({ "a": [1, "ü"] }) };
    store(&log, "audit", vec![event("closed", unknown)]).await;
    let rules = Retention { max_age: Duration::from_hours(30 * 24), ..Retention::default() };
    log.retain(rules, Timestamp::from_millis(NOW)).await.unwrap();
    let contents = serde_json::to_vec_pretty(&contents(&log).await).unwrap();
    log.close().await;
    std::fs::copy(dir.path().join("roost.db"), path.with_extension("db")).unwrap();
    std::fs::write(path.with_extension("json"), contents).unwrap();
}
