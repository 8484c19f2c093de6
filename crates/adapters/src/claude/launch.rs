//! Starts Claude Code.
//!
//! Nothing secret goes on the command line, where every user of the machine could read it: settings and tool servers
//! follow over stdin.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

use roost_engine::adapter::{AdapterError, McpServerTransport, OpenSession};
use roost_model::mode::Mode;
use roost_model::runtime::RuntimeEnv;
use roost_process::{Holder, RunId, Stdin};
use serde_json::{Map, Value, json};

use super::host_server;
use super::project_servers::ProjectServers;
use crate::host::{AgentCommand, Process, Start, environment};

/// The conversation that a process is started for.
pub(super) enum Conversation {
    /// A new conversation under this id.
    New(String),
    /// A conversation that is on the CLI's disk.
    Known(String),
    /// A new conversation that begins with a copy of one on the CLI's disk.
    Fork {
        /// The id of the new conversation.
        id: String,
        /// The id of the conversation that is copied.
        of: String,
    },
}

impl Conversation {
    /// The id under which the process continues the conversation.
    pub(super) fn id(&self) -> &str {
        match self {
            Self::New(id) | Self::Known(id) | Self::Fork { id, .. } => id,
        }
    }

    /// The id that must be on the CLI's disk for the start to succeed; `None` for a new conversation.
    pub(super) fn known_as(&self) -> Option<&str> {
        match self {
            Self::New(_) => None,
            Self::Known(id) | Self::Fork { of: id, .. } => Some(id),
        }
    }
}

/// The CLI's permission mode for one of Roost's. The host decides about every call in any mode; only `plan` matters to
/// the agent, because the CLI instructs it to plan.
pub(super) fn permission_mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Plan => "plan",
        Mode::Ask | Mode::AcceptEdits | Mode::Auto | Mode::Yolo => "default",
    }
}

/// The error if an argument or variable would let the CLI run tools without asking the host.
pub(super) fn refuse_unseen(command: &AgentCommand, env: &BTreeMap<String, String>) -> Result<(), AdapterError> {
    let simple = env.get("CLAUDE_CODE_SIMPLE").is_some_and(|value| !matches!(value.as_str(), "" | "0" | "false"));
    let words = command.args.iter().map(|arg| arg.to_string_lossy());
    let flag = words.into_iter().find(|arg| arg == "--bare" || arg.contains("dangerously-skip-permissions"));
    let named = flag.map(|flag| flag.into_owned()).or(simple.then(|| "CLAUDE_CODE_SIMPLE".to_owned()));
    match named {
        None => Ok(()),
        Some(named) => Err(AdapterError::Spawn(format!(
            "Claude Code's {named} runs tools that nobody is asked about; take it out of [runtimes.claude] in \
             roost.toml, and use the mode `yolo` to allow everything"
        ))),
    }
}

/// The environment of the CLI: the session's and the configured variables. By default automatic updates are off and
/// reports of the CLI's state are on.
pub(super) fn variables(command: &AgentCommand, env: &RuntimeEnv) -> BTreeMap<String, String> {
    // An update would replace the program while it runs. Without its state, nobody knows whether it has come to rest.
    command.variables(&[("DISABLE_AUTOUPDATER", "1"), ("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1")], env)
}

/// The CLI's arguments: the configured ones, then those of the protocol, the project's tool servers, the mode, the model
/// and the conversation.
pub(super) fn arguments(
    command: &AgentCommand,
    open: &OpenSession,
    project_servers: &ProjectServers,
    conversation: &Conversation,
) -> Vec<OsString> {
    let mut args: Vec<OsString> = command.args.clone();
    let fixed = "-p --input-format stream-json --output-format stream-json --verbose --include-partial-messages \
                 --replay-user-messages --permission-prompt-tool stdio";
    args.extend(fixed.split_whitespace().map(OsString::from));
    args.extend(project_servers.arguments());
    args.extend(["--permission-mode", permission_mode(open.mode)].map(OsString::from));
    if let Some(model) = &open.input.model {
        args.extend(["--model", model].map(OsString::from));
    }
    let which: &[&str] = match conversation {
        Conversation::New(id) => &["--session-id", id],
        Conversation::Known(id) => &["--resume", id],
        Conversation::Fork { id, of } => &["--resume", of, "--fork-session", "--session-id", id],
    };
    args.extend(which.iter().map(OsString::from));
    args
}

/// The session's tool servers in the CLI's JSON: those of its settings (`configured`), then the others, which win by name;
/// `with_host` adds the server of the host's tools.
pub(super) fn servers(configured: &Map<String, Value>, open: &OpenSession, with_host: bool) -> Value {
    let servers = open.mcp_servers.iter().map(|server| {
        let config = match &server.transport {
            McpServerTransport::Http { url, headers } => json!({ "type": "http", "url": url, "headers": headers }),
            McpServerTransport::Stdio { command, args, env } => {
                json!({ "type": "stdio", "command": command, "args": args, "env": env })
            }
        };
        (server.name.clone(), config)
    });
    let mut servers: Map<_, _> = configured.clone().into_iter().chain(servers).collect();
    if with_host {
        servers.insert(host_server::NAME.into(), json!({ "type": "sdk", "name": host_server::NAME }));
    }
    servers.into()
}

/// Starts the CLI under a holder, unless its command would hide tool calls from the host.
pub(super) async fn launch(
    holder: &Arc<Holder>,
    command: &AgentCommand,
    open: &OpenSession,
    project_servers: &ProjectServers,
    conversation: &Conversation,
) -> Result<(Process, Stdin), AdapterError> {
    let variables = variables(command, &open.env);
    refuse_unseen(command, &variables)?;
    let (args, env) = (arguments(command, open, project_servers, conversation), environment(variables));
    Start { run: RunId::fresh(), command, args, env, open }.spawn(holder).await
}

#[cfg(test)]
mod tests {
    use roost_engine::adapter::McpServer;
    use roost_model::ids::SessionId;
    use roost_model::runtime::CreateSessionInput;

    use super::*;

    fn command(args: &[&str]) -> AgentCommand {
        AgentCommand { program: "claude".into(), args: args.iter().map(OsString::from).collect(), env: Vec::new() }
    }

    fn open(mode: Mode) -> OpenSession {
        let (cwd, env) = ("/w".to_owned(), BTreeMap::new());
        let transport = McpServerTransport::Http {
            url: "http://127.0.0.1:1/mcp".into(),
            headers: [("authorization".to_owned(), "Bearer secret".to_owned())].into(),
        };
        OpenSession {
            session_id: SessionId::new(),
            env: RuntimeEnv { cwd, env, credential_namespace: "default".into(), isolation: None },
            input: CreateSessionInput { model: Some("opus".into()), ..Default::default() },
            mode,
            mcp_servers: vec![McpServer { name: "tools".into(), transport }],
        }
    }

    #[test]
    fn no_mode_skips_permissions_and_no_secret_is_an_argument() {
        for mode in [Mode::Plan, Mode::Ask, Mode::AcceptEdits, Mode::Auto, Mode::Yolo] {
            let (command, none) = (command(&["--debug"]), ProjectServers::default());
            let args = arguments(&command, &open(mode), &none, &Conversation::New("id".into()));
            let line = args.join(" ".as_ref()).into_string().unwrap();
            assert!(line.starts_with("--debug -p ") && line.ends_with(" --model opus --session-id id"), "{line}");
            assert!(!line.contains("dangerously") && !line.contains("bypass") && !line.contains("secret"), "{line}");
        }
        let configured =
            json!({ "tools": { "command": "x" }, "own": { "command": "y" } }).as_object().cloned().unwrap();
        let servers = servers(&configured, &open(Mode::Ask), false);
        assert_eq!(servers["tools"]["headers"]["authorization"], "Bearer secret");
        assert_eq!(servers["own"]["command"], "y");
    }

    #[test]
    fn a_configuration_that_hides_calls_is_refused() {
        let simple = |value: &str| BTreeMap::from([("CLAUDE_CODE_SIMPLE".to_owned(), value.to_owned())]);
        assert!(refuse_unseen(&command(&[]), &simple("0")).is_ok());
        assert!(refuse_unseen(&command(&[]), &simple("1")).is_err());
        for flag in ["--bare", "--dangerously-skip-permissions", "--allow-dangerously-skip-permissions"] {
            let refused = refuse_unseen(&command(&["--debug", flag]), &BTreeMap::new()).unwrap_err().to_string();
            assert!(refused.contains(flag), "{refused}");
        }
    }
}
