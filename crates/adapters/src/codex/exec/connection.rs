//! One process from its first line to its end.

use std::future::pending;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use roost_engine::adapter::TaskEnd;
use roost_model::payload::{NoticeLevel, NoticeSource};
use roost_process::Batch;
use tokio::time::{Instant, sleep, sleep_until};

use super::map::{self, Mapper};
use super::totals::Totals;
use crate::codex::notify::{Source, Turn};
use crate::host::{Connection, ExitReport, Outbox, Process, Task, Then};

/// How long a process may take to leave when its turn is over.
const LEAVE: Duration = Duration::from_secs(2);

/// What a process of one turn says, and what else tells of its end.
pub(super) struct ExecConnection {
    pub(super) mapper: Mapper,
    /// The other voice about the end of the turn.
    pub(super) notify: Option<Source>,
    pub(super) turn: Turn,
    /// How long it may say nothing.
    pub(super) idle: Option<Duration>,
    pub(super) out: Outbox<Task>,
    /// What the thread has used, for the session that goes on with it.
    pub(super) totals: Arc<Mutex<Totals>>,
    /// A process that has said how its turn ended has until then to leave.
    pub(super) leaves: Option<Instant>,
}

/// The only command.
pub(super) struct Stop;

/// What happens besides output.
pub(super) enum Heard {
    /// The turn is over, with these last words.
    Notified(io::Result<Option<String>>),
    /// It said nothing for so long.
    Idle(Duration),
    /// The turn is over and the process is still there.
    Overdue,
}

impl ExecConnection {
    /// Reads on until the thread is known; false if the process is gone before.
    pub(super) async fn begin(&mut self, process: &mut Process) -> bool {
        while self.mapper.thread.is_none() {
            match process.stdout.next_batch().await {
                Ok(Some(batch)) => _ = self.on_stdout(batch),
                Ok(None) | Err(_) => return false,
            }
        }
        self.turn.thread = self.mapper.thread.clone().unwrap_or_default();
        true
    }

    fn leave_if_over(&mut self) {
        if self.mapper.end.is_some() {
            self.leaves.get_or_insert_with(|| Instant::now() + LEAVE);
        }
    }
}

impl Connection for ExecConnection {
    const NAME: &'static str = "Codex";
    const ONE_TURN: bool = true;

    type Turn = Task;
    type Command = Stop;
    type Message = Heard;

    fn outbox(&mut self) -> &mut Outbox<Task> {
        &mut self.out
    }

    fn on_command(&mut self, Stop: Stop) -> Then {
        self.mapper.end = Some(TaskEnd::Stopped("interrupted".into()));
        Then::Finish
    }

    fn on_stdout(&mut self, lines: Batch<'_>) -> Then {
        lines.for_each(|line| self.mapper.line(&line.text(), &mut self.out.drafts));
        *self.totals.lock() = self.mapper.totals;
        self.leave_if_over();
        Then::Continue
    }

    fn on_stderr(&mut self, line: String) {
        self.out.drafts.push(map::noise(NoticeSource::Stderr, line));
    }

    async fn next_message(&mut self) -> Option<Heard> {
        let Self { notify, turn, idle, leaves, .. } = self;
        let notified = async {
            match notify {
                Some(source) => source.ended(turn).await,
                None => pending().await,
            }
        };
        let overdue = async {
            match *leaves {
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
            ended = notified => Heard::Notified(ended),
            () = overdue => Heard::Overdue,
            idle = silence => Heard::Idle(idle),
        })
    }

    async fn on_message(&mut self, heard: Heard) -> Then {
        match heard {
            Heard::Notified(Ok(said)) => {
                self.notify = None;
                if let Some(said) = said.filter(|_| !self.mapper.spoke) {
                    self.mapper.say(said, &mut self.out.drafts);
                }
                self.mapper.end.get_or_insert_with(|| TaskEnd::Completed("end_turn".into()));
                self.leave_if_over();
                Then::Continue
            }
            Heard::Notified(Err(error)) => {
                self.notify = None;
                let message = format!("Codex's notify source cannot be read: {error}");
                self.out.drafts.push(map::notice(NoticeLevel::Warning, &message, None));
                Then::Continue
            }
            Heard::Idle(silence) => {
                let reason = format!("Codex said nothing for {} ms (ACPLB_IDLE_TIMEOUT_MS)", silence.as_millis());
                self.mapper.end.get_or_insert(TaskEnd::Stopped(reason));
                Then::Finish
            }
            Heard::Overdue => Then::Finish,
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
