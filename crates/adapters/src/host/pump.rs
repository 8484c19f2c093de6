//! The task that reads a runtime, handles the session's commands and delivers drafts to the session.
//!
//! Its rules are in [`super`].

use std::future::pending;
use std::time::Duration;

use roost_engine::adapter::Draft;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::{Connection, ExitReport, Handle, Process, PumpAction};

/// How many commands may be queued for the pump.
const QUEUE: usize = 256;
/// How long a runtime that closed its output may take to exit, so that the report can name its exit code.
const EXIT_PATIENCE: Duration = Duration::from_secs(2);

/// Starts the pump of a connection. `process` is `None` if Roost did not start it. `held`, such as a lock, is dropped
/// when the whole process tree is gone; the returned task ends after that.
pub(crate) fn start<C: Connection>(
    connection: C,
    process: Option<Process>,
    held: impl Send + 'static,
) -> (Handle<C>, JoinHandle<()>) {
    let (sender, commands) = mpsc::channel(QUEUE);
    let control = process.as_ref().map(|process| process.control.clone());
    let handle = Handle::new(sender, control.clone());
    let pump = Pump { connection, process, commands, stdout_ended: false };
    let ended = tokio::spawn(async move {
        // The connection and with it the runtime's stdin are gone when this returns.
        pump.run().await;
        if let Some(control) = control {
            control.stop().await;
        }
        drop(held);
    });
    (handle, ended)
}

struct Pump<C: Connection> {
    connection: C,
    process: Option<Process>,
    commands: mpsc::Receiver<C::Command>,
    stdout_ended: bool,
}

/// Everything that can happen to a connection, in one enum so that [`Pump::run`] shows every trigger.
enum PumpEvent<C: Connection> {
    Command(C::Command),
    /// The last handle was dropped.
    Abandoned,
    /// The outbox was emptied: true if the session received the drafts, false if it no longer listens.
    Delivered(bool),
    Stderr(String),
    Stdout(PumpAction),
    StdoutEnded,
    Message(C::Message),
    HungUp,
}

impl<C: Connection> Pump<C> {
    async fn run(mut self) {
        loop {
            let then = match self.next().await {
                PumpEvent::Command(command) => self.connection.on_command(command),
                PumpEvent::Abandoned => return,
                PumpEvent::Delivered(received) => {
                    if self.connection.outbox().turn.take_if(|turn| turn.as_ref().is_over()).is_some() {
                        self.connection.on_turn_delivered().await;
                    }
                    if C::ONE_TURN && !received {
                        return;
                    }
                    PumpAction::Continue
                }
                PumpEvent::Stderr(line) => {
                    self.connection.on_stderr(line);
                    PumpAction::Continue
                }
                PumpEvent::Stdout(then) => then,
                PumpEvent::StdoutEnded => {
                    self.stdout_ended = true;
                    PumpAction::Continue
                }
                PumpEvent::Message(message) => self.connection.on_message(message).await,
                PumpEvent::HungUp => return self.finish(EXIT_PATIENCE).await,
            };
            match then {
                PumpAction::Continue => {}
                PumpAction::Finish => return self.finish(Duration::ZERO).await,
                PumpAction::Leave => {
                    // The queue closes before the end of the turn is delivered, so that no new task can reach it.
                    self.commands.close();
                    return self.deliver().await;
                }
            }
        }
    }

    async fn next(&mut self) -> PumpEvent<C> {
        let outbox = self.connection.outbox();
        let full = !outbox.drafts.is_empty();
        let listener = outbox.turn.as_ref().filter(|_| full).map(|turn| turn.as_ref().drafts().clone());
        let reads_stdout = !full && !self.stdout_ended;
        let Self { connection, process, commands, .. } = self;
        let (stdout, stderr) = process.as_mut().map(|process| (&mut process.stdout, &mut process.stderr)).unzip();
        let room = async { listener.as_ref()?.reserve().await.ok() };
        let stderr = async {
            match stderr {
                Some(stderr) => stderr.recv().await,
                None => None,
            }
        };
        let stdout = async {
            match stdout {
                Some(stdout) => stdout.next_batch().await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            command = commands.recv() => command.map_or(PumpEvent::Abandoned, PumpEvent::Command),
            room = room, if full => {
                let drafts = std::mem::take(&mut connection.outbox().drafts);
                let received = room.map(|room: mpsc::Permit<'_, Vec<Draft>>| room.send(drafts)).is_some();
                PumpEvent::Delivered(received)
            }
            Some(line) = stderr, if !full => PumpEvent::Stderr(line),
            batch = stdout, if reads_stdout => match batch {
                Ok(Some(batch)) => PumpEvent::Stdout(connection.on_stdout(batch)),
                Ok(None) | Err(_) if C::STDIO => PumpEvent::HungUp,
                Ok(None) | Err(_) => PumpEvent::StdoutEnded,
            },
            message = connection.next_message(), if !full => message.map_or(PumpEvent::HungUp, PumpEvent::Message),
        }
    }

    /// Waits up to `patience` for the exit, then fails everything that still waits for the runtime.
    async fn finish(mut self, patience: Duration) {
        let Self { connection, process, .. } = &mut self;
        let mut exit = None;
        if let Some(process) = process {
            exit = tokio::time::timeout(patience, process.control.wait_exit()).await.ok();
            if C::ONE_TURN {
                process.control.stop().await;
            }
            while let Ok(line) = process.stderr.try_recv() {
                connection.on_stderr(line);
            }
        }
        let tail = process.as_ref().map(|process| &process.tail);
        connection.on_exit(&ExitReport::new::<C>(exit, tail));
        self.deliver().await;
    }

    /// Delivers the remaining drafts, waiting until the session has room for them.
    async fn deliver(&mut self) {
        let outbox = self.connection.outbox();
        let (turn, drafts) = (outbox.turn.take(), std::mem::take(&mut outbox.drafts));
        if let Some(listener) = turn.map(|turn| turn.as_ref().drafts().clone()) {
            // An error means that the session no longer listens; the drafts are for it alone.
            let _ = listener.send(drafts).await;
        }
    }
}
