//! Ctrl-C: the first one asks the command to stop, the second one leaves at once.

use std::process;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::error::Error;
use crate::exit::Exit;

/// Listens for Ctrl-C, and for SIGTERM, which means the same here.
pub(crate) struct Interrupt {
    asked: watch::Receiver<bool>,
    listener: JoinHandle<()>,
}

impl Interrupt {
    /// Listens until dropped.
    pub(crate) fn listen() -> Result<Self, Error> {
        let mut ctrl_c = signal(SignalKind::interrupt()).map_err(Error::Start)?;
        let mut term = signal(SignalKind::terminate()).map_err(Error::Start)?;
        let (ask, asked) = watch::channel(false);
        let listener = tokio::spawn(async move {
            either(&mut ctrl_c, &mut term).await;
            let _ = ask.send(true);
            either(&mut ctrl_c, &mut term).await;
            // Holders end what still runs; the next command closes what is open in the log.
            process::exit(Exit::Stopped as i32);
        });
        Ok(Self { asked, listener })
    }

    /// Somebody has asked to stop.
    pub(crate) fn is_asked(&self) -> bool {
        *self.asked.borrow()
    }

    /// Returns once somebody has asked to stop, however long ago.
    pub(crate) async fn asked(&self) {
        let mut asked = self.asked.clone();
        if asked.wait_for(|asked| *asked).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

async fn either(ctrl_c: &mut Signal, term: &mut Signal) {
    tokio::select! {
        _ = ctrl_c.recv() => {}
        _ = term.recv() => {}
    }
}
