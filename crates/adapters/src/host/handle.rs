//! The handle by which a session sends commands to its pump.

use std::time::Duration;

use roost_engine::adapter::AdapterError;
use roost_process::Control;
use tokio::sync::{mpsc, oneshot};

use super::Connection;

/// The time limit for one step of the handshake; long, because first starts download things and tool servers are slow.
const HANDSHAKE: Duration = Duration::from_secs(120);

/// The sending half of a command's answer.
pub(crate) type Reply<T = ()> = oneshot::Sender<Result<T, AdapterError>>;

/// Sends a command's answer. A caller that has stopped waiting does not undo the command, so that is no error.
pub(crate) fn reply<T>(to: Reply<T>, result: Result<T, AdapterError>) {
    let _ = to.send(result);
}

/// Sends commands to a pump. The pump ends when its last handle is dropped.
pub(crate) struct Handle<C: Connection> {
    commands: mpsc::Sender<C::Command>,
    /// Stops the process and observes its exit; `None` if Roost did not start it.
    control: Option<Control>,
}

impl<C: Connection> Clone for Handle<C> {
    fn clone(&self) -> Self {
        Self { commands: self.commands.clone(), control: self.control.clone() }
    }
}

impl<C: Connection> Handle<C> {
    /// The handle of the pump that reads the other end of `commands`.
    pub(super) fn new(commands: mpsc::Sender<C::Command>, control: Option<Control>) -> Self {
        Self { commands, control }
    }

    /// Queues a command without waiting for its effect; an error if the pump has ended.
    pub(crate) async fn send(&self, command: C::Command) -> Result<(), AdapterError> {
        self.commands.send(command).await.map_err(|_| Self::gone())
    }

    /// Sends a command and waits for its answer, without a time limit.
    pub(crate) async fn ask<T>(&self, command: impl FnOnce(Reply<T>) -> C::Command) -> Result<T, AdapterError> {
        let (reply, answer) = oneshot::channel();
        self.send(command(reply)).await?;
        answer.await.map_err(|_| Self::gone())?
    }

    /// Like [`Self::ask`] for a step of the handshake: fails after [`HANDSHAKE`]; `what` names the step in the error.
    pub(crate) async fn ask_with_timeout<T>(
        &self,
        what: &str,
        command: impl FnOnce(Reply<T>) -> C::Command,
    ) -> Result<T, AdapterError> {
        match tokio::time::timeout(HANDSHAKE, self.ask(command)).await {
            Ok(answered) => answered,
            Err(_) => {
                let message = format!("{} did not answer {what} within {} s", C::NAME, HANDSHAKE.as_secs());
                Err(AdapterError::Runtime { message, raw: None })
            }
        }
    }

    /// Returns when the runtime has exited or the pump has ended.
    pub(crate) async fn exited(&self) {
        let process = async {
            match &self.control {
                Some(control) => drop(control.wait_exit().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            // The pump ends when the runtime hangs up, even if its process lives on.
            () = self.commands.closed() => {}
            () = process => {}
        }
    }

    /// Ends the pump, if this is its last handle, and stops the process in any case. Returns when the whole process
    /// tree is gone.
    pub(crate) async fn close(self) {
        let Self { commands, control } = self;
        // First, so that the pump closes the runtime's stdin and the process may leave by itself.
        drop(commands);
        if let Some(control) = control {
            control.stop().await;
        }
    }

    /// The error for a command to a pump that has ended.
    pub(crate) fn gone() -> AdapterError {
        AdapterError::Exited { message: format!("{} is gone", C::NAME), stderr_tail: None }
    }
}
