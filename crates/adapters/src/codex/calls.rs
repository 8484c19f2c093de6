//! What we say to the server, and what we wait to hear back.

use std::collections::HashMap;

use roost_engine::adapter::AdapterError;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::past::PastState;
use super::wire::{self, RpcError, RpcId};

/// Whoever waits for an answer.
pub(super) type Reply<T = ()> = oneshot::Sender<Result<T, AdapterError>>;

/// What the server said to a request.
pub(super) type CallResult = Result<Value, RpcError>;

/// What is done with an answer.
pub(super) enum Pending {
    /// It is passed on.
    Reply(Reply<CallResult>),
    /// It says that the turn began.
    Begun(Reply),
    /// It says what became of a turn since this time, in milliseconds since 1970, when nobody listened; `last` if it is
    /// not asked again.
    Resumed { since: u64, last: bool, to: Reply<Option<PastState>> },
    /// It says that nothing of the turn is left.
    Cleaned,
    /// Nothing.
    Ignored,
}

/// The requests that are open, and the way to the server.
pub(super) struct Calls {
    writer: mpsc::Sender<String>,
    open: HashMap<u64, Pending>,
    next: u64,
}

impl Calls {
    /// Requests that go this way.
    pub(super) fn new(writer: mpsc::Sender<String>) -> Self {
        Self { writer, open: HashMap::new(), next: 1 }
    }

    /// Sends a request; one that cannot be sent gives back what was to be done with its answer.
    pub(super) fn call(&mut self, method: &str, params: &Value, then: Pending) -> Result<(), (Pending, AdapterError)> {
        let id = self.next;
        self.next += 1;
        if let Err(error) = self.send(wire::request(id, method, params)) {
            return Err((then, error));
        }
        self.open.insert(id, then);
        Ok(())
    }

    /// Sends a request whose answer does not matter.
    pub(super) fn tell(&mut self, method: &str, params: &Value) -> Result<(), AdapterError> {
        self.call(method, params, Pending::Ignored).map_err(|(_, error)| error)
    }

    /// Ends the commands that a turn left behind.
    pub(super) fn clean(&mut self, thread: &str) -> Result<(), AdapterError> {
        let params = json!({ "threadId": thread });
        self.call("thread/backgroundTerminals/clean", &params, Pending::Cleaned).map_err(|(_, error)| error)
    }

    /// Answers a request of the server's.
    pub(super) fn answer(&self, id: &RpcId, result: &Value) -> Result<(), AdapterError> {
        self.send(wire::response(id, result))
    }

    /// Answers a request of the server's on behalf of nobody; a server that does not read does not wait either.
    pub(super) fn answer_quietly(&self, id: &RpcId, result: &Value) {
        let _ = self.answer(id, result);
    }

    /// Refuses a request of the server's.
    pub(super) fn refuse(&self, id: &RpcId, error: &RpcError) {
        let _ = self.send(wire::refusal(id, error));
    }

    /// Sends a notification.
    pub(super) fn notify(&self, method: &str) -> Result<(), AdapterError> {
        self.send(wire::notification(method))
    }

    /// Waits for the answer to a request that was sent in a recorded run.
    #[cfg(test)]
    pub(super) fn expect(&mut self, id: u64, then: Pending) {
        self.open.insert(id, then);
    }

    /// What is to be done with the answer to this request.
    pub(super) fn take(&mut self, id: u64) -> Option<Pending> {
        self.open.remove(&id)
    }

    /// Everybody who waits.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Pending> {
        self.open.drain().map(|(_, pending)| pending)
    }

    fn send(&self, text: String) -> Result<(), AdapterError> {
        let deaf = || AdapterError::Runtime { message: "Codex does not read its socket".into(), raw: None };
        self.writer.try_send(text).map_err(|_| deaf())
    }
}

/// Tells whoever asked; they may have given up, the server was told all the same.
pub(super) fn reply<T>(to: Reply<T>, result: Result<T, AdapterError>) {
    let _ = to.send(result);
}
