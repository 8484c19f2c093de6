//! The task of a session: being opened, running, or stopping.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use roost_model::approval::Answerer;
use roost_model::failure::TaskError;
use roost_model::ids::TaskId;
use roost_model::mode::Mode;
use roost_model::session::TaskOutcome;
use roost_policy::RuntimePermissions;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::adapter::{Draft, RuntimeTask};
use crate::command::Reply;
use crate::host_tools::{HostRuns, HostToolDone};
use crate::ledger::{Asked, Ledger};
use crate::policy_context::Approver;
use crate::runtime::{Opening, OpeningOutcome};

/// The phase of a task that has not ended.
pub(crate) enum Phase {
    /// The runtime is being opened, or is taking the task.
    Opening(Opening),
    /// The runtime works on it.
    Running(RuntimeTask),
    /// The opening is done, and the actor has not handled its outcome yet.
    Opened,
}

/// A request to stop the task.
pub(crate) struct Stop {
    pub(crate) reason: String,
    /// The client that asked for it first; `None` if the host did.
    pub(crate) by: Option<Answerer>,
    /// What the task failed of, if that is why it is stopped.
    pub(crate) failure: Option<TaskError>,
    /// When the task is recorded as stopped even if the runtime has not confirmed it.
    pub(crate) deadline: Instant,
    /// Everyone who asked for the stop and waits for the outcome.
    pub(crate) replies: Vec<Reply<TaskOutcome>>,
}

/// The one running task of a session.
pub(crate) struct Task {
    pub(crate) id: TaskId,
    pub(crate) mode: Mode,
    pub(crate) ledger: Ledger,
    pub(crate) phase: Phase,
    pub(crate) stop: Option<Stop>,
    /// Set when the runtime has exited: until then its adapter must report the task's end.
    pub(crate) exit_deadline: Option<Instant>,
    /// The runtime did not take the last message in time, so the next one does not wait for it.
    pub(crate) unresponsive: bool,
    /// Whether a person can be asked.
    pub(crate) approver: Approver,
    /// The rules of the runtime's own settings, as they were when it took the task.
    pub(crate) permissions: Arc<RuntimePermissions>,
    /// Decisions that a person is asked for, with their deadlines; the first one expires first.
    waiting: VecDeque<(Instant, Asked)>,
    /// The answers so far, by the id of the tool call or question.
    pub(crate) answered: HashMap<String, RecordedAnswer>,
    /// The host tools that run for this task.
    pub(crate) host: HostRuns,
}

/// A person's answer that is in the log.
pub(crate) struct RecordedAnswer {
    /// The client's idempotency key.
    pub(crate) key: Option<String>,
    pub(crate) by: Answerer,
    /// The runtime has taken it; if not, a repeated answer is sent to the runtime again.
    pub(crate) taken: bool,
}

/// Something that happened in a task and that its actor must handle.
pub(crate) enum TaskEvent {
    Opened(OpeningOutcome),
    Drafts(Option<Vec<Draft>>),
    StopDue,
    ExitDue,
    DecisionExpired(Asked),
    HostTool(HostToolDone),
}

impl Task {
    /// A new task, or one that was taken over with its runtime.
    pub(crate) fn new(id: TaskId, mode: Mode, approver: Approver, ledger: Ledger, phase: Phase) -> Self {
        Self {
            id,
            mode,
            ledger,
            phase,
            stop: None,
            exit_deadline: None,
            unresponsive: false,
            approver,
            permissions: Arc::default(),
            waiting: VecDeque::new(),
            answered: HashMap::new(),
            host: HostRuns::default(),
        }
    }

    /// Starts the clock of a decision that a person is asked for; `None` means that it never expires.
    pub(crate) fn wait(&mut self, asked: Asked, timeout: Option<Duration>) {
        // Another attempt at the same call starts the clock anew.
        self.waiting.retain(|(_, before)| *before != asked);
        self.waiting.extend(timeout.map(|timeout| (Instant::now() + timeout, asked)));
    }

    /// Waits for the next event of the task. Cancel safe.
    pub(crate) async fn next(&mut self) -> TaskEvent {
        let deadline = self.stop.as_ref().map(|stop| stop.deadline);
        tokio::select! {
            biased;
            () = sleep_until(deadline) => TaskEvent::StopDue,
            done = self.host.next() => TaskEvent::HostTool(done),
            event = progress(&mut self.phase) => event,
            () = sleep_until(self.exit_deadline) => TaskEvent::ExitDue,
            asked = next_expired(&mut self.waiting) => TaskEvent::DecisionExpired(asked),
        }
    }
}

/// Waits until a decision expires, and returns it.
async fn next_expired(waiting: &mut VecDeque<(Instant, Asked)>) -> Asked {
    sleep_until(waiting.front().map(|(deadline, _)| *deadline)).await;
    match waiting.pop_front() {
        Some((_, asked)) => asked,
        None => std::future::pending().await,
    }
}

async fn progress(phase: &mut Phase) -> TaskEvent {
    match phase {
        Phase::Opening(opening) => {
            let opened = opening.outcome().await;
            *phase = Phase::Opened;
            TaskEvent::Opened(opened)
        }
        Phase::Running(task) => TaskEvent::Drafts(task.drafts.recv().await),
        Phase::Opened => std::future::pending().await,
    }
}

/// A runtime that was asked to stop and has not confirmed it. Its task is over in the log; its further output is
/// discarded, and it gets no new task until it confirms. If it does not by the deadline, it is closed.
pub(crate) struct LingeringRuntime {
    pub(crate) drafts: mpsc::Receiver<Vec<Draft>>,
    pub(crate) deadline: Instant,
}

/// What a lingering runtime did.
pub(crate) enum LingerEvent {
    Drafts(Option<Vec<Draft>>),
    Due,
}

impl LingeringRuntime {
    /// Waits for the runtime's next output or for the deadline. Cancel safe.
    pub(crate) async fn next(&mut self) -> LingerEvent {
        tokio::select! {
            biased;
            () = sleep_until(Some(self.deadline)) => LingerEvent::Due,
            drafts = self.drafts.recv() => LingerEvent::Drafts(drafts),
        }
    }
}

/// Sleeps until the deadline; for ever if there is none.
pub(crate) async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
