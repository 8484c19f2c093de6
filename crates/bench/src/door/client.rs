//! A client of the daemon over a WebSocket, one step at a time.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use roost_model::time::Timestamp;
use serde_json::{Value, json};

use super::ws_frame::{self, FrameKind};
use crate::Outcome;

/// The read timeout of the socket: how long the daemon may send nothing.
const PATIENCE: Duration = Duration::from_secs(150);
/// The events of a session that tell when its tasks begin and end.
pub(crate) const TASKS: &[&str] = &["task.started", "task.completed", "task.failed", "task.stopped"];
/// Bytes asked for by one read.
const READ: usize = 64 << 10;

/// A connected client that has been initialized.
pub(crate) struct DoorClient {
    stream: TcpStream,
    /// Bytes that were received and not parsed yet.
    received: Vec<u8>,
    next_id: u64,
    /// Events that came while a response was waited for.
    events: VecDeque<Value>,
}

impl DoorClient {
    /// Opens a WebSocket with this token and sends `initialize`.
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

    /// Subscribes to a session's events from now on; no types means all of them.
    pub(crate) fn follow(&mut self, session: &str, types: &[&str]) -> Outcome {
        let follow = json!({ "format": "normalized", "sessions": [session], "types": types });
        self.call("events/subscribe", follow).map(drop)
    }

    /// Calls a method. Returns the time until the response was complete, and its result.
    pub(crate) fn timed(&mut self, method: &str, params: Value) -> Outcome<(Duration, Value)> {
        let start = Instant::now();
        let id = self.send(method, params)?;
        let beginning = format!(r#"{{"jsonrpc":"2.0","id":{id},"#);
        let frames = self.frames_until(|frame| frame.starts_with(beginning.as_bytes()))?;
        let took = start.elapsed();
        let answer = frames.last().ok_or("no answer")?;
        Ok((took, result(serde_json::from_slice(answer)?)?))
    }

    /// Reads messages up to the last one and returns them unparsed: parsing is not what is measured.
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

    /// Calls a method and waits for its result; events that come before it are kept.
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

    /// Sends a prompt to a session without waiting for the response.
    pub(crate) fn prompt(&mut self, session: &str, text: &str) -> Outcome {
        self.send("session/send", json!({ "session_id": session, "prompt": text })).map(drop)
    }

    /// Reads up to the end of the running task. Returns how long it took by the timestamps of its events.
    pub(crate) fn task_end(&mut self) -> Outcome<Duration> {
        let events = self.task()?;
        let time = |event: &Value| serde_json::from_value::<Timestamp>(event["time"].clone()).map(Timestamp::as_millis);
        let started = events.iter().rfind(|event| event["type"] == "task.started");
        let (Some(started), Some(ended)) = (started, events.last()) else {
            return Err("a task that never began".into());
        };
        Ok(Duration::from_millis((time(ended)? - time(started)?).try_into()?))
    }

    /// Reads up to the end of the running task and returns the events; an error if the task did not complete.
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

    /// Reads up to an event of this type and returns it; an error if the task fails first.
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

    /// The next event of any subscription; waits for it.
    fn event(&mut self) -> Outcome<Value> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(event);
            }
            let message = self.message()?;
            self.keep(message)?;
        }
    }

    /// Keeps the events of a message that was not waited for. A response that is an error becomes one here.
    fn keep(&mut self, mut message: Value) -> Outcome {
        if message.get("error").is_some() {
            return result(message).map(drop);
        }
        if let Value::Array(events) = message["params"]["events"].take() {
            self.events.extend(events);
        }
        Ok(())
    }

    /// The socket, and the bytes that were read from it and not parsed.
    pub(crate) fn into_parts(self) -> (TcpStream, Vec<u8>) {
        (self.stream, self.received)
    }

    /// Sends a call without waiting for its response, and returns its id.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> Outcome<u64> {
        self.next_id += 1;
        let call = json!({ "jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params });
        self.stream.write_all(&ws_frame::text(&call.to_string()))?;
        Ok(self.next_id)
    }

    fn message(&mut self) -> Outcome<Value> {
        Ok(serde_json::from_slice(&self.text()?)?)
    }

    /// The text of the next message; other frames are skipped.
    fn text(&mut self) -> Outcome<Vec<u8>> {
        loop {
            if let Some(frame) = ws_frame::first(&self.received) {
                let text = match frame.kind {
                    FrameKind::Text => Some(frame.payload.to_vec()),
                    FrameKind::Close => return Err("the daemon closed a client's socket".into()),
                    FrameKind::Other => None,
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
