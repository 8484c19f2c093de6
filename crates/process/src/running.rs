//! A running runtime, and the task that supervises it until it is gone.

use std::{path::PathBuf, pin::pin, time::Duration};

use tokio::{
    io::{AsyncWriteExt, BufReader},
    net::unix::{OwnedReadHalf, OwnedWriteHalf, pipe},
    process::Child,
    sync::{mpsc, watch},
};

use crate::{
    Error, Exit, Ladder, Lines, Process, RunId, StderrTail, Stdin, cgroup::Cgroup, control::Report, descent::Descent,
    holder_registry::HolderRegistration, records, tree::Target,
};

/// How long stderr is still read after the tree is gone, in case a process of another user holds it open.
const DRAIN: Duration = Duration::from_secs(1);

/// The message that tells a holder to stop.
pub(crate) const STOP: &[u8] = b"stop\n";

/// A started runtime: its three pipes and the handle that ends it.
#[derive(Debug)]
pub struct Running {
    /// Closing it asks most runtimes to exit.
    pub stdin: Stdin,
    /// The runtime's output in batches of lines. If nobody reads it, the runtime blocks.
    pub stdout: Lines,
    /// The tail of what it wrote to stderr.
    pub stderr: StderrTail,
    /// Ends it; when the last clone is dropped, the runtime's whole tree is ended too.
    pub control: Control,
}

/// A handle that waits for or ends a runtime. Clones control the same one.
#[derive(Clone, Debug)]
pub struct Control {
    runtime: Process,
    stop: watch::Sender<bool>,
    phase: watch::Receiver<Phase>,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Running,
    Exited(Exit),
    Gone(Exit),
}

impl Control {
    /// The pid of the runtime itself.
    pub fn pid(&self) -> u32 {
        self.runtime.pid
    }

    /// Ends the runtime and everything it started, and returns once nothing is left.
    ///
    /// Close stdin first: a runtime that exits by itself is not signalled. May be called any number of
    /// times; the runtime is ended even if the future is dropped.
    pub async fn stop(&self) -> Exit {
        self.stop.send_replace(true);
        self.gone().await
    }

    /// Waits until the runtime itself has exited; some of its descendants may still be alive.
    pub async fn wait_exit(&self) -> Exit {
        self.reached(|phase| !matches!(phase, Phase::Running)).await
    }

    /// Waits until the runtime has exited and nothing that it started is left.
    pub async fn gone(&self) -> Exit {
        self.reached(|phase| matches!(phase, Phase::Gone(_))).await
    }

    async fn reached(&self, wanted: impl FnMut(&Phase) -> bool) -> Exit {
        match self.phase.clone().wait_for(wanted).await.as_deref() {
            Ok(Phase::Exited(exit) | Phase::Gone(exit)) => *exit,
            // The supervising task is only ever dropped together with the whole async runtime.
            Ok(Phase::Running) | Err(_) => Exit::Unknown,
        }
    }
}

/// The parts of a started holder that its supervisor needs.
pub(crate) struct HeldRun {
    pub(crate) run: RunId,
    pub(crate) runtime: Process,
    pub(crate) cgroup: Option<PathBuf>,
    pub(crate) records: PathBuf,
    /// The holder, where it is our own child.
    pub(crate) child: Option<Child>,
    /// Keeps the holder registered while it is supervised, so that its run's processes are recognised.
    pub(crate) _registration: Option<HolderRegistration>,
    pub(crate) reports: tokio::io::Lines<BufReader<OwnedReadHalf>>,
    /// Closing it tells the holder to stop.
    pub(crate) stop: OwnedWriteHalf,
}

/// Starts the task that reads the holder's reports and drains stderr. It ends when the process tree is gone.
pub(crate) fn supervise(
    held: HeldRun,
    stderr: pipe::Receiver,
    stderr_lines: Option<mpsc::Sender<String>>,
) -> (Control, StderrTail) {
    let (stop, stop_asked) = watch::channel(false);
    let (phase_sender, phase) = watch::channel(Phase::Running);
    let control = Control { runtime: held.runtime, stop, phase };
    let tail = StderrTail::default();
    let drain = tail.clone().drain(stderr, stderr_lines);
    tokio::spawn(async move {
        let mut drain = pin!(drain);
        let mut follow = pin!(held.follow(stop_asked, &phase_sender));
        let exit = tokio::select! {
            () = &mut drain => follow.await,
            exit = &mut follow => {
                let _ = tokio::time::timeout(DRAIN, drain).await;
                exit
            }
        };
        phase_sender.send_replace(Phase::Gone(exit));
    });
    (control, tail)
}

impl HeldRun {
    async fn follow(mut self, mut stop_asked: watch::Receiver<bool>, phase: &watch::Sender<Phase>) -> Exit {
        let mut exit = Exit::Unknown;
        let mut stopping = false;
        loop {
            // An error means that every handle was dropped, which asks for the same.
            let asked = async { drop(stop_asked.wait_for(|stop| *stop).await) };
            let line = tokio::select! {
                () = asked, if !stopping => {
                    stopping = true;
                    // A run that may outlive us must hear the word; to any other, the end says the same.
                    let _ = self.stop.write_all(STOP).await;
                    let _ = self.stop.shutdown().await;
                    continue;
                }
                line = self.reports.next_line() => line,
            };
            let report = line.ok().flatten().and_then(|line| serde_json::from_str(&line).ok());
            match report {
                Some(Report::Exited { exit: how }) => {
                    exit = how;
                    phase.send_replace(Phase::Exited(exit));
                }
                Some(Report::Gone { left }) => {
                    warn_of(&self.run, &left);
                    break;
                }
                Some(Report::Started { .. } | Report::Failed { .. } | Report::Adopted { .. }) => {}
                None => {
                    tracing::warn!(run = %self.run, "A holder was killed; its runtime is ended from here.");
                    self.end_without_holder().await;
                    break;
                }
            }
        }
        // So that no zombie of the holder is left.
        if let Some(child) = &mut self.child {
            let _ = child.wait().await;
        }
        exit
    }

    async fn end_without_holder(&self) {
        let target = Target {
            run: self.run.clone(),
            roots: vec![self.runtime],
            cgroup: self.cgroup.as_deref().and_then(|path| Cgroup::recorded(path, &self.run)),
            records: None,
        };
        match Descent::new(target, Ladder::default().leftover).run().await {
            Ok(left) => {
                warn_of(&self.run, &left);
                records::remove(&self.records, &self.run);
            }
            // The record stays, so the next start reaps it.
            Err(Error::ShuttingDown) => {}
            Err(error) => {
                tracing::error!(run = %self.run, %error, "The processes of a run could not be ended.")
            }
        }
    }
}

fn warn_of(run: &RunId, left: &[u32]) {
    if !left.is_empty() {
        tracing::warn!(%run, ?left, "These processes of a run belong to another user and could not be ended.");
    }
}
