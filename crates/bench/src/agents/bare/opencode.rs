//! OpenCode, which is driven over HTTP and reports what happens as server-sent events.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};

use serde_json::{Value, json};
use testkit::agents::{Agent, Sandbox};

use super::Bare;
use crate::Outcome;

/// A running OpenCode server with one session, and the stream of its events.
pub(super) struct OpenCode {
    child: Child,
    address: SocketAddr,
    session: String,
    events: BufReader<TcpStream>,
    _home: Sandbox,
}

impl OpenCode {
    /// Starts the server and makes a session; without a password, because nobody else is on this machine's loopback.
    pub(super) fn start(home: Sandbox) -> Outcome<Self> {
        let mut command = home.command(Agent::OpenCode);
        command.args(["serve", "--port", "0", "--hostname", "127.0.0.1"]).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut output = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        let address: SocketAddr = loop {
            let mut line = String::new();
            if output.read_line(&mut line)? == 0 {
                return Err("opencode does not say where it listens".into());
            }
            if let Some((_, address)) = line.split_once("listening on http://") {
                break address.trim().parse()?;
            }
        };
        let directory = format!("directory={}", home.work().display());
        let made = post(address, &format!("/session?{directory}"), &json!({}))?;
        let made: Value = serde_json::from_slice(&made)?;
        let session = made["id"].as_str().ok_or("no session")?.into();
        let mut events = TcpStream::connect(address)?;
        write!(events, "GET /event?{directory} HTTP/1.1\r\nHost: {address}\r\n\r\n")?;
        Ok(Self { child, address, session, events: BufReader::new(events), _home: home })
    }

    /// Reads events up to one of this session for which the function is true. An event is one line of the stream, and
    /// its server sends each in a chunk of its own.
    fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Outcome {
        loop {
            let mut line = String::new();
            if self.events.read_line(&mut line)? == 0 {
                return Err("opencode ended its events".into());
            }
            let Some(data) = line.strip_prefix("data: ") else { continue };
            let event: Value = serde_json::from_str(data)?;
            if is_it(&event) {
                return Ok(());
            }
        }
    }
}

impl Bare for OpenCode {
    fn first_delta(&mut self, prompt: &str) -> Outcome {
        let parts = json!({ "parts": [{ "type": "text", "text": prompt }] });
        post(self.address, &format!("/session/{}/prompt_async", self.session), &parts)?;
        self.until(|event| event["type"] == "message.part.delta" && event["properties"]["field"] == "text")
    }

    fn finish_turn(&mut self) -> Outcome {
        self.until(|event| event["type"] == "session.idle")
    }
}

impl Drop for OpenCode {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Posts JSON and returns the body that is answered.
fn post(address: SocketAddr, path: &str, body: &Value) -> Outcome<Vec<u8>> {
    let (mut stream, body) = (TcpStream::connect(address)?, body.to_string());
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )?;
    let mut response = Vec::new();
    stream.read_to_end(&mut response)?;
    let head = memchr::memmem::find(&response, b"\r\n\r\n").ok_or("no HTTP")?;
    if !response.starts_with(b"HTTP/1.1 2") {
        return Err(format!("{path} was answered with: {}", String::from_utf8_lossy(&response)).into());
    }
    Ok(response.split_off(head + 4))
}
