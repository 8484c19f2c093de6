//! Runs `<program> --version` and caches the answer.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use roost_engine::adapter::Availability;
use roost_process::{Environment, Holder, Launch, RunId};
use tokio::sync::Mutex;

use super::AgentCommand;
use crate::head_cache::Stamp;

/// The time limit for `--version`; Node and wrapper scripts start slowly.
const PATIENCE: Duration = Duration::from_secs(10);

/// The cache key: the program's path and its configured arguments.
type Program = (PathBuf, Vec<OsString>);

/// A cache of program versions. An entry is valid while the program's file is unchanged; a failed run is not cached.
#[derive(Default)]
pub(crate) struct VersionProbe(Mutex<HashMap<Program, (Stamp, String)>>);

impl VersionProbe {
    /// Whether the command's program can be used. `install` is the advice when the program is missing; `too_old`
    /// returns the advice for a version that is too old, else `None`.
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

    /// The version that the command prints, from the cache if `program` is unchanged; `None` if it prints none.
    pub(crate) async fn version(
        &self,
        program: &Path,
        holder: &Holder,
        command: &AgentCommand,
        env: Environment,
    ) -> Option<String> {
        // The lock is held while the program runs, so that concurrent callers share one run.
        let mut known = self.0.lock().await;
        let stamp = Stamp::from(&tokio::fs::metadata(program).await.ok()?);
        let key = (program.to_owned(), command.args.clone());
        if let Some((_, version)) = known.get(&key).filter(|(then, _)| *then == stamp) {
            return Some(version.clone());
        }
        let version = run_version_command(holder, command, env).await?;
        known.insert(key, (stamp, version.clone()));
        Some(version)
    }
}

/// Runs the command with `--version`; the version is the first printed word that begins with a digit.
async fn run_version_command(holder: &Holder, command: &AgentCommand, env: Environment) -> Option<String> {
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
    let printed = async {
        let mut printed = String::new();
        while let Ok(Some(batch)) = running.stdout.next_batch().await {
            batch.for_each(|line| {
                printed.push_str(&line.text());
                printed.push('\n');
            });
        }
        printed
    };
    let printed = tokio::time::timeout(PATIENCE, printed).await.ok();
    drop(running.stdin);
    running.control.stop().await;
    printed?.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit())).map(Into::into)
}
