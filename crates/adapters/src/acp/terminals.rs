//! Terminals that Roost runs for an agent, where no editor does: held processes whose last output is kept.

use std::path::Path;
use std::sync::Arc;

use agent_client_protocol_schema::v1 as acp;
use parking_lot::Mutex;
use roost_engine::adapter::OpenSession;
use roost_process::{Control, Environment, Exit, Holder, Launch, Line, Lines, RunId};
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

/// The most output of a terminal that is kept, in bytes, whatever the agent asks for.
const MAX_OUTPUT: usize = 1 << 20;
/// The longest line of output; a longer one is left out.
const MAX_LINE: usize = MAX_OUTPUT;

/// Starts terminals for one session, with the session's environment.
pub(super) struct TerminalHost {
    holder: Holder,
    label: String,
    env: Environment,
}

impl TerminalHost {
    pub(super) fn new(holder: &Holder, open: &OpenSession) -> Self {
        let env = crate::host::environment(open.env.env.clone());
        Self { holder: crate::host::without_grace(holder), label: open.session_id.to_string(), env }
    }

    /// Runs a shell line, which is exactly what the policy has judged. Its stdin is closed.
    pub(super) async fn run(
        &self,
        line: &str,
        cwd: &Path,
        variables: &[acp::EnvVariable],
        limit: Option<u64>,
    ) -> Result<HostTerminal, String> {
        let mut env = self.env.clone();
        for variable in variables {
            env.set(&variable.name, &variable.value);
        }
        let launch = Launch {
            run: RunId::fresh(),
            label: self.label.clone(),
            program: "sh".into(),
            // Both outputs are one, in the order in which they were written.
            args: ["-c", r#"exec sh -c "$1" 2>&1"#, "sh", line].map(Into::into).into(),
            cwd: cwd.to_owned(),
            env,
            stderr_lines: None,
        };
        let running = self.holder.spawn(launch).await.map_err(|error| error.to_string())?;
        running.stdin.close();
        let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(MAX_OUTPUT).min(MAX_OUTPUT);
        let output = Arc::new(Mutex::new(LastOutput { limit, ..LastOutput::default() }));
        let (ended, at_end) = watch::channel(false);
        let reader = tokio::spawn(read(running.stdout, output.clone(), ended));
        Ok(HostTerminal { control: running.control, output, at_end, _reader: AbortOnDropHandle::new(reader) })
    }
}

/// A running or ended terminal. Dropping it ends everything that it runs.
pub(super) struct HostTerminal {
    control: Control,
    output: Arc<Mutex<LastOutput>>,
    /// Whether all output was read.
    at_end: watch::Receiver<bool>,
    _reader: AbortOnDropHandle<()>,
}

impl HostTerminal {
    /// What it has printed so far, and how it ended if it did.
    pub(super) fn output(&self, exit: Option<acp::TerminalExitStatus>) -> acp::TerminalOutputResponse {
        let output = self.output.lock();
        acp::TerminalOutputResponse::new(output.text.clone(), output.is_truncated).exit_status(exit)
    }

    /// Waits until it has ended and its output was read.
    pub(super) async fn exit(&self) -> acp::TerminalExitStatus {
        let exit = self.control.wait_exit().await;
        // A closed channel says the same: nobody reads any more.
        let _ = self.at_end.clone().wait_for(|ended| *ended).await;
        status(exit)
    }

    /// How it ended; `None` while it runs.
    pub(super) async fn exit_now(&self) -> Option<acp::TerminalExitStatus> {
        tokio::select! {
            biased;
            exit = self.exit() => Some(exit),
            () = std::future::ready(()) => None,
        }
    }

    /// Ends it and everything that it started; its output stays.
    pub(super) async fn kill(&self) {
        self.control.stop().await;
    }
}

fn status(exit: Exit) -> acp::TerminalExitStatus {
    let status = acp::TerminalExitStatus::new();
    match exit {
        Exit::Code(code) => status.exit_code(u32::try_from(code).ok()),
        Exit::Signal(signal) => status.signal(signal.to_string()),
        Exit::Unknown => status.signal("unknown".to_owned()),
    }
}

/// The end of a terminal's output.
#[derive(Default)]
struct LastOutput {
    text: String,
    limit: usize,
    is_truncated: bool,
}

impl LastOutput {
    /// Appends a line, and drops whole characters from the beginning beyond the limit.
    fn push(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
        let beyond = self.text.len().saturating_sub(self.limit);
        if beyond > 0 {
            let cut = (beyond..=self.text.len()).find(|at| self.text.is_char_boundary(*at)).unwrap_or(self.text.len());
            self.text.drain(..cut);
            self.is_truncated = true;
        }
    }
}

async fn read(lines: Lines, output: Arc<Mutex<LastOutput>>, ended: watch::Sender<bool>) {
    let mut lines = lines;
    while let Ok(Some(batch)) = lines.next_batch().await {
        let mut output = output.lock();
        batch.for_each(|line| match line {
            Line::Bytes(bytes) if bytes.len() <= MAX_LINE => output.push(&line.text()),
            Line::Bytes(_) | Line::TooLong { .. } => output.push("[a line was too long]"),
        });
    }
    ended.send_replace(true);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_long_output_is_kept_in_whole_characters() {
        let mut output = LastOutput { limit: 6, ..LastOutput::default() };
        output.push("ab");
        assert_eq!((output.text.as_str(), output.is_truncated), ("ab\n", false));
        output.push("ö€");
        assert_eq!((output.text.as_str(), output.is_truncated), ("ö€\n", true));
        output.push("€€");
        assert_eq!((output.text.as_str(), output.is_truncated), ("€\n", true));
    }
}
