//! The session's side of a pump.

use std::time::Duration;

use roost_engine::adapter::AdapterError;
use roost_process::Control;
use tokio::sync::{mpsc, oneshot};

use super::Connection;

/// How long a runtime may take for one step of the handshake. First starts download things, and tool servers are slow.
const HANDSHAKE: Duration = Duration::from_secs(120);

/// Whoever waits for an answer.
pub(crate) type Reply<T = ()> = oneshot::Sender<Result<T, AdapterError>>;

/// Tells whoever asked; they may have given up, what they asked for is done all the same.
pub(crate) fn reply<T>(to: Reply<T>, result: Result<T, AdapterError>) {
    let _ = to.send(result);
}

/// Commands to a pump. The pump ends with the last of its handles.
pub(crate) struct Handle<C: Connection> {
    commands: mpsc::Sender<C::Command>,
    /// The process, if it is ours.
    control: Option<Control>,
}

impl<C: Connection> Clone for Handle<C> {
    fn clone(&self) -> Self {
        Self { commands: self.commands.clone(), control: self.control.clone() }
    }
}

impl<C: Connection> Handle<C> {
    /// The handle of a pump that takes its commands from the other end of this channel.
    pub(super) fn new(commands: mpsc::Sender<C::Command>, control: Option<Control>) -> Self {
        Self { commands, control }
    }

    /// Sends a command that has no answer.
    pub(crate) async fn tell(&self, command: C::Command) -> Result<(), AdapterError> {
        self.commands.send(command).await.map_err(|_| Self::gone())
    }

    /// Sends a command and waits for its answer.
    pub(crate) async fn ask<T>(&self, command: impl FnOnce(Reply<T>) -> C::Command) -> Result<T, AdapterError> {
        let (reply, answer) = oneshot::channel();
        self.tell(command(reply)).await?;
        answer.await.map_err(|_| Self::gone())?
    }

    /// The same for a step of the handshake, which has two minutes; `what` names it.
    pub(crate) async fn shake<T>(
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

    /// Returns when the runtime has ended by itself.
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

    /// Ends the pump, if this is its last handle, and the process in any case; returns when nothing of it is left.
    pub(crate) async fn close(self) {
        let Self { commands, control } = self;
        // First, so that the pump closes the runtime's stdin and the process may leave by itself.
        drop(commands);
        if let Some(control) = control {
            control.stop().await;
        }
    }

    /// What is said about a runtime that is no longer there.
    pub(crate) fn gone() -> AdapterError {
        AdapterError::Exited { message: format!("{} is gone", C::NAME), stderr_tail: None }
    }
}
