//! The one task that reads a runtime, hears the session's commands and hands over what there is to tell.
//!
//! Its rules are in [`super`].

use std::future::pending;
use std::time::Duration;

use roost_engine::adapter::Draft;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::{Connection, ExitReport, Handle, Process, Then};

/// Commands that may wait for the pump.
const QUEUE: usize = 256;
/// How long a runtime that hung up has to exit before it counts as gone.
const EXIT_PATIENCE: Duration = Duration::from_secs(2);

/// Starts the pump of a connection. `process` is there if it is ours; what is `held` is let go of when nothing of it is
/// left, which the returned task waits for.
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

/// What can happen to a connection.
enum Event<C: Connection> {
    Command(C::Command),
    /// Nobody can command any more.
    Abandoned,
    /// The outbox is empty; whether the session took what was in it, or nobody listens.
    Delivered(bool),
    Stderr(String),
    Stdout(Then),
    StdoutEnded,
    Message(C::Message),
    HungUp,
}

impl<C: Connection> Pump<C> {
    async fn run(mut self) {
        loop {
            let then = match self.next().await {
                Event::Command(command) => self.connection.on_command(command),
                Event::Abandoned => return,
                Event::Delivered(heard) => {
                    if self.connection.outbox().turn.take_if(|turn| turn.as_ref().is_over()).is_some() {
                        self.connection.on_turn_delivered().await;
                    }
                    if C::ONE_TURN && !heard {
                        return;
                    }
                    Then::Continue
                }
                Event::Stderr(line) => {
                    self.connection.on_stderr(line);
                    Then::Continue
                }
                Event::Stdout(then) => then,
                Event::StdoutEnded => {
                    self.stdout_ended = true;
                    Then::Continue
                }
                Event::Message(message) => self.connection.on_message(message).await,
                Event::HungUp => return self.finish(EXIT_PATIENCE).await,
            };
            match then {
                Then::Continue => {}
                Then::Finish => return self.finish(Duration::ZERO).await,
                Then::Leave => {
                    // No new task may reach it, so it goes deaf before anybody hears that the turn is over.
                    self.commands.close();
                    return self.tell().await;
                }
            }
        }
    }

    async fn next(&mut self) -> Event<C> {
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
            command = commands.recv() => command.map_or(Event::Abandoned, Event::Command),
            room = room, if full => {
                let drafts = std::mem::take(&mut connection.outbox().drafts);
                let heard = room.map(|room: mpsc::Permit<'_, Vec<Draft>>| room.send(drafts)).is_some();
                Event::Delivered(heard)
            }
            Some(line) = stderr, if !full => Event::Stderr(line),
            batch = stdout, if reads_stdout => match batch {
                Ok(Some(batch)) => Event::Stdout(connection.on_stdout(batch)),
                Ok(None) | Err(_) if C::STDIO => Event::HungUp,
                Ok(None) | Err(_) => Event::StdoutEnded,
            },
            message = connection.next_message(), if !full => message.map_or(Event::HungUp, Event::Message),
        }
    }

    /// The runtime is gone, or will be when this has waited so long: tells whoever waits for it how.
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
        self.tell().await;
    }

    /// Hands over what there is, waiting for room.
    async fn tell(&mut self) {
        let outbox = self.connection.outbox();
        let (turn, drafts) = (outbox.turn.take(), std::mem::take(&mut outbox.drafts));
        if let Some(listener) = turn.map(|turn| turn.as_ref().drafts().clone()) {
            // Nobody listens: then nobody needs to know.
            let _ = listener.send(drafts).await;
        }
    }
}
