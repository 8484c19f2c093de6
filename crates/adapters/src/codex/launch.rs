//! Starts one app server per session, on a socket of its own, and reconnects to one that outlived a daemon.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use roost_engine::adapter::{AdapterError, OpenSession};
use roost_model::payload::NoticeLevel;
use roost_process::records::Record;
use roost_process::{Holder, RunId};
use serde_json::{Map, Value};

use super::connection::{CodexConnection, Dialog};
use super::home::CodexHome;
use super::resume_point::TurnMarker;
use super::socket::{self, Socket};
use super::{map, notify};
use crate::host::{AgentCommand, Process, Start, Writer, without_grace};
use crate::layers::{merge_dotted, nest};

/// How long a server lives on without a daemon: long enough for a restart.
const ORPHAN_GRACE: Duration = Duration::from_secs(60);
/// How long a server may take until it accepts a connection.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// Settings that users may not set, because Roost decides who approves tool calls: by the session's mode.
const RESERVED_SETTINGS: [&str; 2] = ["approval_policy", "approvals_reviewer"];

/// Codex's settings (its `-c` keys) for a session: the runtime's with the session's merged into them. An error for a reserved
/// setting or a value that TOML cannot express.
pub(super) fn settings(
    runtime: &Map<String, Value>,
    session: Option<&Map<String, Value>>,
) -> Result<Map<String, Value>, AdapterError> {
    let settings = merge_dotted(runtime, session);
    for (name, value) in &settings {
        toml::Value::try_from(value).map_err(|error| {
            AdapterError::Spawn(format!("Codex's config `{name}` cannot be passed on: {error}; remove or correct it"))
        })?;
    }
    match RESERVED_SETTINGS.iter().find(|name| settings.contains_key(**name)) {
        None => Ok(settings),
        Some(name) => Err(AdapterError::Spawn(format!(
            "`{name}` cannot be set in Codex's config: Roost asks about every tool call; choose the session's mode instead"
        ))),
    }
}

/// Settings that apply to the whole process and never hold a secret, so they may stand on the command line.
const PROCESS_SETTINGS: [&str; 4] =
    ["cli_auth_credentials_store", "log_dir", "mcp_oauth_credentials_store", "sqlite_home"];

/// The settings that are passed as arguments: booleans, [`PROCESS_SETTINGS`], and the name of the model provider.
/// Everybody on the machine can read a command line, so everything else goes with the thread only (see
/// [`super::thread::thread_params`]). These are needed before there is a thread.
pub(super) fn process_args(settings: &Map<String, Value>) -> Vec<OsString> {
    let is_open = |(name, value): &(&String, &Value)| value.is_boolean() || PROCESS_SETTINGS.contains(&name.as_str());
    let mut words = config_args(settings.iter().filter(is_open));
    let document = nest(settings.clone());
    let Some(provider) = document.get("model_provider").filter(|name| name.is_string()) else { return words };
    // Codex runs no turn whose provider its process does not know, so a stub defines it; its address and keys go with
    // the thread.
    let named = provider.as_str().unwrap_or_default();
    let is_defined = document.get("model_providers").is_some_and(|all| all.get(named).is_some());
    let stub = is_defined.then(|| (format!("model_providers.{named}.name"), provider));
    let name = ("model_provider".to_owned(), provider);
    words.extend(config_args(stub.iter().chain([&name]).map(|(name, value)| (name, *value))));
    words
}

/// Settings as `-c` arguments. The caller makes sure that none holds a secret.
pub(super) fn config_args<'a>(settings: impl IntoIterator<Item = (&'a String, &'a Value)>) -> Vec<OsString> {
    let argument = |(name, value): (&String, &Value)| {
        let value = toml::Value::try_from(value).ok()?;
        Some([OsString::from("-c"), format!("{name}={value}").into()])
    };
    settings.into_iter().filter_map(argument).flatten().collect()
}

/// Looks up a variable that configures Roost itself (`ACPLB_*`, see [`notify`]): in the command, then in the session's
/// environment, then in the daemon's own.
///
/// The daemon's own environment is read on purpose: the documentation offers these variables there, and the session's
/// environment holds only the allow-listed part of it, which they are not in. Codex itself does not get to see them.
pub(super) fn roost_variable(command: &AgentCommand, open: &OpenSession) -> impl Fn(&str) -> Option<String> {
    move |name| {
        let own = command.env.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value.clone());
        own.or_else(|| open.env.env.get(name).cloned()).or(std::env::var(name).ok())
    }
}

/// Starts a server under a holder process and connects to it. A server that does not listen in time is ended.
pub(super) async fn launch(
    holder: &Arc<Holder>,
    command: &AgentCommand,
    open: &OpenSession,
    settings: &Map<String, Value>,
) -> Result<(CodexConnection, Process, Socket), AdapterError> {
    let spawn = |error: String| AdapterError::Spawn(error);
    let run = RunId::fresh();
    let socket = Socket::within(&holder.folder(&run));
    let mut args = command.args.clone();
    args.extend(process_args(settings));
    args.extend(["app-server", "--listen"].map(OsString::from));
    args.push(socket.address().into());
    let prepared = socket.clone();
    let made = tokio::task::spawn_blocking(move || prepared.prepare()).await;
    made.map_err(|error| spawn(error.to_string()))?
        .map_err(|error| spawn(format!("no folder for Codex's socket could be made: {error}")))?;
    // With `--listen` Codex does not create its home folder, and does not start without it.
    let CodexHome(home) = CodexHome::from_env(command, &open.env);
    let made = tokio::fs::create_dir_all(&home).await;
    made.map_err(|error| spawn(format!("Codex's folder {} could not be made: {error}", home.display())))?;
    let start = Start { run, command, args, env: command.environment(&open.env), open };
    // With `--listen` it does not watch its stdin, so closing that would not end it.
    let (process, stdin) = match start.spawn_lasting(&without_grace(holder), ORPHAN_GRACE).await {
        Ok(started) => started,
        Err(error) => {
            // No run was recorded whose cleanup would remove the folder.
            socket.remove().await;
            return Err(error);
        }
    };
    let control = &process.control;
    let connected = tokio::select! {
        connected = socket.connect() => connected,
        exit = control.wait_exit() => {
            control.gone().await;
            let stderr = process.tail.text();
            return Err(spawn(format!("Codex ended before it listened ({exit}): {}", stderr.trim())));
        }
        () = tokio::time::sleep(START_TIMEOUT) => {
            control.stop().await;
            return Err(spawn(format!("Codex did not listen within {} s", START_TIMEOUT.as_secs())));
        }
    };
    let mut connection = connect(connected, &socket);
    connection._stdin = Some(stdin);
    let early = notify::unused_variables_warning(roost_variable(command, open))
        .map(|message| map::notice(NoticeLevel::Warning, message, None));
    connection.dialog.out.early.extend(early);
    Ok((connection, process, socket))
}

/// Wraps an open socket; a task of its own writes to it until the connection is dropped.
fn connect((messages, sink): (socket::Reader, socket::Writer), socket: &Socket) -> CodexConnection {
    let (writer, outgoing) = Writer::new("Codex does not read its socket");
    tokio::spawn(sink.run(outgoing));
    let marker = TurnMarker::within(socket.folder());
    CodexConnection { dialog: Dialog::new(writer), messages, _stdin: None, marker }
}

/// Takes over a server that outlived an earlier daemon. Also returns when that daemon was lost, in milliseconds since
/// 1970. `None` if the server is gone or does not answer.
pub(super) async fn adopt(
    holder: &Holder,
    record: &Record,
    socket: &Socket,
) -> Option<(CodexConnection, Process, u64)> {
    let (process, alone_since) = match Process::adopt(holder, record).await {
        Ok(adopted) => adopted,
        Err(error) => {
            tracing::info!(%error, "A Codex session ends with the daemon that had it.");
            return None;
        }
    };
    let connected = tokio::time::timeout(START_TIMEOUT, socket.connect()).await.ok()?;
    let since = alone_since.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    Some((connect(connected, socket), process, u64::try_from(since).unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn only_settings_that_cannot_hold_a_secret_are_arguments() {
        let settings = map(json!({
            "model_provider": "local",
            "model_providers.local": { "base_url": "http://127.0.0.1:1/v1", "experimental_bearer_token": "canary" },
            "features.x": true,
            "features": { "y": true },
            "list": ["a", "b\"c"],
            "sqlite_home": "/x",
        }));
        let expected = [
            "-c",
            "features.x=true",
            "-c",
            r#"sqlite_home="/x""#,
            "-c",
            r#"model_providers.local.name="local""#,
            "-c",
            r#"model_provider="local""#,
        ];
        assert_eq!(process_args(&settings), expected);
        let refused = super::settings(&map(json!({ "nothing": [null] })), None).unwrap_err();
        assert!(refused.to_string().contains("nothing"), "{refused}");
    }

    #[test]
    fn a_session_has_the_last_word_but_not_about_who_is_asked() {
        let merged = settings(&map(json!({ "a": 1, "b": 1 })), Some(&map(json!({ "b": 2 })))).unwrap();
        assert_eq!(merged, map(json!({ "a": 1, "b": 2 })));
        let error = settings(&map(json!({ "approval_policy": "never" })), None).unwrap_err();
        assert!(error.to_string().contains("mode"), "{error}");
    }
}
