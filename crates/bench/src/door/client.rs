//! A client of the daemon over a WebSocket, one step at a time.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use roost_model::time::Timestamp;
use serde_json::{Value, json};

use super::frame::{self, Kind};
use crate::Outcome;

/// How long the daemon may be silent.
const PATIENCE: Duration = Duration::from_secs(150);
/// The events of a session that tell when its tasks begin and end.
pub(crate) const TASKS: &[&str] = &["task.started", "task.completed", "task.failed", "task.stopped"];
/// Bytes that are read at once.
const READ: usize = 64 << 10;

/// A connection that has said hello.
pub(crate) struct DoorClient {
    stream: TcpStream,
    /// What was received and not looked at.
    received: Vec<u8>,
    next_id: u64,
    /// Events that came while an answer was waited for.
    events: VecDeque<Value>,
}

impl DoorClient {
    /// Connects and says hello.
    pub(crate) fn connect(address: SocketAddr, token: &str) -> Outcome<Self> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(
            stream,
            "GET /ws HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: Upgrade\r\n\
             Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: cm9vc3QtYmVuY2gtZG9vcg==\r\n\r\n"
        )?;
        let mut client = Self { stream, received: Vec::new(), next_id: 0, events: VecDeque::new() };
        let head = loop {
            client.read()?;
            if let Some(end) = memchr::memmem::find(&client.received, b"\r\n\r\n") {
                break client.received.drain(..end + 4).collect::<Vec<_>>();
            }
        };
        if !head.starts_with(b"HTTP/1.1 101 ") {
            return Err(format!("the daemon did not upgrade: {}", String::from_utf8_lossy(&head)).into());
        }
        client.call("initialize", json!({ "clientInfo": { "name": "bench", "version": "1" } }))?;
        Ok(client)
    }

    /// Makes a session of the demo agent in the daemon's folder.
    pub(crate) fn session(&mut self) -> Outcome<String> {
        self.session_of("demo", "ask")
    }

    /// Makes a session of a runtime in the daemon's folder, with a permission mode.
    pub(crate) fn session_of(&mut self, runtime: &str, mode: &str) -> Outcome<String> {
        let list = self.call("workspace/list", json!({}))?;
        let workspace = &list["workspaces"][0]["id"];
        let start = json!({ "workspace_id": workspace, "mode": "new", "agent_type": runtime, "permission_mode": mode });
        let started = self.call("session/start", start)?;
        Ok(started["session_id"].as_str().ok_or_else(|| format!("no session: {started}"))?.into())
    }

    /// Follows a session from now on: all that it tells, or only when its tasks begin and end.
    pub(crate) fn follow(&mut self, session: &str, types: &[&str]) -> Outcome {
        let follow = json!({ "format": "normalized", "sessions": [session], "types": types });
        self.call("events/subscribe", follow).map(drop)
    }

    /// Calls a method: how long it took until its whole answer was there, and the answer.
    pub(crate) fn timed(&mut self, method: &str, params: Value) -> Outcome<(Duration, Value)> {
        let start = Instant::now();
        let id = self.send(method, params)?;
        let beginning = format!(r#"{{"jsonrpc":"2.0","id":{id},"#);
        let frames = self.frames_until(|frame| frame.starts_with(beginning.as_bytes()))?;
        let took = start.elapsed();
        let answer = frames.last().ok_or("no answer")?;
        Ok((took, result(serde_json::from_slice(answer)?)?))
    }

    /// What comes up to a message that is the last, as it came: reading it is not what is measured.
    pub(crate) fn frames_until(&mut self, is_last: impl Fn(&[u8]) -> bool) -> Outcome<Vec<Vec<u8>>> {
        let mut frames = Vec::new();
        loop {
            let frame = self.text()?;
            let ended = is_last(&frame);
            frames.push(frame);
            if ended {
                return Ok(frames);
            }
        }
    }

    /// Calls a method and waits for its answer.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Outcome<Value> {
        let id = self.send(method, params)?;
        loop {
            let message = self.message()?;
            if message["id"] == id {
                return result(message);
            }
            self.keep(message)?;
        }
    }

    /// Says something to a session.
    pub(crate) fn prompt(&mut self, session: &str, text: &str) -> Outcome {
        self.send("session/send", json!({ "session_id": session, "prompt": text })).map(drop)
    }

    /// Reads on to the end of the task that runs; how long that took by the times of its events.
    pub(crate) fn task_end(&mut self) -> Outcome<Duration> {
        let events = self.task()?;
        let time = |event: &Value| serde_json::from_value::<Timestamp>(event["time"].clone()).map(Timestamp::as_millis);
        let started = events.iter().rfind(|event| event["type"] == "task.started");
        let (Some(started), Some(ended)) = (started, events.last()) else {
            return Err("a task that never began".into());
        };
        Ok(Duration::from_millis((time(ended)? - time(started)?).try_into()?))
    }

    /// Reads on to the end of the task that runs, which must be a good one; the events up to there.
    pub(crate) fn task(&mut self) -> Outcome<Vec<Value>> {
        let mut events = Vec::new();
        loop {
            let event = self.event()?;
            let kind = event["type"].as_str().unwrap_or_default();
            if let "task.failed" | "task.stopped" = kind {
                return Err(format!("the task ended badly: {event}").into());
            }
            let ended = kind == "task.completed";
            events.push(event);
            if ended {
                return Ok(events);
            }
        }
    }

    /// Reads on to an event of this type.
    pub(crate) fn until(&mut self, kind: &str) -> Outcome<Value> {
        loop {
            let event = self.event()?;
            if event["type"] == kind {
                return Ok(event);
            }
            if event["type"] == "task.failed" {
                return Err(format!("{kind} was waited for, and the task failed: {event}").into());
            }
        }
    }

    /// The next event.
    fn event(&mut self) -> Outcome<Value> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(event);
            }
            let message = self.message()?;
            self.keep(message)?;
        }
    }

    /// Keeps the events of a message that was not waited for; an answer that is an error is not passed over.
    fn keep(&mut self, mut message: Value) -> Outcome {
        if message.get("error").is_some() {
            return result(message).map(drop);
        }
        if let Value::Array(events) = message["params"]["events"].take() {
            self.events.extend(events);
        }
        Ok(())
    }

    /// The socket, and what was read from it and not looked at.
    pub(crate) fn into_parts(self) -> (TcpStream, Vec<u8>) {
        (self.stream, self.received)
    }

    /// Calls a method without waiting for its answer.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> Outcome<u64> {
        self.next_id += 1;
        let call = json!({ "jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params });
        self.stream.write_all(&frame::text(&call.to_string()))?;
        Ok(self.next_id)
    }

    fn message(&mut self) -> Outcome<Value> {
        Ok(serde_json::from_slice(&self.text()?)?)
    }

    /// The next message.
    fn text(&mut self) -> Outcome<Vec<u8>> {
        loop {
            if let Some(frame) = frame::first(&self.received) {
                let text = match frame.kind {
                    Kind::Text => Some(frame.payload.to_vec()),
                    Kind::Close => return Err("the daemon closed a client's socket".into()),
                    Kind::Other => None,
                };
                let size = frame.size;
                self.received.drain(..size);
                match text {
                    Some(text) => return Ok(text),
                    None => continue,
                }
            }
            self.read()?;
        }
    }

    fn read(&mut self) -> Outcome {
        let length = self.received.len();
        self.received.resize(length + READ, 0);
        let read = self.stream.read(&mut self.received[length..])?;
        self.received.truncate(length + read);
        if read == 0 { Err("the daemon hung up on a client".into()) } else { Ok(()) }
    }
}

fn result(mut message: Value) -> Outcome<Value> {
    match message.get("error") {
        Some(error) => Err(format!("the daemon refused a call: {error}").into()),
        None => Ok(message["result"].take()),
    }
}
