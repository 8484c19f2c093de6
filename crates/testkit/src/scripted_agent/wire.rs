//! JSON-RPC lines on stdin and stdout, and waiting for the right one.

use std::io::{BufRead, Write};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

/// Messages of stdin that may wait to be handled.
const LINES: usize = 64;

/// A message of the client's that ends the waiting for an answer.
pub(super) enum ClientReply {
    /// The answer to one of our requests.
    Answer(u64, Value),
    /// The client cancels the running turn.
    Cancel,
}

/// The connection to the client: stdin, read by a thread, and stdout.
pub(super) struct Wire {
    incoming: mpsc::Receiver<Value>,
    next_id: u64,
    later: Vec<(&'static str, Value)>,
}

impl Wire {
    /// Starts the thread that reads stdin.
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

    /// Waits for the answer to an open request or a cancel; ends the process if stdin closes.
    pub(super) fn wait_for_reply(&mut self) -> ClientReply {
        loop {
            // Whoever closes stdin in the middle of a turn wants no more of it.
            let Ok(message) = self.incoming.recv() else { std::process::exit(0) };
            match parse_reply(&message) {
                Some(reply) => return reply,
                None => continue,
            }
        }
    }

    /// Waits a moment; true if the turn was cancelled meanwhile.
    pub(super) fn cancelled_within(&mut self, moment: Duration) -> bool {
        match self.incoming.recv_timeout(moment) {
            Ok(message) => matches!(parse_reply(&message), Some(ClientReply::Cancel)),
            Err(mpsc::RecvTimeoutError::Timeout) => false,
            Err(mpsc::RecvTimeoutError::Disconnected) => std::process::exit(0),
        }
    }

    /// Sends a request to the client and returns its id.
    pub(super) fn request(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        self.send(json!({ "jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params }));
        self.next_id
    }

    /// Sends a notification to the client.
    pub(super) fn notify(&self, method: &str, params: Value) {
        self.send(json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Queues a notification that [`Wire::finish_turn`] sends.
    pub(super) fn notify_after_turn(&mut self, method: &'static str, params: Value) {
        self.later.push((method, params));
    }

    /// Sends the queued notifications; called after the answer to the prompt.
    pub(super) fn finish_turn(&mut self) {
        let later = std::mem::take(&mut self.later);
        later.into_iter().for_each(|(method, params)| self.notify(method, params));
    }

    /// Answers a request of the client's with a result.
    pub(super) fn answer(&self, id: &Value, result: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    /// Answers a request of the client's with an error.
    pub(super) fn refuse(&self, id: &Value, code: i64, message: &str) {
        self.send(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }));
    }

    fn send(&self, message: Value) {
        let mut stdout = std::io::stdout().lock();
        // A client that is gone is noticed on stdin.
        let _ = writeln!(stdout, "{message}").and_then(|()| stdout.flush());
    }
}

/// Reads a message as a reply; `None` for requests and notifications other than a cancel.
fn parse_reply(message: &Value) -> Option<ClientReply> {
    if message["method"] == "session/cancel" {
        return Some(ClientReply::Cancel);
    }
    let id = message["id"].as_u64().filter(|_| message.get("method").is_none())?;
    Some(ClientReply::Answer(id, message["result"].clone()))
}
