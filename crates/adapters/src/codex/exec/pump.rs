//! One process from its first line to its end.

use std::time::Duration;

use roost_engine::adapter::{Draft, Fact, TaskEnd};
use roost_model::failure::{FailureCode, TaskError};
use roost_model::payload::{NoticeLevel, NoticeSource};
use roost_process::{Control, Exit, Lines, StderrTail};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::map::{self, Mapper};
use crate::codex::notify::{Source, Turn};

/// How long a process may take to leave when its turn is over.
const LEAVE: Duration = Duration::from_secs(2);

/// What a process has to say, and where it goes.
pub(super) struct Pump {
    pub(super) lines: Lines,
    pub(super) stderr: mpsc::Receiver<String>,
    pub(super) tail: StderrTail,
    pub(super) control: Control,
    pub(super) mapper: Mapper,
    /// The other voice about the end of the turn.
    pub(super) notify: Option<Source>,
    pub(super) turn: Turn,
    pub(super) idle: Option<Duration>,
    pub(super) outbox: Vec<Draft>,
    /// A process that has said how its turn ended has until then to leave.
    pub(super) leaves: Option<Instant>,
}

/// What can happen to a process.
enum Event {
    Read,
    Eof,
    Stderr(String),
    /// The turn is over, with these last words.
    Notified(std::io::Result<Option<String>>),
    Stop,
    Idle(Duration),
    Overdue,
}

impl Pump {
    /// Reads on until the thread is known; false if the process is gone before.
    pub(super) async fn begin(&mut self) -> bool {
        while self.mapper.thread.is_none() {
            match self.lines.next_batch().await {
                Ok(Some(batch)) => batch.for_each(|line| self.mapper.line(&line.text(), &mut self.outbox)),
                Ok(None) | Err(_) => return false,
            }
        }
        self.turn.thread = self.mapper.thread.clone().unwrap_or_default();
        true
    }

    /// Follows the turn to its end; what the thread has used by then.
    pub(super) async fn run(mut self, mut stop: mpsc::Receiver<()>, drafts: mpsc::Sender<Vec<Draft>>) -> Mapper {
        let left = loop {
            if !self.outbox.is_empty() && drafts.send(std::mem::take(&mut self.outbox)).await.is_err() {
                // Nobody listens any more.
                self.control.stop().await;
                return self.mapper;
            }
            match self.next(&mut stop).await {
                Event::Read => self.leave_if_over(),
                Event::Stderr(line) => self.outbox.push(map::noise(NoticeSource::Stderr, line)),
                Event::Notified(Ok(said)) => {
                    self.notify = None;
                    if let Some(said) = said.filter(|_| !self.mapper.spoke) {
                        self.mapper.say(said, &mut self.outbox);
                    }
                    self.mapper.end.get_or_insert_with(|| TaskEnd::Completed("end_turn".into()));
                    self.leave_if_over();
                }
                Event::Notified(Err(error)) => {
                    self.notify = None;
                    let message = format!("Codex's notify source cannot be read: {error}");
                    self.outbox.push(map::notice(NoticeLevel::Warning, &message, None));
                }
                Event::Stop => {
                    self.mapper.end = Some(TaskEnd::Stopped("interrupted".into()));
                    break false;
                }
                Event::Idle(silence) => {
                    let reason = format!("Codex said nothing for {} ms (ACPLB_IDLE_TIMEOUT_MS)", silence.as_millis());
                    self.mapper.end.get_or_insert(TaskEnd::Stopped(reason));
                    break false;
                }
                Event::Overdue => break false,
                Event::Eof => break true,
            }
        };
        self.finish(left, &drafts).await;
        self.mapper
    }

    async fn next(&mut self, stop: &mut mpsc::Receiver<()>) -> Event {
        let silent_until = self.idle.map(|idle| (Instant::now() + idle, idle));
        let Self { lines, stderr, mapper, notify, turn, outbox, leaves, .. } = self;
        tokio::select! {
            biased;
            Some(()) = stop.recv() => Event::Stop,
            batch = lines.next_batch() => match batch {
                Ok(Some(batch)) => {
                    batch.for_each(|line| mapper.line(&line.text(), outbox));
                    Event::Read
                }
                Ok(None) | Err(_) => Event::Eof,
            },
            Some(line) = stderr.recv() => Event::Stderr(line),
            heard = async { match notify { Some(source) => source.ended(turn).await, None => std::future::pending().await } } => Event::Notified(heard),
            () = until(*leaves) => Event::Overdue,
            idle = async { match silent_until { Some((at, idle)) => { sleep_until(at).await; idle } None => std::future::pending().await } } => Event::Idle(idle),
        }
    }

    fn leave_if_over(&mut self) {
        if self.mapper.end.is_some() {
            self.leaves.get_or_insert_with(|| Instant::now() + LEAVE);
        }
    }

    /// Ends what is left of the process, so that the thread is free for the next one, and tells how the turn ended.
    /// One that has `left` of its own accord is given the time to.
    async fn finish(&mut self, left: bool, drafts: &mpsc::Sender<Vec<Draft>>) {
        let patience = if left { LEAVE } else { Duration::ZERO };
        let exit = tokio::time::timeout(patience, self.control.wait_exit()).await.ok();
        self.control.stop().await;
        while let Ok(line) = self.stderr.try_recv() {
            self.outbox.push(map::noise(NoticeSource::Stderr, line));
        }
        self.mapper.close(&mut self.outbox);
        let end = match self.mapper.end.take() {
            Some(end) => end,
            None => TaskEnd::Failed(Box::new(self.gone(exit))),
        };
        self.outbox.push(Fact::Ended(end).into());
        // Nobody listens: then nobody needs to know.
        let _ = drafts.send(std::mem::take(&mut self.outbox)).await;
    }

    /// Why a process that left without a word did.
    pub(super) fn gone(&self, exit: Option<Exit>) -> TaskError {
        let how = match exit {
            Some(Exit::Code(code)) => format!("exited with code {code}"),
            Some(Exit::Signal(signal)) => format!("was killed by signal {signal}"),
            Some(_) => "ended".to_owned(),
            None => "closed its output".to_owned(),
        };
        let mut error = TaskError::new(FailureCode::RuntimeExited, format!("Codex {how} in the middle of the task"));
        error.stderr_tail = Some(self.tail.text()).filter(|text| !text.is_empty());
        error
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
