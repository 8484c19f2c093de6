//! The way to one service's supervisor, and what it last said.

use std::sync::Arc;

use parking_lot::Mutex;
use roost_model::service::Lifecycle;
use roost_model::time::Timestamp;
use tokio::sync::{mpsc, oneshot, watch};

use super::ServiceError;
use super::pool::Pool;
use super::service_log::ServiceLog;
use super::supervisor::{Command, CommandReply};
use super::view::ServiceView;
use crate::breaker::{Breaker, BreakerRules, CallOutcome};

pub(super) struct ServiceHandle {
    pub(super) pool: Pool,
    pub(super) log: ServiceLog,
    view: watch::Sender<Arc<ServiceView>>,
    commands: mpsc::Sender<Command>,
    breaker: Mutex<Breaker>,
}

impl ServiceHandle {
    pub(super) fn new(
        view: ServiceView,
        pool: Pool,
        log: ServiceLog,
        commands: mpsc::Sender<Command>,
        rules: BreakerRules,
    ) -> Self {
        let breaker = Mutex::new(Breaker::new(rules));
        Self { pool, log, view: watch::Sender::new(Arc::new(view)), commands, breaker }
    }

    pub(super) fn view(&self) -> Arc<ServiceView> {
        self.view.borrow().clone()
    }

    pub(super) fn follow(&self) -> watch::Receiver<Arc<ServiceView>> {
        self.view.subscribe()
    }

    /// Begins to count outcomes of calls anew.
    pub(super) fn forget_outcomes(&self) {
        self.breaker.lock().forget();
    }

    pub(super) fn publish(&self, view: Arc<ServiceView>) {
        if view.life.lifecycle != Lifecycle::Running {
            self.forget_outcomes();
        }
        self.view.send_replace(view);
    }

    /// Sends a command and waits until it is carried out.
    pub(super) async fn command(&self, command: impl FnOnce(CommandReply) -> Command) -> Result<(), ServiceError> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(command(reply)).await.map_err(|_| ServiceError::Ending)?;
        answer.await.unwrap_or(Err(ServiceError::Ending))
    }

    /// Takes note of how a call ended.
    pub(super) fn note_outcome(&self, outcome: CallOutcome) {
        if self.breaker.lock().record(Timestamp::now(), outcome) {
            // A full queue has commands that change more than this one would; the next fault comes back to it.
            let _ = self.commands.try_send(Command::BreakerTripped);
        }
    }
}
