//! The services behind the gateway: the cheapest that there can be, so that what is measured is the gateway.

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use testkit::agents;

use crate::Outcome;

/// A script of `crates/bench/backends`.
pub(super) fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("backends").join(name)
}

/// The origin of the echo server on stdin and stdout.
pub(super) fn stdio_origin() -> Value {
    json!({ "type": "stdio_mcp", "command": "python3", "args": [script("echo_stdio.py")], "maxConcurrency": 64 })
}

/// The echo server over HTTP; killed on drop.
pub(super) struct HttpEcho {
    child: Child,
    pub(super) address: SocketAddr,
}

impl HttpEcho {
    /// Starts it with so many tools besides `echo`.
    pub(super) fn start(more_tools: usize) -> Outcome<Self> {
        let mut child = Command::new(agents::program("node"))
            .arg(script("echo_http.mjs"))
            .arg(more_tools.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut port = String::new();
        BufReader::new(child.stdout.take().ok_or("no stdout")?).read_line(&mut port)?;
        let address = (Ipv4Addr::LOCALHOST, port.trim().parse()?).into();
        Ok(Self { child, address })
    }

    /// The origin of a service that it answers for; services differ by their path.
    pub(super) fn origin(&self, path: &str) -> Value {
        json!({ "type": "remote_mcp", "endpoint": format!("http://{}/mcp{path}", self.address),
            "transport": "streamable_http", "maxConcurrency": 64 })
    }
}

impl Drop for HttpEcho {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
