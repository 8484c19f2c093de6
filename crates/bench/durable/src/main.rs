//! The yardstick for `bench stream`: the shortest honest durable pipeline.
//!
//! `durable flood N` writes N ACP chunks of 200 bytes to stdout; `durable count` counts lines (the bare pipe);
//! `durable rows DB` parses each line, renders a normalized event and appends it to SQLite (WAL, synchronous=NORMAL),
//! one row per event, up to 8,192 events per transaction. Each prints its rate on stderr.
//!
//!     durable flood 500000 | durable count
//!     durable flood 500000 | durable rows x.db

use std::io::{BufRead, Write};
use std::sync::mpsc;
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    match args.get(1).map(String::as_str) {
        Some("flood") => flood(args.get(2).and_then(|n| n.parse().ok()).unwrap_or(200_000)),
        Some("count") => count(),
        Some("rows") => rows(args.get(2).map_or("durable.db", String::as_str)),
        _ => eprintln!("durable flood N | durable count | durable rows DB"),
    }
}

fn flood(n: usize) {
    let mut out = std::io::BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let body = "x".repeat(200);
    for k in 0..n {
        let chunk = serde_json::json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "flood-1",
            "update": {"sessionUpdate": "agent_message_chunk", "n": k, "content": {"type": "text", "text": body}}}});
        serde_json::to_writer(&mut out, &chunk).expect("stdout");
        out.write_all(b"\n").expect("stdout");
    }
}

fn for_each_line(mut f: impl FnMut(&[u8])) -> usize {
    let mut input = std::io::BufReader::with_capacity(1 << 16, std::io::stdin().lock());
    let (mut line, mut n) = (Vec::new(), 0);
    while input.read_until(b'\n', &mut line).expect("stdin") > 0 {
        f(&line);
        line.clear();
        n += 1;
    }
    n
}

fn count() {
    let start = Instant::now();
    let n = for_each_line(|_| {});
    eprintln!("count {n} lines {:.0}/s", n as f64 / start.elapsed().as_secs_f64());
}

fn rows(path: &str) {
    let _ = std::fs::remove_file(path);
    let (tx, rx) = mpsc::sync_channel::<Vec<(i64, String)>>(64);
    let path = path.to_owned();
    let writer = std::thread::spawn(move || write(&path, &rx));
    let start = Instant::now();
    let (mut seq, mut batch) = (0, Vec::with_capacity(256));
    let n = for_each_line(|line| {
        let chunk: serde_json::Value = serde_json::from_slice(line).expect("json");
        seq += 1;
        let event = serde_json::json!({"schema_version": 1, "seq": seq, "time": "2026-01-01T00:00:00.000Z", "type": "model.output.delta",
            "trace": {"session_id": "s", "task_id": "t"}, "runtime": {"name": "demo"},
            "payload": {"kind": "text_delta", "block_id": "b", "delta": chunk["params"]["update"]["content"]["text"]}});
        batch.push((seq, event.to_string()));
        if batch.len() == 256 {
            tx.send(std::mem::replace(&mut batch, Vec::with_capacity(256))).expect("writer");
        }
    });
    tx.send(batch).expect("writer");
    drop(tx);
    writer.join().expect("writer");
    eprintln!("rows {n} events {:.0}/s", n as f64 / start.elapsed().as_secs_f64());
}

fn write(path: &str, rx: &mpsc::Receiver<Vec<(i64, String)>>) {
    let mut db = rusqlite::Connection::open(path).expect("open");
    db.execute_batch(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;
         CREATE TABLE events(cursor INTEGER PRIMARY KEY, stream TEXT NOT NULL, seq INTEGER NOT NULL, type TEXT NOT NULL, body TEXT NOT NULL);
         CREATE UNIQUE INDEX by_seq ON events(stream, seq);",
    )
    .expect("schema");
    while let Ok(first) = rx.recv() {
        let mut batches = vec![first];
        batches.extend(rx.try_iter().take(31));
        let tx = db.transaction().expect("begin");
        {
            let mut insert = tx
                .prepare_cached("INSERT INTO events(stream, seq, type, body) VALUES('s', ?1, 'model.output.delta', ?2)")
                .expect("sql");
            for (seq, body) in batches.iter().flatten() {
                insert.execute(rusqlite::params![seq, body]).expect("insert");
            }
        }
        tx.commit().expect("commit");
    }
}
