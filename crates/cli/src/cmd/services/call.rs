//! `roost services call`: one call of a service's tool, as any MCP client makes it, with the same rules and questions.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

use crate::error::Error;
use crate::screen;

/// The revision of MCP in which a call needs no handshake.
const REVISION: &str = "2026-07-28";
/// After this long, whoever waits is told what it may be waiting for.
const HINT_AFTER: Duration = Duration::from_secs(2);
const HINT: &str = "roost: no answer yet; if the call waits for leave, `roost attach latest` asks you";

/// A line of the gateway: the answer, if it has our id.
#[derive(Deserialize)]
struct ToolAnswer {
    id: Option<u64>,
    result: Option<Value>,
    error: Option<ToolRefusal>,
}

#[derive(Deserialize)]
struct ToolRefusal {
    message: String,
}

/// The arguments of a call, as they were typed.
pub(super) fn arguments(text: Option<&str>) -> Result<Map<String, Value>, Error> {
    let wrong = |why: &dyn std::fmt::Display| Error::BadToolArguments(why.to_string());
    match serde_json::from_str(text.unwrap_or("{}")) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err(wrong(&"they are no JSON object")),
        Err(error) => Err(wrong(&error)),
    }
}

/// Calls a tool of the service with this namespace over the daemon's local socket; its result.
pub(super) async fn call(
    socket: &Path,
    namespace: &str,
    tool: &str,
    arguments: Map<String, Value>,
) -> Result<Value, Error> {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "roost services call", "version": env!("CARGO_PKG_VERSION") },
    });
    let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let attach = json!({ "mcp_namespace": namespace });
    let lost = |error: io::Error| Error::ToolFailed(format!("the daemon cannot be reached: {error}"));
    let (reader, mut writer) = UnixStream::connect(socket).await.map_err(lost)?.into_split();
    writer.write_all(format!("{attach}\n{request}\n").as_bytes()).await.map_err(lost)?;
    let mut lines = BufReader::new(reader).lines();
    let (hint, mut is_hinted) = (tokio::time::sleep(HINT_AFTER), false);
    let mut hint = std::pin::pin!(hint);
    loop {
        let line = tokio::select! {
            line = lines.next_line() => line.map_err(lost)?,
            () = &mut hint, if !is_hinted => {
                is_hinted = true;
                writeln!(screen::stderr(), "{HINT}").map_err(Error::Output)?;
                continue;
            }
        };
        let Some(line) = line else { return Err(Error::ToolFailed("the daemon closed the connection".into())) };
        match serde_json::from_str(&line) {
            Ok(ToolAnswer { error: Some(refusal), .. }) => return Err(Error::ToolFailed(refusal.message)),
            Ok(ToolAnswer { id: Some(1), result: Some(result), .. }) => return Ok(result),
            // Something that the service says meanwhile.
            Ok(_) | Err(_) => {}
        }
    }
}

/// The texts of a result, and a word for each part that is none.
pub(super) fn text(result: &Value) -> String {
    if result["resultType"] == "input_required" {
        return "the tool asks for something first; call it from an MCP client that can be asked".into();
    }
    let part = |part: &Value| match (part["text"].as_str(), part["type"].as_str()) {
        (Some(text), _) => text.to_owned(),
        (None, kind) => format!("({})", kind.unwrap_or("something without a type")),
    };
    let parts: Vec<_> = result["content"].as_array().into_iter().flatten().map(part).collect();
    parts.join("\n")
}
