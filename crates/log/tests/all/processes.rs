//! Two processes: one that is killed, one that only reads.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use roost_log::{Filter, Log, LogOptions, Seq, SqliteLog, Start, StreamId, check};
use tempfile::TempDir;

use crate::kit::*;

/// This test binary again, as a process that appends for ever and prints what its follower sees.
struct Appender {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Appender {
    fn start(state: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--ignored", "--nocapture", "processes::append_for_ever"])
            .env("ROOST_APPEND_TO", state)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// The next event that its follower saw; `None` once it is dead and all it said was read.
    fn next(&mut self) -> Option<(String, Seq)> {
        loop {
            // Its last line may be cut.
            let line = self.lines.next()?.ok()?;
            if let Some((stream, seq)) = line.strip_prefix("saw ").and_then(|rest| rest.split_once(' '))
                && let Some(seq) = seq.strip_suffix(';')
            {
                return Some((stream.to_owned(), seq.parse().unwrap()));
            }
        }
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Appender {
    fn drop(&mut self) {
        self.kill();
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "not a test: the child of the tests beside it"]
async fn append_for_ever() {
    let Some(state) = std::env::var_os("ROOST_APPEND_TO") else { return };
    let log = open(state.as_ref(), LogOptions::default());
    let mut follower = log.follow(Filter::all(), Start::Beginning).await.unwrap();
    tokio::spawn(async move {
        for n in 0.. {
            let stream = if n % 3 == 0 { "a" } else { "b" };
            drop(log.append(&StreamId::from(stream), deltas(stream, 1 + n % 50)).await.unwrap());
        }
    });
    let mut out = std::io::stdout().lock();
    loop {
        for entry in &follower.next().await.unwrap() {
            writeln!(out, "saw {} {};", entry.stream(), entry.seq()).unwrap();
        }
    }
}

#[tokio::test]
async fn what_a_follower_saw_survives_kill_9() {
    let dir = TempDir::new().unwrap();
    let mut appender = Appender::start(dir.path());
    let mut seen = HashMap::new();
    for _ in 0..20_000 {
        let (stream, seq) = appender.next().unwrap();
        seen.insert(stream, seq);
    }
    appender.kill();
    seen.extend(std::iter::from_fn(|| appender.next()));
    let log = open(dir.path(), LogOptions::default());
    for (stream, last) in seen {
        assert!(read_all(&log, &stream).await.len() as Seq >= last, "{stream}");
    }
    log.close().await;
    assert_eq!(check(dir.path()).unwrap().problems, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_process_follows_without_a_gap_and_outlives_the_writer() {
    let dir = TempDir::new().unwrap();
    let mut appender = Appender::start(dir.path());
    appender.next().unwrap();
    let log = SqliteLog::open_read_only(dir.path()).unwrap();
    let mut follower = log.follow(Filter::stream("b".into()), Start::Beginning).await.unwrap();
    // Nobody reads what the child prints from here on, so it stops seeing, but it does not stop appending.
    assert_eq!(take(&mut follower, 20_000).await[..20_000], places("b", 20_000));
    appender.kill();
    let fresh = SqliteLog::open_read_only(dir.path()).unwrap();
    assert!(read_all(&fresh, "b").await.len() >= 20_000);
}
