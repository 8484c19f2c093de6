//! JSON-RPC lines on stdin and stdout, and waiting for the right one.

use std::io::{BufRead, Write};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

/// Lines that may wait to be read.
const LINES: usize = 64;

/// What ended the waiting for an answer.
pub(super) enum Heard {
    /// The answer to one of our requests.
    Answer(u64, Value),
    /// The turn is cancelled.
    Cancel,
}

/// Both directions.
pub(super) struct Wire {
    incoming: mpsc::Receiver<Value>,
    next_id: u64,
    later: Vec<(&'static str, Value)>,
}

impl Wire {
    /// Starts to read stdin.
    pub(super) fn open() -> Self {
        let (sender, incoming) = mpsc::sync_channel(LINES);
        let read = move || {
            for line in std::io::stdin().lock().lines().map_while(Result::ok) {
                if let Ok(message) = serde_json::from_str(&line)
                    && sender.send(message).is_err()
                {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("stdin".into()).spawn(read).unwrap();
        Self { incoming, next_id: 0, later: Vec::new() }
    }

    /// The next message; `None` when stdin has ended.
    pub(super) fn next(&mut self) -> Option<Value> {
        self.incoming.recv().ok()
    }

    /// The answer to an open request, or a cancel.
    pub(super) fn hear(&mut self) -> Heard {
        loop {
            // Whoever closes stdin in the middle of a turn wants no more of it.
            let Ok(message) = self.incoming.recv() else { std::process::exit(0) };
            match heard(&message) {
                Some(heard) => return heard,
                None => continue,
            }
        }
    }

    /// Waits a moment; true if the turn was cancelled meanwhile.
    pub(super) fn cancelled_within(&mut self, moment: Duration) -> bool {
        match self.incoming.recv_timeout(moment) {
            Ok(message) => matches!(heard(&message), Some(Heard::Cancel)),
            Err(mpsc::RecvTimeoutError::Timeout) => false,
            Err(mpsc::RecvTimeoutError::Disconnected) => std::process::exit(0),
        }
    }

    /// Asks the client; the id under which it answers.
    pub(super) fn request(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        self.send(json!({ "jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params }));
        self.next_id
    }

    /// Tells the client something.
    pub(super) fn notify(&self, method: &str, params: Value) {
        self.send(json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Tells the client something when the turn is over.
    pub(super) fn after_the_turn(&mut self, method: &'static str, params: Value) {
        self.later.push((method, params));
    }

    /// The turn is over.
    pub(super) fn turn_is_over(&mut self) {
        let later = std::mem::take(&mut self.later);
        later.into_iter().for_each(|(method, params)| self.notify(method, params));
    }

    /// Answers the client.
    pub(super) fn answer(&self, id: &Value, result: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    /// Answers the client with an error.
    pub(super) fn refuse(&self, id: &Value, code: i64, message: &str) {
        self.send(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }));
    }

    fn send(&self, message: Value) {
        let mut stdout = std::io::stdout().lock();
        // A client that is gone is noticed on stdin.
        let _ = writeln!(stdout, "{message}").and_then(|()| stdout.flush());
    }
}

fn heard(message: &Value) -> Option<Heard> {
    if message["method"] == "session/cancel" {
        return Some(Heard::Cancel);
    }
    let id = message["id"].as_u64().filter(|_| message.get("method").is_none())?;
    Some(Heard::Answer(id, message["result"].clone()))
}
