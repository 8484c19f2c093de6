//! Asks a program for its version.

use std::time::Duration;

use roost_process::{Environment, Holder, Launch, RunId};

use crate::acp::AgentCommand;

/// How long the answer may take; Node and wrappers start slowly.
const PATIENCE: Duration = Duration::from_secs(10);

/// The first word of what `--version` prints that begins with a digit.
pub(crate) async fn version(holder: &Holder, command: &AgentCommand, env: Environment) -> Option<String> {
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
            batch.for_each(|line| said.push_str(&line.text()));
        }
        said
    };
    let said = tokio::time::timeout(PATIENCE, said).await.ok();
    drop(running.stdin);
    running.control.stop().await;
    said?.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit())).map(Into::into)
}
