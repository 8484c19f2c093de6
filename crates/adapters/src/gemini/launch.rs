//! How the Gemini CLI is started.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

use roost_engine::adapter::{AdapterError, OpenSession};
use roost_process::{Environment, Holder, RunId};
use roost_proto::runtime::RuntimeEnv;
use serde_json::{Map, Value};

use crate::acp::{self, AgentCommand, Parts};

/// Where Gemini looks for settings that stand over the user's.
const SETTINGS: &str = "GEMINI_CLI_SYSTEM_SETTINGS_PATH";

/// Arguments that would let tools run that nobody is asked about.
const UNSEEN: [&str; 4] = ["--yolo", "-y", "--approval-mode", "--allowed-tools"];

/// The whole environment of the CLI.
pub(super) fn variables(command: &AgentCommand, env: &RuntimeEnv) -> BTreeMap<String, String> {
    // Its second process only takes memory and time; where it may work is the host's to say.
    let ours = [("GEMINI_CLI_NO_RELAUNCH", "true"), ("GEMINI_CLI_TRUST_WORKSPACE", "true")];
    let mut all = BTreeMap::from(ours.map(|(name, value)| (name.to_owned(), value.to_owned())));
    all.extend(env.env.clone());
    all.extend(command.env.iter().cloned());
    all
}

/// The same, as a process is given it.
pub(super) fn environment(command: &AgentCommand, env: &RuntimeEnv) -> Environment {
    let mut all = Environment::default();
    for (name, value) in variables(command, env) {
        all.set(name, value);
    }
    all
}

/// Starts the CLI under a holder.
pub(super) async fn launch(
    holder: &Arc<Holder>,
    command: &AgentCommand,
    open: &OpenSession,
    settings: &Map<String, Value>,
) -> Result<Parts, AdapterError> {
    let mut command = complete(command, open)?;
    let run = RunId::fresh();
    let folder = holder.folder(&run);
    if !settings.is_empty() {
        let (folder, text) = (folder.clone(), Value::from(settings.clone()).to_string());
        let file = folder.join("settings.json").display().to_string();
        let written = tokio::task::spawn_blocking(move || write(&folder, &text)).await.map_err(io::Error::from);
        written.flatten().map_err(|error| AdapterError::Spawn(format!("{file} cannot be written: {error}")))?;
        command.env.push((SETTINGS.into(), file));
    }
    let launched = acp::launch(holder, run, &command, open).await;
    if launched.is_err() {
        // There is no run that would take it along; it may not be there at all.
        let _ = tokio::fs::remove_dir_all(folder).await;
    }
    launched
}

/// The command with everything that Gemini needs but its settings.
fn complete(command: &AgentCommand, open: &OpenSession) -> Result<AgentCommand, AdapterError> {
    let named = |arg: &&std::ffi::OsString| {
        let arg = arg.to_string_lossy();
        UNSEEN.contains(&arg.split('=').next().unwrap_or_default())
    };
    if let Some(arg) = command.args.iter().find(named) {
        let message = format!(
            "Gemini's {} runs tools that nobody is asked about; take it out of [runtimes.gemini] in roost.toml",
            arg.to_string_lossy()
        );
        return Err(AdapterError::Spawn(message));
    }
    let mut args = command.args.clone();
    args.push("--acp".into());
    if let Some(model) = &open.input.model {
        args.extend(["--model".into(), model.into()]);
    }
    let env = variables(command, &open.env).into_iter().collect();
    Ok(AgentCommand { program: command.program.clone(), args, env })
}

/// Settings can hold secrets: they are for us alone, and not on the command line.
fn write(folder: &Path, text: &str) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(folder.join("settings.json"));
    file?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use roost_proto::ids::SessionId;
    use roost_proto::mode::Mode;
    use roost_proto::runtime::CreateSessionInput;

    use super::*;

    fn completed(args: &[&str]) -> Result<AgentCommand, AdapterError> {
        let env = BTreeMap::from([("GEMINI_CLI_TRUST_WORKSPACE".to_owned(), "false".to_owned())]);
        let open = OpenSession {
            session_id: SessionId::new(),
            env: RuntimeEnv { cwd: "/w".into(), env, credential_namespace: "default".into(), isolation: None },
            input: CreateSessionInput { model: Some("gemini-2.5-pro".into()), ..Default::default() },
            mode: Mode::Yolo,
            mcp_servers: Vec::new(),
        };
        let args = args.iter().map(Into::into).collect();
        complete(&AgentCommand { program: "gemini".into(), args, env: Vec::new() }, &open)
    }

    #[test]
    fn the_session_may_overrule_what_is_usual() {
        let command = completed(&["--debug"]).unwrap();
        assert_eq!(command.args, ["--debug", "--acp", "--model", "gemini-2.5-pro"]);
        let value = |name: &str| command.env.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
        assert_eq!(value("GEMINI_CLI_NO_RELAUNCH"), Some("true"));
        assert_eq!(value("GEMINI_CLI_TRUST_WORKSPACE"), Some("false"));
    }

    #[test]
    fn an_argument_that_hides_calls_is_refused() {
        for arg in ["--yolo", "-y", "--approval-mode=yolo", "--allowed-tools"] {
            assert!(completed(&[arg]).unwrap_err().to_string().contains(arg), "{arg}");
        }
    }
}
