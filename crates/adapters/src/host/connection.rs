//! The trait by which an adapter plugs its protocol into the pump.

use std::future::{Future, pending, ready};

use roost_process::Batch;

use super::{ExitReport, Outbox, Task};

/// One runtime's side of a connection: its state, and what messages and commands do to it. Only [`super::pump`] calls
/// it, one call at a time. No method may wait for the session; only those that return a future may wait at all.
pub(crate) trait Connection: Send + 'static {
    /// The runtime's name as the subject of a sentence in error messages, such as "the agent".
    const NAME: &'static str;

    /// Whether the protocol runs over stdin and stdout, so that the end of stdout is the end of the runtime. Otherwise
    /// stdout is noise, and messages come from [`Self::next_message`].
    const STDIO: bool = true;

    /// Whether a process serves a single turn. It is then stopped before the end of the turn is reported, and at once
    /// if the session no longer listens.
    const ONE_TURN: bool = false;

    /// The state of a running turn; it gives access to the [`Task`] that the turn works for.
    type Turn: AsRef<Task> + Send;

    /// The commands that the session sends through its [`super::Handle`].
    type Command: Send + 'static;

    /// The messages of [`Self::next_message`]; [`std::convert::Infallible`] if the protocol runs over stdout.
    type Message: Send;

    /// The running turn and its drafts, from which the pump delivers to the session.
    fn outbox(&mut self) -> &mut Outbox<Self::Turn>;

    /// Carries out a command of the session's.
    fn on_command(&mut self, command: Self::Command) -> PumpAction;

    /// Handles lines that the process printed to stdout.
    fn on_stdout(&mut self, lines: Batch<'_>) -> PumpAction;

    /// Handles one line that the process printed to stderr.
    fn on_stderr(&mut self, line: String);

    /// Waits for a message from somewhere else than stdout; `None` when the runtime has hung up. It must be cancel
    /// safe: the pump drops it and calls it again whenever something else happens.
    fn next_message(&mut self) -> impl Future<Output = Option<Self::Message>> + Send {
        pending()
    }

    /// Handles a message of [`Self::next_message`].
    fn on_message(&mut self, _message: Self::Message) -> impl Future<Output = PumpAction> + Send {
        ready(PumpAction::Continue)
    }

    /// Called once the session has received the end of the turn, or no longer listens.
    fn on_turn_delivered(&mut self) -> impl Future<Output = ()> + Send {
        ready(())
    }

    /// Called once when the runtime is gone: fails the open requests and the running turn.
    fn on_exit(&mut self, exit: &ExitReport);
}

/// What the pump does after a message or a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PumpAction {
    /// Waits for the next event.
    Continue,
    /// Treats the runtime as gone without waiting for its process to exit: reports the exit and ends.
    Finish,
    /// Closes the command queue, delivers the remaining drafts, and then stops the process.
    Leave,
}
