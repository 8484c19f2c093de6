//! A session's running task: being opened, running, or asked to stop.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use roost_model::approval::Answerer;
use roost_model::ids::TaskId;
use roost_model::mode::Mode;
use roost_model::session::TaskOutcome;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::adapter::{Draft, RuntimeTask};
use crate::command::Reply;
use crate::host_tools::{HostRuns, HostToolDone};
use crate::ledger::{Asked, Ledger};
use crate::policy_context::Approver;
use crate::runtime::{Opened, Opening};

/// Where a running task stands.
pub(crate) enum Phase {
    /// Its runtime is being started.
    Opening(Opening),
    /// The runtime works on it.
    Running(RuntimeTask),
    /// The opening has come to something that is being dealt with.
    Opened,
}

/// Somebody asked for the task to stop.
pub(crate) struct Stop {
    pub(crate) reason: String,
    /// When it is recorded as stopped even if the runtime says nothing.
    pub(crate) deadline: Instant,
    pub(crate) replies: Vec<Reply<TaskOutcome>>,
}

/// The one running task of a session.
pub(crate) struct Task {
    pub(crate) id: TaskId,
    pub(crate) mode: Mode,
    pub(crate) ledger: Ledger,
    pub(crate) phase: Phase,
    pub(crate) stop: Option<Stop>,
    /// The runtime has exited; when its adapter must have told the task's end.
    pub(crate) exit_deadline: Option<Instant>,
    /// It did not take the last message.
    pub(crate) deaf: bool,
    /// Whether somebody can be asked.
    pub(crate) approver: Approver,
    /// What waits for somebody, and until when; the first is the first to expire.
    waiting: VecDeque<(Instant, Asked)>,
    /// Who answered what.
    pub(crate) answered: HashMap<String, Answered>,
    /// The host's tools that run for it.
    pub(crate) host: HostRuns,
}

/// An answer that counted.
pub(crate) struct Answered {
    pub(crate) key: Option<String>,
    pub(crate) by: Answerer,
    /// The runtime has taken it.
    pub(crate) taken: bool,
}

/// What a running task makes happen.
pub(crate) enum TaskEvent {
    Opened(Opened),
    Drafts(Option<Vec<Draft>>),
    StopDue,
    ExitDue,
    AskDue(Asked),
    HostTool(HostToolDone),
}

impl Task {
    /// A task that begins in this phase.
    pub(crate) fn new(id: TaskId, mode: Mode, approver: Approver, ledger: Ledger, phase: Phase) -> Self {
        Self {
            id,
            mode,
            ledger,
            phase,
            stop: None,
            exit_deadline: None,
            deaf: false,
            approver,
            waiting: VecDeque::new(),
            answered: HashMap::new(),
            host: HostRuns::default(),
        }
    }

    /// Somebody is asked, for so long.
    pub(crate) fn wait(&mut self, asked: Asked, timeout: Option<Duration>) {
        // Of another attempt at the same call, the clock of the one before does not count.
        self.waiting.retain(|(_, before)| *before != asked);
        self.waiting.extend(timeout.map(|timeout| (Instant::now() + timeout, asked)));
    }

    /// The next thing that happens in the task. Cancel safe.
    pub(crate) async fn next(&mut self) -> TaskEvent {
        let deadline = self.stop.as_ref().map(|stop| stop.deadline);
        tokio::select! {
            biased;
            () = at(deadline) => TaskEvent::StopDue,
            done = self.host.next() => TaskEvent::HostTool(done),
            event = progress(&mut self.phase) => event,
            () = at(self.exit_deadline) => TaskEvent::ExitDue,
            asked = due(&mut self.waiting) => TaskEvent::AskDue(asked),
        }
    }
}

/// The first thing that nobody answered in time.
async fn due(waiting: &mut VecDeque<(Instant, Asked)>) -> Asked {
    at(waiting.front().map(|(deadline, _)| *deadline)).await;
    match waiting.pop_front() {
        Some((_, asked)) => asked,
        None => std::future::pending().await,
    }
}

async fn progress(phase: &mut Phase) -> TaskEvent {
    match phase {
        Phase::Opening(opening) => {
            let opened = opening.opened().await;
            *phase = Phase::Opened;
            TaskEvent::Opened(opened)
        }
        Phase::Running(task) => TaskEvent::Drafts(task.drafts.recv().await),
        Phase::Opened => std::future::pending().await,
    }
}

/// A runtime that was told to stop and has not said yet that it did. Its task is over in the log; whatever it still
/// says is thrown away, and it gets no new task until it is quiet.
pub(crate) struct Linger {
    pub(crate) drafts: mpsc::Receiver<Vec<Draft>>,
    pub(crate) deadline: Instant,
}

/// How a lingering runtime goes on.
pub(crate) enum Lingered {
    Said(Option<Vec<Draft>>),
    Due,
}

impl Linger {
    /// The next thing a lingering runtime does. Cancel safe.
    pub(crate) async fn next(&mut self) -> Lingered {
        tokio::select! {
            biased;
            () = at(Some(self.deadline)) => Lingered::Due,
            drafts = self.drafts.recv() => Lingered::Said(drafts),
        }
    }
}

/// Returns at this time, or never.
pub(crate) async fn at(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
