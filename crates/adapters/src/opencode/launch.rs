//! Starts one OpenCode server per session, on loopback with a random password.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::time::Duration;

use roost_engine::adapter::{AdapterError, McpServerTransport, OpenSession};
use roost_model::runtime::RuntimeEnv;
use roost_process::{Environment, Holder, Lines, RunId, Stdin};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::http::Client;
use crate::host::{AgentCommand, Process, Start, without_grace};
use crate::layers::merge;

/// How long a server may take until it listens; in a new home it creates its database first.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// The beginning of the line by which the server reports its address.
const READY_PREFIX: &str = "opencode server listening on http://";
/// The user name for the password.
const USER: &str = "opencode";
/// The variable that holds OpenCode's settings as JSON.
pub(super) const CONFIG_VARIABLE: &str = "OPENCODE_CONFIG_CONTENT";

/// Variables that keep OpenCode from downloading things by itself.
const SWITCHES: [(&str, &str); 5] = [
    ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
    ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
    ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
    ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
    ("npm_config_offline", "true"),
];

/// OpenCode's settings for a session: the runtime's with the session's merged into them. An error for `permission`, which
/// Roost sets.
pub(super) fn settings(
    runtime: &Map<String, Value>,
    session: Option<&Map<String, Value>>,
) -> Result<Map<String, Value>, AdapterError> {
    let settings = merge(runtime, session);
    if settings.contains_key("permission") {
        return Err(AdapterError::Spawn(
            "`permission` cannot be set in OpenCode's config: Roost asks about every tool call; choose the session's \
             mode instead"
                .into(),
        ));
    }
    Ok(settings)
}

/// The settings that the server is started with: those of the environment (`inherited`), overridden by `settings`,
/// overridden by Roost's own and the session's MCP servers.
fn document(inherited: Option<&str>, settings: &Map<String, Value>, open: &OpenSession) -> Value {
    let inherited = inherited.and_then(|text| serde_json::from_str::<Map<_, _>>(text).ok());
    let mut document = merge(&inherited.unwrap_or_default(), Some(settings));
    document.insert("autoupdate".into(), false.into());
    document.insert("share".into(), "disabled".into());
    document.insert("permission".into(), json!({ "*": "ask" }));
    if let Value::Object(servers) = document.entry("mcp").or_insert_with(|| json!({})) {
        for server in &open.mcp_servers {
            let value = match &server.transport {
                McpServerTransport::Http { url, headers } => {
                    json!({ "type": "remote", "url": url, "headers": headers, "oauth": false })
                }
                McpServerTransport::Stdio { command, args, env } => {
                    let words: Vec<_> =
                        [command.to_string_lossy().into_owned()].into_iter().chain(args.clone()).collect();
                    json!({ "type": "local", "command": words, "environment": env })
                }
            };
            servers.insert(server.name.clone(), value);
        }
    }
    document.into()
}

/// The environment of the server, with what its command adds and [`SWITCHES`].
pub(super) fn environment(command: &AgentCommand, env: &RuntimeEnv) -> Environment {
    let mut all = command.environment(env);
    for (name, value) in SWITCHES {
        all.set(name, value);
    }
    all
}

/// A server that was started for one session.
pub(super) struct Server {
    pub(super) process: Process,
    pub(super) stdin: Stdin,
    /// The lines that it printed before it listened.
    pub(super) early: Vec<String>,
}

/// Starts a server under a holder process and waits until it listens. A server that does not listen in time is ended.
pub(super) async fn launch(
    holder: &Holder,
    command: &AgentCommand,
    open: &OpenSession,
    settings: &Map<String, Value>,
) -> Result<(Server, Client), AdapterError> {
    let spawn = |error: String| AdapterError::Spawn(error);
    let mut env = environment(command, &open.env);
    let inherited = env.get(CONFIG_VARIABLE).map(|text| text.to_string_lossy().into_owned());
    let password = Uuid::new_v4().simple().to_string();
    env.set(CONFIG_VARIABLE, document(inherited.as_deref(), settings, open).to_string());
    env.set("OPENCODE_SERVER_PASSWORD", &password);
    env.set("OPENCODE_SERVER_USERNAME", USER);
    let mut args = command.args.clone();
    args.extend(["serve", "--port", "0", "--hostname", "127.0.0.1"].map(OsString::from));
    let start = Start { run: RunId::fresh(), command, args, env, open };
    // It does not watch its stdin, so closing that would not end it.
    let (mut process, stdin) = start.spawn(&without_grace(holder)).await?;
    let mut early = Vec::new();
    let address = tokio::select! {
        address = wait_for_address(&mut process.stdout, &mut early) => address,
        () = tokio::time::sleep(START_TIMEOUT) => {
            process.control.stop().await;
            return Err(spawn(format!("OpenCode did not listen within {} s", START_TIMEOUT.as_secs())));
        }
    };
    let Some(address) = address else {
        let exit = process.control.stop().await;
        let stderr = process.tail.text();
        return Err(spawn(format!("OpenCode ended before it listened ({exit}): {}", stderr.trim())));
    };
    let client = Client::new(&address.to_string(), USER, &password);
    Ok((Server { process, stdin, early }, client))
}

/// Reads stdout until the server reports its address; other lines go to `noise`. `None` if stdout ends before.
async fn wait_for_address(stdout: &mut Lines, noise: &mut Vec<String>) -> Option<SocketAddr> {
    let mut address = None;
    while address.is_none() {
        let batch = stdout.next_batch().await.ok()??;
        batch.for_each(|line| {
            let text = line.text();
            match parse_address(&text) {
                Some(found) => address = Some(found),
                None => noise.push(text.into_owned()),
            }
        });
    }
    address
}

/// The address of the server, if this line reports it.
pub(super) fn parse_address(line: &str) -> Option<SocketAddr> {
    line.strip_prefix(READY_PREFIX)?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn a_session_has_the_last_word_but_not_about_who_is_asked() {
        let merged = settings(&map(json!({ "a": 1, "b": 1 })), Some(&map(json!({ "b": 2 })))).unwrap();
        assert_eq!(merged, map(json!({ "a": 1, "b": 2 })));
        let error = settings(&map(json!({ "permission": "allow" })), None).unwrap_err();
        assert!(error.to_string().contains("mode"), "{error}");
    }
}
