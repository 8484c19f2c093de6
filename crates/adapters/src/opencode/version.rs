//! Which OpenCode is installed, asked once.

use std::sync::Arc;
use std::time::Duration;

use roost_engine::adapter::Availability;
use roost_process::{Holder, Launch, RunId};
use roost_proto::runtime::RuntimeEnv;
use tokio::sync::OnceCell;

use super::launch::environment;
use crate::acp::AgentCommand;

/// How long `--version` may take; wrappers start slowly.
const PATIENCE: Duration = Duration::from_secs(5);

/// The version, once it is known; one that did not answer is asked again.
#[derive(Debug, Default)]
pub(super) struct Version(OnceCell<String>);

impl Version {
    /// Whether OpenCode is there, and which.
    pub(super) async fn look(&self, holder: &Arc<Holder>, command: &AgentCommand, env: &RuntimeEnv) -> Availability {
        let path = environment(command, env).get("PATH").map(|path| path.to_string_lossy().into_owned());
        if let Err(error) = roost_process::find_program(&command.program, path.as_deref()).await {
            let reason = format!("{error}; install it with `npm install -g opencode-ai`, or set its `command`");
            return Availability::Missing { reason };
        }
        let asked = self.0.get_or_try_init(|| async { ask(holder, command, env).await.ok_or(()) });
        Availability::Installed { version: asked.await.ok().cloned() }
    }
}

async fn ask(holder: &Holder, command: &AgentCommand, env: &RuntimeEnv) -> Option<String> {
    let mut args = command.args.clone();
    args.push("--version".into());
    let launch = Launch {
        run: RunId::fresh(),
        label: "opencode --version".into(),
        program: command.program.clone(),
        args,
        cwd: "/".into(),
        env: environment(command, env),
        stderr_lines: None,
    };
    let mut running = holder.spawn(launch).await.ok()?;
    let said = async {
        let mut said = String::new();
        while let Ok(Some(batch)) = running.stdout.next_batch().await {
            batch.for_each(|line| said.push_str(&line.text()));
        }
        said
    };
    let said = tokio::time::timeout(PATIENCE, said).await.ok();
    drop(running.stdin);
    running.control.stop().await;
    // "1.18.33"
    said?.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit())).map(Into::into)
}
