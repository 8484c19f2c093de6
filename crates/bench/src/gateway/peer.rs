//! The peer: mcp-hub 4.2.1, the fastest of the registries that npm has, with the same backend behind it.

use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::backend;
use super::load::{Request, TEXT};
use crate::{Outcome, http};

/// The script of the peer, which `cargo xtask bench` installs.
const PROGRAM: &str = "ROOST_BENCH_MCP_HUB";
const READY: Duration = Duration::from_secs(30);

/// A running peer; killed on drop.
pub(super) struct McpHub {
    child: Child,
    address: SocketAddr,
    _home: TempDir,
}

impl McpHub {
    /// Starts it in a home of its own and waits until its tool can be called.
    pub(super) fn start() -> Outcome<Self> {
        let program = std::env::var_os(PROGRAM).ok_or("run this by `cargo xtask bench gateway`")?;
        let home = tempfile::tempdir()?;
        let config = home.path().join("hub.json");
        let server = json!({ "command": "python3", "args": [backend::script("echo_stdio.py")] });
        std::fs::write(&config, json!({ "mcpServers": { "echo": server } }).to_string())?;
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let mut hub = Command::new(testkit::agents::program("node"));
        hub.arg(program).args(["--port", &address.port().to_string(), "--config"]).arg(config);
        hub.env_clear().env("HOME", home.path()).env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let child = hub.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let hub = Self { child, address, _home: home };
        let began = Instant::now();
        loop {
            match http::post(address, "/api/servers/tools", None, &body()) {
                Ok(answer) if answer.to_string().contains(TEXT) => return Ok(hub),
                other if began.elapsed() > READY => return Err(format!("mcp-hub does not answer: {other:?}").into()),
                _ => thread::sleep(Duration::from_millis(50)),
            }
        }
    }

    /// The request by which its tool is called; not MCP, but its own REST route, which is its fastest.
    pub(super) fn call(&self) -> Request {
        Request::plain(format!("http://{}/api/servers/tools", self.address), body().to_string())
    }
}

impl Drop for McpHub {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn body() -> Value {
    json!({ "server_name": "echo", "tool": "echo", "arguments": { "text": TEXT } })
}
