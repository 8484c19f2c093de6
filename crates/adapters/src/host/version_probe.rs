//! Asks a program for its version.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use roost_engine::adapter::Availability;
use roost_process::{Environment, Holder, Launch, RunId};
use tokio::sync::Mutex;

use super::AgentCommand;
use crate::head_cache::Stamp;

/// How long the answer may take; Node and wrappers start slowly.
const PATIENCE: Duration = Duration::from_secs(10);

/// A program, and what it is started with.
type Program = (PathBuf, Vec<OsString>);

/// The versions that programs have told. One is asked again when its file is another, and when it did not tell.
#[derive(Default)]
pub(crate) struct VersionProbe(Mutex<HashMap<Program, (Stamp, String)>>);

impl VersionProbe {
    /// Whether the command's program is there and new enough: `too_old` says what to do about a version that is not,
    /// `install` what to do about a program that is missing.
    pub(crate) async fn availability(
        &self,
        holder: &Holder,
        command: &AgentCommand,
        env: Environment,
        install: &str,
        too_old: impl FnOnce(&str) -> Option<String>,
    ) -> Availability {
        let path = env.get("PATH").map(|path| path.to_string_lossy().into_owned());
        let program = match roost_process::find_program(&command.program, path.as_deref()).await {
            Ok(program) => program,
            Err(error) => return Availability::Missing { reason: format!("{error}; {install}") },
        };
        let version = self.version(&program, holder, command, env).await;
        match version.as_deref().and_then(too_old) {
            Some(reason) => Availability::Missing { reason },
            None => Availability::Installed { version },
        }
    }

    /// The version of the command, whose program was found here.
    pub(crate) async fn version(
        &self,
        program: &Path,
        holder: &Holder,
        command: &AgentCommand,
        env: Environment,
    ) -> Option<String> {
        // Whoever wants to know at the same time waits for the one answer.
        let mut known = self.0.lock().await;
        let stamp = Stamp::from(&tokio::fs::metadata(program).await.ok()?);
        let key = (program.to_owned(), command.args.clone());
        if let Some((_, version)) = known.get(&key).filter(|(then, _)| *then == stamp) {
            return Some(version.clone());
        }
        let version = ask(holder, command, env).await?;
        known.insert(key, (stamp, version.clone()));
        Some(version)
    }
}

/// The first word of what `--version` prints that begins with a digit.
async fn ask(holder: &Holder, command: &AgentCommand, env: Environment) -> Option<String> {
    let mut args = command.args.clone();
    args.push("--version".into());
    let launch = Launch {
        run: RunId::fresh(),
        label: format!("{} --version", command.program.to_string_lossy()),
        program: command.program.clone(),
        args,
        cwd: "/".into(),
        env,
        stderr_lines: None,
    };
    let mut running = holder.spawn(launch).await.ok()?;
    let said = async {
        let mut said = String::new();
        while let Ok(Some(batch)) = running.stdout.next_batch().await {
            batch.for_each(|line| {
                said.push_str(&line.text());
                said.push('\n');
            });
        }
        said
    };
    let said = tokio::time::timeout(PATIENCE, said).await.ok();
    drop(running.stdin);
    running.control.stop().await;
    said?.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit())).map(Into::into)
}
