//! Ctrl-C: the first one asks the command to stop, the second one leaves at once.

use std::process;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::error::Error;
use crate::exit::Exit;
use crate::keyboard::restore_terminal;
use crate::screen;

/// The signal that was received last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopRequest {
    /// No signal since the start or the last [`Interrupt::reset`].
    Nothing,
    /// Ctrl-C: the task is to stop.
    Stop,
    /// SIGTERM: the command is to end, and its task with it.
    Leave,
}

/// Listens for Ctrl-C and SIGTERM.
pub struct Interrupt {
    request: watch::Sender<StopRequest>,
    listener: JoinHandle<()>,
}

impl Interrupt {
    /// Starts to listen; dropping the value stops it. A second signal before a reset exits the process.
    pub fn listen() -> Result<Self, Error> {
        let mut ctrl_c = signal(SignalKind::interrupt()).map_err(Error::Start)?;
        let mut term = signal(SignalKind::terminate()).map_err(Error::Start)?;
        let (request, _) = watch::channel(StopRequest::Nothing);
        let sender = request.clone();
        let listener = tokio::spawn(async move {
            loop {
                let new = either(&mut ctrl_c, &mut term).await;
                if sender.send_replace(new) != StopRequest::Nothing {
                    // What was asked for goes on without us: the daemon does it, or the holders of a daemon's agents.
                    screen::clear_status();
                    restore_terminal();
                    process::exit(Exit::Stopped as i32);
                }
            }
        });
        Ok(Self { request, listener })
    }

    /// Returns once somebody has asked to stop, however long ago.
    pub async fn stop_requested(&self) {
        let mut request = self.request.subscribe();
        if request.wait_for(|request| *request != StopRequest::Nothing).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Forgets the request and returns it: the next Ctrl-C is a first one again.
    pub(crate) fn reset(&self) -> StopRequest {
        self.request.send_replace(StopRequest::Nothing)
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

async fn either(ctrl_c: &mut Signal, term: &mut Signal) -> StopRequest {
    tokio::select! {
        _ = ctrl_c.recv() => StopRequest::Stop,
        _ = term.recv() => StopRequest::Leave,
    }
}
