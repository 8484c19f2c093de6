//! MCP over the local socket: the first line of a connection names the address, and MCP's lines follow.

use std::sync::Arc;

use serde::Deserialize;
use tokio::sync::mpsc;

use super::{SurfaceKind, Visitor};
use crate::caller::Caller;
use crate::host::Host;

/// Messages that may wait in each direction; beyond it their senders wait.
const QUEUE: usize = 64;

/// The first line of a connection that becomes one of MCP.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AttachLine {
    /// The namespace of one service, or `null` for all; always there, because it is what no JSON-RPC message has.
    mcp_namespace: Option<String>,
    /// Whether tools are searched for rather than listed.
    #[serde(default)]
    lazy: bool,
}

impl AttachLine {
    /// Reads the line; `None` if the connection is one of methods.
    pub(crate) fn parse(line: &[u8]) -> Option<Self> {
        line.starts_with(b"{\"mcp_namespace\"").then(|| serde_json::from_slice(line).ok())?
    }
}

/// A connection of MCP: where its lines go, and where lines to the client come from.
pub(crate) struct LineConnection {
    pub(crate) incoming: mpsc::Sender<Vec<u8>>,
    pub(crate) outgoing: mpsc::Receiver<Arc<str>>,
}

/// Serves MCP over lines to a local client, until one of the channels is closed. If it may not use tools, the error is
/// the line that says so.
pub(crate) fn serve_lines(host: &Host, caller: &Caller, attach: &AttachLine) -> Result<LineConnection, Arc<str>> {
    let surface = if attach.lazy { SurfaceKind::Lazy } else { SurfaceKind::Whole };
    let admitted = Visitor::admit(host, caller, attach.mcp_namespace.as_deref(), surface);
    let Visitor { endpoint, principal, view } = admitted.map_err(|rejection| rejection.message)?;
    let (incoming, lines) = mpsc::channel(QUEUE);
    let (messages, outgoing) = mpsc::channel(QUEUE);
    host.daemon.spawn(async move { endpoint.serve_lines(principal, view, lines, messages).await });
    Ok(LineConnection { incoming, outgoing })
}
