//! One connection for any number of concurrent calls; each answer goes to its caller.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, MutexGuard};
use roost_rpc::Typed;
use serde_json::value::RawValue;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use crate::error::Error;
use crate::line::{self, Endpoint, IncomingLines, Message, Notification};

/// Requests that may wait to be sent; beyond it callers wait.
const OUTBOX: usize = 16;

type CallAnswer = Result<Box<RawValue>, Error>;

/// The calls that wait for their answers, by id; `None` once the connection has ended.
struct WaitingCalls(Mutex<Option<HashMap<u64, oneshot::Sender<CallAnswer>>>>);

impl WaitingCalls {
    fn lock(&self) -> MutexGuard<'_, Option<HashMap<u64, oneshot::Sender<CallAnswer>>>> {
        self.0.lock()
    }
}

/// A connection for calls. Dropping it ends its task.
pub(crate) struct Connection {
    next_id: AtomicU64,
    waiting: Arc<WaitingCalls>,
    outbox: mpsc::Sender<String>,
    notifications: watch::Receiver<Option<Notification>>,
    task: JoinHandle<()>,
}

impl Connection {
    pub(crate) async fn open(endpoint: &Endpoint) -> Result<Self, Error> {
        let (incoming, outgoing) = line::connect(endpoint).await?;
        let waiting = Arc::new(WaitingCalls(Mutex::new(Some(HashMap::new()))));
        let (outbox, lines) = mpsc::channel(OUTBOX);
        let (notify, notifications) = watch::channel(None);
        let task = tokio::spawn(carry(incoming, outgoing, waiting.clone(), notify, lines));
        Ok(Self { next_id: AtomicU64::new(1), waiting, outbox, notifications, task })
    }

    pub(crate) async fn call<M: Typed>(&self, params: M::Params) -> Result<M::Result, Error> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let line = line::request(id, M::METHOD, &params)?;
        let (answer, answered) = oneshot::channel();
        self.waiting.lock().as_mut().ok_or(Error::Gone)?.insert(id, answer);
        let _guard = CallGuard { waiting: &self.waiting, id };
        self.outbox.send(line).await.map_err(|_| Error::Gone)?;
        let answer = answered.await.unwrap_or(Err(Error::Gone))?;
        line::result(M::METHOD, &answer)
    }

    pub(crate) fn notifications(&self) -> watch::Receiver<Option<Notification>> {
        self.notifications.clone()
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.outbox.is_closed()
    }

    /// Returns when the connection has ended.
    pub(crate) async fn gone(&self) {
        self.outbox.closed().await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Removes a call from the waiting ones when it ends or is dropped.
struct CallGuard<'a> {
    waiting: &'a WaitingCalls,
    id: u64,
}

impl Drop for CallGuard<'_> {
    fn drop(&mut self) {
        self.waiting.lock().as_mut().map(|waiting| waiting.remove(&self.id));
    }
}

/// The connection's task: writes requests and reads answers until either direction is closed.
async fn carry(
    mut incoming: IncomingLines,
    mut outgoing: OwnedWriteHalf,
    waiting: Arc<WaitingCalls>,
    notify: watch::Sender<Option<Notification>>,
    mut lines: mpsc::Receiver<String>,
) {
    let send = async {
        while let Some(line) = lines.recv().await {
            if outgoing.write_all(line.as_bytes()).await.is_err() {
                return Error::Gone;
            }
        }
        Error::Gone
    };
    let receive = async {
        loop {
            if let Err(error) = take(&mut incoming, &waiting, &notify).await {
                return error;
            }
        }
    };
    // Both at once: a daemon that waits until its answers are read may not have read the last call yet.
    let end = tokio::select! {
        end = send => end,
        end = receive => end,
    };
    tracing::debug!(%end, "The connection to the daemon has ended.");
    let left = waiting.lock().take();
    if let Error::Protocol(why) = end {
        for answer in left.into_iter().flat_map(HashMap::into_values) {
            // Whoever waits no longer does not mind.
            let _ = answer.send(Err(Error::Protocol(why.clone())));
        }
    }
}

/// Reads one line and passes it to the caller that waits for it, or publishes the notification.
async fn take(
    incoming: &mut IncomingLines,
    waiting: &WaitingCalls,
    notify: &watch::Sender<Option<Notification>>,
) -> Result<(), Error> {
    let line = incoming.next().await?;
    let message = Message::read(&line)?;
    if let Some(notification) = message.notification() {
        notify.send_replace(Some(notification));
        return Ok(());
    }
    let Some((id, answer)) = message.answer() else { return Ok(()) };
    let caller = waiting.lock().as_mut().and_then(|waiting| waiting.remove(&id));
    if let Some(caller) = caller {
        let _ = caller.send(answer.map(ToOwned::to_owned));
    }
    Ok(())
}
