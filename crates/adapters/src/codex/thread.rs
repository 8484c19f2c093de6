//! The words in which a thread and its turns are asked for.

use roost_engine::adapter::{McpServerTransport, OpenSession};
use roost_proto::mode::Mode;
use roost_proto::tool::ToolManifest;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Asked about everything: the host decides, in every mode. Codex refuses this word in its settings and takes it here.
const APPROVAL: &str = "untrusted";

/// What a mode lets Codex's own sandbox do, besides asking.
///
/// | mode | sandbox | asks |
/// |---|---|---|
/// | plan | read-only | always, and the policy refuses writes |
/// | ask, accept-edits, auto | workspace-write, no network | always; the policy answers what the mode allows |
/// | yolo | danger-full-access | always; the policy answers yes |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Sandbox {
    ReadOnly,
    Workspace,
    Full,
}

impl Sandbox {
    /// The sandbox of a mode.
    pub(super) fn of(mode: Mode) -> Self {
        match mode {
            Mode::Plan => Self::ReadOnly,
            Mode::Ask | Mode::AcceptEdits | Mode::Auto => Self::Workspace,
            Mode::Yolo => Self::Full,
        }
    }

    /// Its name in Codex's settings.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Workspace => "workspace-write",
            Self::Full => "danger-full-access",
        }
    }

    /// The same as a turn wants it.
    fn policy(self) -> Value {
        match self {
            Self::ReadOnly => json!({ "type": "readOnly", "networkAccess": false }),
            Self::Workspace => json!({
                "type": "workspaceWrite",
                "writableRoots": [],
                "networkAccess": false,
                "excludeTmpdirEnvVar": false,
                "excludeSlashTmp": false,
            }),
            Self::Full => json!({ "type": "dangerFullAccess" }),
        }
    }
}

/// What every request for a thread says.
pub(super) fn terms(open: &OpenSession, sandbox: Option<Sandbox>) -> Map<String, Value> {
    let mut config = Map::new();
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
    let mut terms = Map::new();
    terms.insert("cwd".into(), open.env.cwd.clone().into());
    terms.insert("approvalPolicy".into(), APPROVAL.into());
    terms.insert("approvalsReviewer".into(), "user".into());
    terms.insert("config".into(), config.into());
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
