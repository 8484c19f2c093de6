//! What a runtime brings to its pump.

use std::future::{Future, pending, ready};

use roost_process::Batch;

use super::{ExitReport, Outbox, Task};

/// One runtime's side of a connection: its state, and what messages and commands do to it. Only [`super::pump`] calls
/// it, one call at a time; no method may wait for the session, and only those that return a future may wait at all.
pub(crate) trait Connection: Send + 'static {
    /// The runtime in messages for people, as the subject of a sentence.
    const NAME: &'static str;

    /// The protocol runs over the process's stdin and stdout: it is over when stdout ends. Otherwise stdout is noise, and
    /// [`Self::next_message`] is how the runtime is heard.
    const STDIO: bool = true;

    /// The process serves one turn only: it is ended before the turn's end is told, and at once if nobody listens.
    const ONE_TURN: bool = false;

    /// A turn of the runtime's.
    type Turn: AsRef<Task> + Send;

    /// What the session asks of it.
    type Command: Send + 'static;

    /// What is heard other than on stdout; [`std::convert::Infallible`] if nothing is.
    type Message: Send;

    /// The turn that runs and what it has to tell.
    fn outbox(&mut self) -> &mut Outbox<Self::Turn>;

    /// The session wants something.
    fn on_command(&mut self, command: Self::Command) -> Then;

    /// The process printed lines.
    fn on_stdout(&mut self, lines: Batch<'_>) -> Then;

    /// The process printed a line to stderr.
    fn on_stderr(&mut self, line: String);

    /// Waits for what is heard other than on stdout; `None` when the runtime has hung up. Cancel safe: it is dropped and
    /// called again whenever something else happens.
    fn next_message(&mut self) -> impl Future<Output = Option<Self::Message>> + Send {
        pending()
    }

    /// Takes a message in.
    fn on_message(&mut self, _message: Self::Message) -> impl Future<Output = Then> + Send {
        ready(Then::Continue)
    }

    /// The session has heard that the turn is over.
    fn on_turn_delivered(&mut self) -> impl Future<Output = ()> + Send {
        ready(())
    }

    /// The runtime is gone: fails the open requests and the turn.
    fn on_exit(&mut self, exit: &ExitReport);
}

/// What the pump does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// Goes on.
    Continue,
    /// Counts the runtime as gone, without waiting for its process to exit.
    Finish,
    /// Takes no more commands, tells what there is to tell, and ends the process after that.
    Leave,
}
