//! The MCP servers that a client gives to a new session.

use std::collections::{BTreeMap, BTreeSet};

use roost_engine::adapter::{McpServer, McpServerTransport};
use roost_model::runtime::McpTransport;
use roost_model::secret::Secret;
use roost_rpc::{Fault, McpServerParams};

use crate::dispatch::Context;
use crate::fault;

/// The most servers of one session.
const MOST: usize = 32;

/// Converts the servers; one that is not understood, or that the runtime cannot use, is refused by its name.
pub(super) fn of_session(
    context: &Context<'_>,
    runtime: &str,
    servers: Vec<McpServerParams>,
) -> Result<Vec<McpServer>, Fault> {
    let refuse = |name: &str, why: &str| {
        Err(Fault::params(format_args!("the MCP server \"{name}\" {why}")).with("field", "mcp_servers"))
    };
    if servers.is_empty() {
        return Ok(Vec::new());
    }
    if servers.len() > MOST {
        return refuse(&servers[MOST].name, &format!("is one too many; a session has {MOST} at most"));
    }
    let adapter = context.host.sessions.engine.runtimes().usable(runtime).map_err(fault::engine)?;
    let usable = adapter.capabilities().mcp_transports.unwrap_or_default();
    let (mut names, mut all) = (BTreeSet::new(), Vec::new());
    for server in servers {
        let name = server.name;
        if name.is_empty() || !name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter)) {
            return refuse(&name, "needs a name of letters, digits, dots, hyphens and underscores");
        }
        if !names.insert(name.clone()) {
            return refuse(&name, "is named twice");
        }
        let (kind, transport) = match (server.command, server.url) {
            (Some(command), None) => {
                let (args, env) = (server.args.unwrap_or_default(), exposed(server.env));
                (McpTransport::Stdio, McpServerTransport::Stdio { command: command.into(), args, env })
            }
            (None, Some(url)) if url.starts_with("http://") || url.starts_with("https://") => {
                (McpTransport::Http, McpServerTransport::Http { url, headers: exposed(server.headers) })
            }
            _ => return refuse(&name, "needs either a command or a url that begins with http:// or https://"),
        };
        if !usable.contains(&kind) {
            return refuse(&name, &format!("cannot be used: {runtime} takes no servers of this kind"));
        }
        all.push(McpServer { name, transport });
    }
    Ok(all)
}

fn exposed(values: Option<BTreeMap<String, Secret>>) -> BTreeMap<String, String> {
    values.unwrap_or_default().into_iter().map(|(name, value)| (name, value.expose().to_owned())).collect()
}
