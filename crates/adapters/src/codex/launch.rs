//! How a Codex server is started: one per session, on a socket of its own.

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
use super::note::TurnNote;
use super::socket::{self, Socket};
use super::{map, notify};
use crate::host::{AgentCommand, Process, Start, Writer, without_grace};
use crate::layers::nest;

/// How long a server goes on without Roost: long enough for a restart.
const ALONE: Duration = Duration::from_secs(60);
/// How long a server may take until it listens.
const START: Duration = Duration::from_secs(30);

/// Codex's own settings that only Roost sets: who is asked is the session's mode, not a file's.
const OURS: [&str; 2] = ["approval_policy", "approvals_reviewer"];

/// Codex's own settings for a session: those of the runtime, and over them those of the session.
pub(super) fn settings(
    runtime: &Map<String, Value>,
    session: Option<&Map<String, Value>>,
) -> Result<Map<String, Value>, AdapterError> {
    let settings: Map<_, _> = runtime.iter().chain(session.into_iter().flatten()).map(pair).collect();
    for (name, value) in &settings {
        toml::Value::try_from(value).map_err(|error| {
            AdapterError::Spawn(format!("Codex's config `{name}` cannot be passed on: {error}; remove or correct it"))
        })?;
    }
    match OURS.iter().find(|name| settings.contains_key(**name)) {
        None => Ok(settings),
        Some(name) => Err(AdapterError::Spawn(format!(
            "`{name}` cannot be set in Codex's config: Roost asks about every tool call; choose the session's mode instead"
        ))),
    }
}

fn pair((name, value): (&String, &Value)) -> (String, Value) {
    (name.clone(), value.clone())
}

/// Codex's settings that are about its whole process, and whose values are words and paths that are no secrets.
const OF_PROCESS: [&str; 4] = ["cli_auth_credentials_store", "log_dir", "mcp_oauth_credentials_store", "sqlite_home"];

/// The settings that may be on the command line, where everybody on this machine can read them: switches, those of
/// [`OF_PROCESS`], and the name of the model provider. All settings are told with the thread (see
/// [`super::thread::terms`]); these count before there is one.
pub(super) fn switches(settings: &Map<String, Value>) -> Vec<OsString> {
    let is_open = |(name, value): &(&String, &Value)| value.is_boolean() || OF_PROCESS.contains(&name.as_str());
    let mut words = arguments(settings.iter().filter(is_open));
    let document = nest(settings.clone());
    let Some(provider) = document.get("model_provider").filter(|name| name.is_string()) else { return words };
    // Codex takes no turn of a thread whose provider its process does not know; its address and keys go with the thread.
    let named = provider.as_str().unwrap_or_default();
    let is_defined = document.get("model_providers").is_some_and(|all| all.get(named).is_some());
    let stub = is_defined.then(|| (format!("model_providers.{named}.name"), provider));
    let name = ("model_provider".to_owned(), provider);
    words.extend(arguments(stub.iter().chain([&name]).map(|(name, value)| (name, *value))));
    words
}

/// Settings as `-c` arguments: only for those that hold no secret.
pub(super) fn arguments<'a>(settings: impl IntoIterator<Item = (&'a String, &'a Value)>) -> Vec<OsString> {
    let argument = |(name, value): (&String, &Value)| {
        let value = toml::Value::try_from(value).ok()?;
        Some([OsString::from("-c"), format!("{name}={value}").into()])
    };
    settings.into_iter().filter_map(argument).flatten().collect()
}

/// Roost's own variables about Codex: of the command, of the session, of the daemon. Codex sees none that it is not given.
pub(super) fn variable(command: &AgentCommand, open: &OpenSession) -> impl Fn(&str) -> Option<String> {
    move |name| {
        let own = command.env.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value.clone());
        own.or_else(|| open.env.env.get(name).cloned()).or(std::env::var(name).ok())
    }
}

/// Starts a server under a holder and connects to it.
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
    args.extend(switches(settings));
    args.extend(["app-server", "--listen"].map(OsString::from));
    args.push(socket.address().into());
    let prepared = socket.clone();
    let made = tokio::task::spawn_blocking(move || prepared.prepare()).await;
    made.map_err(|error| spawn(error.to_string()))?
        .map_err(|error| spawn(format!("no folder for Codex's socket could be made: {error}")))?;
    // On a socket Codex does not start where its folder is missing, which it makes by itself otherwise.
    let CodexHome(home) = CodexHome::of(command, &open.env);
    let made = tokio::fs::create_dir_all(&home).await;
    made.map_err(|error| spawn(format!("Codex's folder {} could not be made: {error}", home.display())))?;
    let start = Start { run, command, args, env: command.environment(&open.env), open };
    // On a socket it does not watch its stdin.
    let (process, stdin) = match start.spawn_lasting(&without_grace(holder), ALONE).await {
        Ok(started) => started,
        Err(error) => {
            // There is no run that would take it along.
            socket.remove().await;
            return Err(error);
        }
    };
    let control = &process.control;
    let connected = tokio::select! {
        connected = socket.connect() => connected,
        exit = control.wait_exit() => {
            control.gone().await;
            let said = process.tail.text();
            return Err(spawn(format!("Codex ended before it listened ({exit}): {}", said.trim())));
        }
        () = tokio::time::sleep(START) => {
            control.stop().await;
            return Err(spawn(format!("Codex did not listen within {} s", START.as_secs())));
        }
    };
    let mut connection = connect(connected, &socket);
    connection._stdin = Some(stdin);
    let early = notify::unused(variable(command, open)).map(|message| map::notice(NoticeLevel::Warning, message, None));
    connection.dialog.out.early.extend(early);
    Ok((connection, process, socket))
}

/// The connection over a socket that is open.
fn connect((messages, sink): (socket::Reader, socket::Writer), socket: &Socket) -> CodexConnection {
    let (writer, outgoing) = Writer::new("Codex does not read its socket");
    tokio::spawn(sink.run(outgoing));
    let note = TurnNote::within(socket.folder());
    CodexConnection { dialog: Dialog::new(writer), messages, _stdin: None, note }
}

/// Takes over a server that outlived an earlier daemon, and when that was lost, in milliseconds since 1970.
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
    let connected = tokio::time::timeout(START, socket.connect()).await.ok()?;
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
        assert_eq!(switches(&settings), expected);
        let refused = super::settings(&map(json!({ "nothing": null })), None).unwrap_err();
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
