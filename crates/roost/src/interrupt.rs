//! Ctrl-C: the first one asks the command to stop, the second one leaves at once.

use std::process;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::error::Error;
use crate::exit::Exit;

/// Listens for Ctrl-C, and for requests to end that mean the same.
pub(crate) struct Interrupt {
    asked: watch::Receiver<bool>,
    listener: JoinHandle<()>,
}

impl Interrupt {
    /// Listens until dropped.
    pub(crate) fn listen() -> Result<Self, Error> {
        let listen = |kind| signal(kind).map_err(Error::Start);
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        let [ctrl_c, term, hangup] = kinds.map(listen);
        let (mut ctrl_c, mut term, mut hangup) = (ctrl_c?, term?, hangup?);
        let (ask, asked) = watch::channel(false);
        let listener = tokio::spawn(async move {
            any(&mut ctrl_c, &mut term, &mut hangup).await;
            let _ = ask.send(true);
            any(&mut ctrl_c, &mut term, &mut hangup).await;
            // Holders end what still runs; the next command closes what is open in the log.
            process::exit(Exit::Stopped as i32);
        });
        Ok(Self { asked, listener })
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

async fn any(ctrl_c: &mut Signal, term: &mut Signal, hangup: &mut Signal) {
    tokio::select! {
        _ = ctrl_c.recv() => {}
        _ = term.recv() => {}
        _ = hangup.recv() => {}
    }
}
