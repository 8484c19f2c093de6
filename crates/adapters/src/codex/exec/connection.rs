//! The connection to one `codex exec`, from its first line to its exit.

use std::future::pending;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use roost_engine::adapter::TaskEnd;
use roost_model::payload::{NoticeLevel, NoticeSource};
use roost_process::Batch;
use tokio::time::{Instant, sleep, sleep_until};

use super::map::{self, ExecMapper};
use super::totals::Totals;
use crate::codex::notify::{AwaitedTurn, NotifySource};
use crate::host::{Connection, ExitReport, Outbox, Process, PumpAction, Task, noise};

/// How long a process may take to exit after its turn is over; then it is ended.
const EXIT_GRACE: Duration = Duration::from_secs(2);

/// A process that runs one turn. Its end is learned from its output, from the notify source, or by a timeout.
pub(super) struct ExecConnection {
    pub(super) mapper: ExecMapper,
    /// A second source for the end of the turn; `None` if none is configured, or after it has spoken or failed.
    pub(super) notify: Option<NotifySource>,
    pub(super) turn: AwaitedTurn,
    /// How long Codex may print nothing before the task is stopped; `None` for no limit.
    pub(super) idle: Option<Duration>,
    pub(super) out: Outbox<Task>,
    /// The token totals of the thread, shared with the session, which goes on with them in the next task.
    pub(super) totals: Arc<Mutex<Totals>>,
    /// When a process whose turn is over is ended; `None` while the turn runs.
    pub(super) exit_deadline: Option<Instant>,
}

/// The only command: end the process and with it the turn.
pub(super) struct Stop;

/// An event that does not come from the output.
pub(super) enum ExecSignal {
    /// The notify source reports the end of the turn, with the agent's last message, or cannot be read.
    Notified(io::Result<Option<String>>),
    /// Codex printed nothing for this long.
    Idle(Duration),
    /// The turn is over, and the process has not exited in time.
    Overdue,
}

impl ExecConnection {
    /// Reads output until Codex has named its thread; false if the output ends before.
    pub(super) async fn read_until_thread(&mut self, process: &mut Process) -> bool {
        while self.mapper.thread.is_none() {
            match process.stdout.next_batch().await {
                Ok(Some(batch)) => _ = self.on_stdout(batch),
                Ok(None) | Err(_) => return false,
            }
        }
        self.turn.thread = self.mapper.thread.clone().unwrap_or_default();
        true
    }

    /// Starts the grace period for the exit, if the turn is over and it has not started yet.
    fn set_exit_deadline(&mut self) {
        if self.mapper.end.is_some() {
            self.exit_deadline.get_or_insert_with(|| Instant::now() + EXIT_GRACE);
        }
    }
}

impl Connection for ExecConnection {
    const NAME: &'static str = "Codex";
    const ONE_TURN: bool = true;

    type Turn = Task;
    type Command = Stop;
    type Message = ExecSignal;

    fn outbox(&mut self) -> &mut Outbox<Task> {
        &mut self.out
    }

    fn on_command(&mut self, Stop: Stop) -> PumpAction {
        self.mapper.end = Some(TaskEnd::Stopped("interrupted".into()));
        PumpAction::Finish
    }

    fn on_stdout(&mut self, lines: Batch<'_>) -> PumpAction {
        lines.for_each(|line| self.mapper.on_line(&line.text(), &mut self.out.drafts));
        *self.totals.lock() = self.mapper.totals;
        self.set_exit_deadline();
        PumpAction::Continue
    }

    fn on_stderr(&mut self, line: String) {
        self.out.drafts.push(noise(NoticeSource::Stderr, line));
    }

    async fn next_message(&mut self) -> Option<ExecSignal> {
        let Self { notify, turn, idle, exit_deadline, .. } = self;
        let notified = async {
            match notify {
                Some(source) => source.wait_for_end(turn).await,
                None => pending().await,
            }
        };
        let overdue = async {
            match *exit_deadline {
                Some(at) => sleep_until(at).await,
                None => pending().await,
            }
        };
        let silence = async {
            match *idle {
                Some(idle) => (sleep(idle).await, idle).1,
                None => pending().await,
            }
        };
        Some(tokio::select! {
            biased;
            ended = notified => ExecSignal::Notified(ended),
            () = overdue => ExecSignal::Overdue,
            idle = silence => ExecSignal::Idle(idle),
        })
    }

    async fn on_message(&mut self, signal: ExecSignal) -> PumpAction {
        match signal {
            ExecSignal::Notified(Ok(last_message)) => {
                self.notify = None;
                if let Some(text) = last_message.filter(|_| !self.mapper.has_output) {
                    self.mapper.push_output(text, &mut self.out.drafts);
                }
                let reason = "Codex reported the end of the turn (ACPLB_NOTIFY_PATH)";
                self.mapper.end.get_or_insert_with(|| TaskEnd::Completed(reason.into()));
                self.set_exit_deadline();
                PumpAction::Continue
            }
            ExecSignal::Notified(Err(error)) => {
                self.notify = None;
                let message = format!("Codex's notify source cannot be read: {error}");
                self.out.drafts.push(map::notice(NoticeLevel::Warning, &message, None));
                PumpAction::Continue
            }
            ExecSignal::Idle(silence) => {
                let reason = format!("Codex said nothing for {} ms (ACPLB_IDLE_TIMEOUT_MS)", silence.as_millis());
                self.mapper.end.get_or_insert(TaskEnd::Stopped(reason));
                PumpAction::Finish
            }
            ExecSignal::Overdue => PumpAction::Finish,
        }
    }

    fn on_exit(&mut self, exit: &ExitReport) {
        let drafts = &mut self.out.drafts;
        self.mapper.close(drafts);
        let end = self.mapper.end.take().unwrap_or_else(|| TaskEnd::Failed(Box::new(exit.failure())));
        if let Some(task) = &mut self.out.turn {
            task.end(end, drafts);
        }
    }
}
