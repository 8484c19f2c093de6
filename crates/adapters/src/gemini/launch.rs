//! Starts the Gemini CLI.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use roost_engine::adapter::{AdapterError, OpenSession};
use roost_model::runtime::RuntimeEnv;
use roost_process::{Holder, RunId, Stdin};
use serde_json::{Map, Value, json};

use super::{auth, home, project_files};
use crate::acp;
use crate::host::{AgentCommand, Process};
use crate::layers::lay_over;

/// Arguments that would let Gemini run tools without asking the host; they are refused.
const UNSEEN: [&str; 4] = ["--yolo", "-y", "--approval-mode", "--allowed-tools"];

/// The variable that answers Gemini's question whether the folder is trusted.
const TRUST: &str = "GEMINI_CLI_TRUST_WORKSPACE";

/// The environment of the CLI: three defaults of Roost's, then the session's and the configured variables.
pub(super) fn variables(command: &AgentCommand, env: &RuntimeEnv) -> BTreeMap<String, String> {
    // No second process, which only takes memory and time; no terminal for commands, because Gemini does not report what
    // is printed in one. Gemini holds back its stderr until it exits, but not its debug log, which alone tells of
    // retries; see `retries`.
    let ours = [
        ("GEMINI_DEBUG_LOG_FILE", "/dev/stderr"),
        ("GEMINI_CLI_NO_RELAUNCH", "true"),
        ("GEMINI_PTY_INFO", "child_process"),
    ];
    command.variables(&ours, env)
}

/// Starts the CLI under a holder. A run with settings gets a home in its run folder, which is removed with the run.
pub(super) async fn launch(
    holder: &Arc<Holder>,
    command: &AgentCommand,
    open: &OpenSession,
    settings: &Map<String, Value>,
) -> Result<(Process, Stdin), AdapterError> {
    let mut command = complete(command, open)?;
    let run = RunId::fresh();
    let folder = holder.folder(&run);
    let (own, user) = (folder.clone(), auth::home(&command.env.iter().cloned().collect()));
    let (settings, has_key) = (settings.clone(), auth::needs_type(&command.env));
    let cwd = PathBuf::from(&open.env.cwd);
    let prepared = tokio::task::spawn_blocking(move || {
        let is_harmless = project_files::risks(&cwd, &user).is_empty();
        prepare_run_home(own, user, settings, has_key).map(|home| (home, is_harmless))
    });
    let prepared = prepared.await.map_err(io::Error::from).flatten();
    if let Ok((_, true)) = prepared
        && !command.env.iter().any(|(name, _)| name == TRUST)
    {
        command.env.push((TRUST.into(), "true".into()));
    }
    match prepared.map(|(home, _)| home) {
        Ok(Some(home)) => command.env.push((home::VARIABLE.into(), home.display().to_string())),
        Ok(None) => {}
        Err(error) => {
            let _ = tokio::fs::remove_dir_all(folder).await;
            return Err(AdapterError::Spawn(format!("Gemini's settings cannot be laid over the user's: {error}")));
        }
    }
    let launched = acp::launch(holder, run, &command, open).await;
    if launched.is_err() {
        // Without a run nothing else would remove the folder; it may not exist.
        let _ = tokio::fs::remove_dir_all(folder).await;
    }
    launched
}

/// Creates the home of a run that needs its own settings; `None` if the user's own home is enough.
fn prepare_run_home(
    own: PathBuf,
    user: PathBuf,
    mut settings: Map<String, Value>,
    has_key: bool,
) -> io::Result<Option<PathBuf>> {
    let chosen = |settings: &Map<String, Value>| {
        settings.get("security").and_then(|all| all.pointer("/auth/selectedType")).is_some()
    };
    // Gemini creates a session with a key alone, but loads one only if the settings select the login by key.
    if has_key && !chosen(&settings) && !chosen(&home::read_settings(&user)?) {
        let with_key = json!({ "security": { "auth": { "selectedType": "gemini-api-key" } } });
        lay_over(&mut settings, with_key.as_object().cloned().unwrap_or_default());
    }
    if settings.is_empty() {
        return Ok(None);
    }
    let user = user.parent().map(Into::into).unwrap_or(user);
    home::create_run_home(&own, &user, settings)?;
    Ok(Some(own))
}

/// The complete command and environment, without the settings; an error for arguments that hide tool calls.
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

#[cfg(test)]
mod tests {
    use roost_model::ids::SessionId;
    use roost_model::mode::Mode;
    use roost_model::runtime::CreateSessionInput;

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
    fn a_home_of_its_own_is_made_for_settings_and_for_a_key_that_no_settings_tell_of() {
        let folder = tempfile::TempDir::new().unwrap();
        let (own, user) = (folder.path().join("own"), folder.path().join("user/.gemini"));
        let make = |settings: Value, has_key| {
            let settings = settings.as_object().cloned().unwrap();
            let made = prepare_run_home(own.clone(), user.clone(), settings, has_key).unwrap();
            made.map(|made| {
                (home::read_settings(&made.join(".gemini")).unwrap(), std::fs::remove_dir_all(made).unwrap()).0
            })
        };
        let with_key = json!({ "security": { "auth": { "selectedType": "gemini-api-key" } } });
        assert_eq!(make(json!({}), false), None);
        assert_eq!(make(json!({ "ui": {} }), false).map(Value::Object), Some(json!({ "ui": {} })));
        assert_eq!(make(json!({}), true).map(Value::Object), Some(with_key));
        std::fs::write(user.join("settings.json"), r#"{"security":{"auth":{"selectedType":"oauth-personal"}}}"#)
            .unwrap();
        assert_eq!(make(json!({}), true), None);
    }

    #[test]
    fn an_argument_that_hides_calls_is_refused() {
        for arg in ["--yolo", "-y", "--approval-mode=yolo", "--allowed-tools"] {
            assert!(completed(&[arg]).unwrap_err().to_string().contains(arg), "{arg}");
        }
    }
}
