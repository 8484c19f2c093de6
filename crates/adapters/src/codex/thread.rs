//! The words in which a thread and its turns are asked for.

use roost_engine::adapter::{McpServerTransport, OpenSession};
use roost_model::tool::ToolManifest;
use serde_json::{Map, Value, json};

use super::sandbox::Sandbox;
use crate::layers::nest;

/// Asked about everything: the host decides, in every mode. Codex refuses this word in its settings and takes it here.
const APPROVAL: &str = "untrusted";

/// What every request for a thread says. Codex's settings go this way, and not on the command line, as they can hold
/// secrets.
pub(super) fn terms(open: &OpenSession, sandbox: Option<Sandbox>, settings: &Map<String, Value>) -> Map<String, Value> {
    let mut config = settings.clone();
    // So that the agent can ask in every mode; Codex warns about everything it calls unfinished.
    config.insert("features.default_mode_request_user_input".into(), true.into());
    config.insert("suppress_unstable_features_warning".into(), true.into());
    for server in &open.mcp_servers {
        let value = match &server.transport {
            McpServerTransport::Http { url, headers } => json!({ "url": url, "http_headers": headers }),
            McpServerTransport::Stdio { command, args, env } => json!({ "command": command, "args": args, "env": env }),
        };
        config.insert(format!("mcp_servers.{}", server.name), value);
    }
    let is_set = |name: &str| settings.keys().any(|set| name.starts_with(set.as_str()));
    if let Some((name, on)) = sandbox.and_then(Sandbox::network).filter(|(name, _)| !is_set(name)) {
        config.insert(name.into(), on.into());
    }
    let mut terms = Map::new();
    terms.insert("cwd".into(), open.env.cwd.clone().into());
    terms.insert("approvalPolicy".into(), APPROVAL.into());
    terms.insert("approvalsReviewer".into(), "user".into());
    terms.insert("config".into(), nest(config).into());
    if let Some(sandbox) = sandbox {
        terms.insert("sandbox".into(), sandbox.name().into());
    }
    if let Some(model) = &open.input.model {
        terms.insert("model".into(), model.clone().into());
    }
    terms
}

/// The host's tools as Codex takes them.
pub(super) fn host_tools(manifest: &ToolManifest) -> Value {
    let tools = manifest.tools.iter().map(|tool| {
        let schema = tool.input_schema.clone().unwrap_or_else(|| json!({ "type": "object" }));
        let description = tool.description.as_deref().unwrap_or_default();
        json!({ "type": "function", "name": tool.name, "description": description, "inputSchema": schema })
    });
    tools.collect()
}

/// What a turn begins with; `sandbox` only where it is another than the last turn's.
pub(super) fn turn(thread: &str, prompt: Vec<Value>, sandbox: Option<Sandbox>) -> Value {
    let mut params = json!({ "threadId": thread, "input": prompt });
    if let Some(sandbox) = sandbox {
        params["sandboxPolicy"] = sandbox.policy();
    }
    params
}
