//! The parameters of `thread/start`, `thread/resume`, `thread/fork` and `turn/start`.

use roost_engine::adapter::{McpServerTransport, OpenSession};
use roost_model::tool::ToolManifest;
use serde_json::{Map, Value, json};

use super::sandbox::{Sandbox, WorkspaceSettings};
use crate::layers::nest;

/// Codex requests an approval for everything, in every mode, so that the host decides. Codex refuses this value in its
/// settings and accepts it here.
const APPROVAL_POLICY: &str = "untrusted";

/// How long a thread waits for its tool servers before its first turn, in milliseconds. Without it Codex goes on without
/// a server that starts slowly, and the agent lacks its tools. A server that does not start at all keeps nobody longer
/// than its own `startup_timeout_sec`.
const SERVER_START_GRACE_MS: u64 = 50_000;

/// The parameters that all requests for a thread have. Codex's settings go here and not on the command line, because
/// they can hold secrets. `workspace` is what our permission profiles take over of the user's settings.
pub(super) fn thread_params(
    open: &OpenSession,
    sandbox: Option<Sandbox>,
    workspace: &WorkspaceSettings,
    settings: &Map<String, Value>,
) -> Map<String, Value> {
    let mut config = settings.clone();
    // So that the agent can ask the user in every mode. Codex calls that unstable, and would warn about it.
    config.insert("features.default_mode_request_user_input".into(), true.into());
    config.insert("suppress_unstable_features_warning".into(), true.into());
    if !open.mcp_servers.is_empty() {
        config.entry("mcp_optional_startup_grace_ms").or_insert_with(|| SERVER_START_GRACE_MS.into());
    }
    for server in &open.mcp_servers {
        let value = match &server.transport {
            McpServerTransport::Http { url, headers } => json!({ "url": url, "http_headers": headers }),
            McpServerTransport::Stdio { command, args, env } => json!({ "command": command, "args": args, "env": env }),
        };
        config.insert(format!("mcp_servers.{}", server.name), value);
    }
    let mut params = Map::new();
    // All profiles, because a later turn can have another mode.
    config.extend(Sandbox::profiles(workspace));
    match sandbox.map(|sandbox| (sandbox, sandbox.profile_name())) {
        Some((_, Some(profile))) => {
            // Codex does not take both.
            config.remove("sandbox_mode");
            params.insert("permissions".into(), profile.into());
        }
        Some((sandbox, None)) => drop(params.insert("sandbox".into(), sandbox.name().into())),
        None => {}
    }
    params.insert("cwd".into(), open.env.cwd.clone().into());
    params.insert("approvalPolicy".into(), APPROVAL_POLICY.into());
    params.insert("approvalsReviewer".into(), "user".into());
    params.insert("config".into(), nest(config).into());
    if let Some(model) = &open.input.model {
        params.insert("model".into(), model.clone().into());
    }
    params
}

/// The host's tools as `dynamicTools`.
pub(super) fn host_tools(manifest: &ToolManifest) -> Value {
    let tools = manifest.tools.iter().map(|tool| {
        let schema = tool.input_schema.clone().unwrap_or_else(|| json!({ "type": "object" }));
        let description = tool.description.as_deref().unwrap_or_default();
        json!({ "type": "function", "name": tool.name, "description": description, "inputSchema": schema })
    });
    tools.collect()
}

/// The parameters of `turn/start`; `sandbox` only if it differs from the last turn's. `profiles` says that the thread
/// knows our permission profiles.
pub(super) fn turn_params(thread: &str, prompt: Vec<Value>, sandbox: Option<Sandbox>, profiles: bool) -> Value {
    let mut params = json!({ "threadId": thread, "input": prompt });
    match sandbox.map(|sandbox| (sandbox, sandbox.profile_name().filter(|_| profiles))) {
        Some((_, Some(profile))) => params["permissions"] = profile.into(),
        Some((sandbox, None)) => params["sandboxPolicy"] = sandbox.policy(),
        None => {}
    }
    params
}
