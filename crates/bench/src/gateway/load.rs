//! The load: `wrk` on one core makes calls and looks at every answer.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use crate::Outcome;
use crate::http::{MCP_SESSION, MCP_VERSION, McpSession};

const SECONDS: &str = "-d4s";
/// What is echoed: a text that no error has in it.
pub(super) const TEXT: &str = "echo-4711";

/// The request that is made again and again.
pub(super) struct Request {
    url: String,
    /// Headers besides those that every request has.
    headers: Vec<(&'static str, String)>,
    /// The body before the id and behind it.
    body: [String; 2],
}

impl Request {
    /// A call of a tool in a session of MCP.
    pub(super) fn mcp(session: &McpSession, tool: &str) -> Self {
        let headers = vec![
            ("authorization", format!("Bearer {}", session.token)),
            (MCP_SESSION, session.id.clone()),
            ("mcp-protocol-version", MCP_VERSION.to_owned()),
        ];
        Self { headers, ..Self::call(session.address, tool) }
    }

    /// A call of the backend itself, which needs no session.
    pub(super) fn direct(address: SocketAddr) -> Self {
        Self::call(address, "echo")
    }

    fn call(address: SocketAddr, tool: &str) -> Self {
        let call = r#","method":"tools/call","params":{"name":""#;
        let body =
            [r#"{"jsonrpc":"2.0","id":"#.into(), format!(r#"{call}{tool}","arguments":{{"text":"{TEXT}"}}}}}}"#)];
        Self { url: format!("http://{address}/mcp"), headers: Vec::new(), body }
    }

    /// Another body without an id, for peers that do not speak MCP.
    pub(super) fn plain(url: String, body: String) -> Self {
        Self { url, headers: Vec::new(), body: [body, String::new()] }
    }

    /// The Lua by which `wrk` makes the request. An answer without the echoed text ends up in `wrk`'s stderr.
    fn script(&self) -> String {
        let header = |(name, value): &(&str, String)| format!("wrk.headers[\"{name}\"] = \"{value}\"\n");
        let headers: String = self.headers.iter().map(header).collect();
        let [before, behind] = &self.body;
        let id = if behind.is_empty() { "''" } else { "counter" };
        format!(
            r#"wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
wrk.headers["accept"] = "application/json, text/event-stream"
{headers}local counter = 0
function request()
  counter = counter + 1
  return wrk.format(nil, nil, nil, '{before}' .. {id} .. '{behind}')
end
function response(status, headers, body)
  if status ~= 200 or not body:find("{TEXT}", 1, true) or body:find('"error"', 1, true) then
    io.stderr:write("BAD " .. status .. " " .. body:sub(1, 300) .. "\n")
    wrk.thread:stop()
  end
end
"#
        )
    }
}

/// A request with the script that makes it.
pub(super) struct Load {
    url: String,
    script: PathBuf,
    _folder: TempDir,
}

/// What one round of load showed.
pub(super) struct Measured {
    pub(super) calls: f64,
    /// Calls per second.
    pub(super) rate: f64,
    pub(super) p50_millis: f64,
}

impl Load {
    pub(super) fn new(request: Request) -> Outcome<Self> {
        let folder = tempfile::tempdir()?;
        let script = folder.path().join("call.lua");
        std::fs::write(&script, request.script())?;
        Ok(Self { url: request.url, script, _folder: folder })
    }

    /// Makes calls over so many connections for some seconds.
    pub(super) fn run(&self, connections: usize) -> Outcome<Measured> {
        let mut wrk = Command::new("taskset");
        wrk.args(["-c", "1", "wrk", "-t1", &format!("-c{connections}"), SECONDS, "--latency", "-s"]);
        let output = wrk.arg(&self.script).arg(&self.url).output();
        let output = output.map_err(|error| format!("wrk does not start: {error}; install the package wrk"))?;
        let said = String::from_utf8_lossy(&output.stdout);
        let bad = String::from_utf8_lossy(&output.stderr);
        if said.contains("Non-2xx") || said.contains("Socket errors") || bad.contains("BAD") {
            return Err(format!("not every call of {} was answered well: {bad}{said}", self.url).into());
        }
        let number = |prefix: &str| said.lines().find_map(|line| line.trim().strip_prefix(prefix).map(str::trim));
        let unread = || format!("wrk said: {said}");
        let rate: f64 = number("Requests/sec:").and_then(|rate| rate.parse().ok()).ok_or_else(unread)?;
        let calls = said.lines().find_map(|line| line.split_once(" requests in ")?.0.trim().parse().ok());
        let p50_millis = number("50%").and_then(millis).ok_or_else(unread)?;
        Ok(Measured { calls: calls.ok_or_else(unread)?, rate, p50_millis })
    }
}

/// Reads a time as `wrk` writes it.
fn millis(text: &str) -> Option<f64> {
    let units = [("us", 1e-3), ("ms", 1.0), ("s", 1e3)];
    let (number, scale) = units.iter().find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, scale)))?;
    Some(number.trim().parse::<f64>().ok()? * scale)
}
