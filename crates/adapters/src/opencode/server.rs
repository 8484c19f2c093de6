//! The process of a server that is ours, as far as a session has to do with it.

use roost_model::payload::NoticeSource;
use roost_process::{Control, Exit, Lines, StderrTail, Stdin};
use tokio::sync::mpsc;

/// A server that was started for one session.
pub(super) struct Server {
    /// Kept open: some servers read its end as a wish to stop.
    _stdin: Stdin,
    stdout: Lines,
    stderr: mpsc::Receiver<String>,
    tail: StderrTail,
    control: Control,
    /// What it printed before it listened.
    pub(super) early: Vec<String>,
    /// Nothing comes from stdout any more.
    quiet: bool,
}

impl Server {
    /// The parts of a process that listens.
    pub(super) fn new(
        (stdin, stdout, control): (Stdin, Lines, Control),
        stderr: mpsc::Receiver<String>,
        tail: StderrTail,
        early: Vec<String>,
    ) -> Self {
        Self { _stdin: stdin, stdout, stderr, tail, control, early, quiet: false }
    }

    /// The way to end it.
    pub(super) fn control(&self) -> Control {
        self.control.clone()
    }

    /// Returns how it ended, when it has.
    pub(super) async fn exit(&self) -> Exit {
        self.control.wait_exit().await
    }

    /// What it prints. May be dropped and called again.
    pub(super) async fn noise(&mut self) -> (NoticeSource, Vec<String>) {
        loop {
            tokio::select! {
                Some(line) = self.stderr.recv() => return (NoticeSource::Stderr, vec![line]),
                batch = self.stdout.next_batch(), if !self.quiet => match batch {
                    Ok(Some(batch)) => {
                        let mut lines = Vec::new();
                        batch.for_each(|line| lines.push(line.text().into_owned()));
                        return (NoticeSource::Stdout, lines);
                    }
                    Ok(None) | Err(_) => self.quiet = true,
                },
                else => return std::future::pending().await,
            }
        }
    }

    /// What is left of its stderr, and the end of all of it.
    pub(super) fn last_words(&mut self) -> (Vec<String>, Option<String>) {
        let mut lines = Vec::new();
        while let Ok(line) = self.stderr.try_recv() {
            lines.push(line);
        }
        (lines, Some(self.tail.text()).filter(|text| !text.is_empty()))
    }
}
