//! The nearest peer, `sandbox-agent` 0.4.2, with the same agent behind it.

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use memchr::memmem;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Outcome, http, stage};

/// How many events reached a client, and how many per second.
pub(crate) struct Delivery {
    pub(crate) delivered: u64,
    pub(crate) rate: f64,
}

const CHUNK: &[u8] = b"agent_message_chunk";
/// Silence on the stream after the turn's end, after which nothing more comes.
const SILENCE: Duration = Duration::from_millis(700);

/// A running server of the peer; killed on drop.
pub(crate) struct SandboxServer {
    child: Child,
    pub(crate) address: SocketAddr,
    _home: TempDir,
}

impl Drop for SandboxServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Prompts the agent through the peer and counts what its event stream delivers.
pub(crate) fn flood(prompt: &str) -> Outcome<Delivery> {
    let server = SandboxServer::start()?;
    let path = "/v1/acp/bench";
    let hello = json!({ "protocolVersion": 1, "clientCapabilities": {} });
    server.call(&format!("{path}?agent=mock"), 1, "initialize", hello)?;
    let made = server.call(path, 2, "session/new", json!({ "cwd": "/", "mcpServers": [] }))?;
    let session = made["result"]["sessionId"].as_str().ok_or_else(|| format!("no session: {made}"))?;
    let params = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": prompt }] });

    let mut events = TcpStream::connect(server.address)?;
    write!(events, "GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n")?;
    events.set_read_timeout(Some(Duration::from_millis(50)))?;
    let start = Instant::now();
    std::thread::scope(|scope| {
        let turn = scope.spawn(|| server.call(path, 3, "session/prompt", params));
        let (mut delivered, mut last, mut kept) = (0, start, Vec::new());
        let mut buffer = vec![0; 1 << 18];
        loop {
            match events.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => {
                    kept.extend_from_slice(&buffer[..read]);
                    delivered += memmem::find_iter(&kept, CHUNK).count() as u64;
                    // What may be the beginning of one more stays for the next read.
                    let end = memmem::rfind(&kept, CHUNK).map_or(0, |at| at + CHUNK.len());
                    kept.drain(..end.max(kept.len().saturating_sub(CHUNK.len() - 1)));
                    last = Instant::now();
                }
                Err(_) if turn.is_finished() && last.elapsed() > SILENCE => break,
                Err(_) => {}
            }
        }
        turn.join().map_err(|_| "the peer's client panicked")??;
        Ok(Delivery { delivered, rate: delivered as f64 / (last - start).as_secs_f64() })
    })
}

impl SandboxServer {
    /// Starts the peer in a home of its own.
    pub(crate) fn start() -> Outcome<Self> {
        let home = tempfile::tempdir()?;
        let binary = stage::from_env("ROOST_BENCH_SANDBOX_AGENT")?;
        let launchers = home.path().join(".local/share/sandbox-agent/bin/agent_processes");
        fs::create_dir_all(&launchers)?;
        // The peer's name for an agent without an account; its launcher is the demo agent.
        let launcher = launchers.join("mock-acp");
        fs::write(&launcher, format!("#!/bin/sh\nexec '{}' demo-agent\n", stage::roost()?.display()))?;
        fs::set_permissions(&launcher, Permissions::from_mode(0o755))?;

        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let child = Command::new(&binary)
            .args(["server", "--no-token", "--no-telemetry", "--host", "127.0.0.1", "--port"])
            .arg(address.port().to_string())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", home.path())
            .env("SANDBOX_AGENT_BIN", &binary)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let server = Self { child, address, _home: home };
        server.wait_until_up()?;
        Ok(server)
    }

    fn wait_until_up(&self) -> Outcome {
        let deadline = Instant::now() + Duration::from_secs(10);
        while TcpStream::connect(self.address).is_err() {
            if Instant::now() > deadline {
                return Err("sandbox-agent did not start within 10 s".into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    fn call(&self, path: &str, id: u64, method: &str, params: Value) -> Outcome<Value> {
        http::post(self.address, path, None, &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    }
}
