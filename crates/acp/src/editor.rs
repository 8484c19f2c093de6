//! The editor as we talk to it: answers, notifications, and requests that wait for its answers.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use agent_client_protocol_schema::v1::{self as acp, RequestId};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::error;

/// An editor's answer to a request.
pub(crate) type EditorAnswer = Result<Value, acp::Error>;

/// The way to the editor; clones share it. Sending waits while the editor does not read.
#[derive(Clone)]
pub(crate) struct EditorConnection {
    outgoing: mpsc::Sender<String>,
    requests: Arc<OpenRequests>,
}

#[derive(Default)]
struct OpenRequests {
    last_id: AtomicI64,
    waiting: Mutex<HashMap<i64, oneshot::Sender<EditorAnswer>>>,
}

/// A request that the editor has not answered yet. Dropping it makes a later answer be ignored.
pub(crate) struct EditorRequest {
    id: i64,
    answer: oneshot::Receiver<EditorAnswer>,
    requests: Arc<OpenRequests>,
}

impl EditorConnection {
    pub(crate) fn new(outgoing: mpsc::Sender<String>) -> Self {
        Self { outgoing, requests: Arc::default() }
    }

    /// Returns when nobody takes our messages any more.
    pub(crate) async fn closed(&self) {
        self.outgoing.closed().await;
    }

    pub(crate) async fn reply(&self, id: &RequestId, answer: Result<impl Serialize, acp::Error>) {
        #[derive(Serialize)]
        struct Reply<'a, R> {
            jsonrpc: &'static str,
            id: &'a RequestId,
            #[serde(skip_serializing_if = "Option::is_none")]
            result: Option<R>,
            #[serde(skip_serializing_if = "Option::is_none")]
            error: Option<acp::Error>,
        }
        let (result, error) = match answer {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        self.send(&Reply { jsonrpc: "2.0", id, result, error }).await;
    }

    pub(crate) async fn notify(&self, method: &str, params: impl Serialize) {
        #[derive(Serialize)]
        struct Notification<'a, P> {
            jsonrpc: &'static str,
            method: &'a str,
            params: P,
        }
        self.send(&Notification { jsonrpc: "2.0", method, params }).await;
    }

    pub(crate) async fn request(&self, method: &str, params: impl Serialize) -> EditorRequest {
        #[derive(Serialize)]
        struct Request<'a, P> {
            jsonrpc: &'static str,
            id: i64,
            method: &'a str,
            params: P,
        }
        let id = self.requests.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let (answered, answer) = oneshot::channel();
        self.requests.waiting.lock().insert(id, answered);
        let request = EditorRequest { id, answer, requests: self.requests.clone() };
        self.send(&Request { jsonrpc: "2.0", id, method, params }).await;
        request
    }

    /// Tells the editor that the answer to this request is no longer wanted.
    pub(crate) async fn withdraw(&self, request_id: i64) {
        self.notify("$/cancel_request", acp::CancelRequestNotification::new(request_id)).await;
    }

    /// Passes an answer of the editor to whoever waits for it; a second or unknown one is ignored.
    pub(crate) fn on_response(&self, id: &RequestId, answer: EditorAnswer) {
        let waiting = match id {
            RequestId::Number(id) => self.requests.waiting.lock().remove(id),
            _ => None,
        };
        match waiting {
            // Whoever waits no longer does not mind.
            Some(waiting) => drop(waiting.send(answer)),
            None => tracing::debug!(%id, "The client answered a request that is not open; ignored."),
        }
    }

    async fn send(&self, message: &impl Serialize) {
        match serde_json::to_string(message) {
            // Fails only when the editor is gone, which ends the whole door.
            Ok(text) => drop(self.outgoing.send(text).await),
            Err(error) => tracing::error!(%error, "A message could not be encoded; not sent."),
        }
    }
}

impl EditorRequest {
    /// The id under which the editor knows the request.
    pub(crate) fn id(&self) -> i64 {
        self.id
    }

    /// Waits for the answer.
    pub(crate) async fn answer(mut self) -> EditorAnswer {
        (&mut self.answer).await.unwrap_or_else(|_| Err(error::cancelled()))
    }
}

impl Drop for EditorRequest {
    fn drop(&mut self) {
        self.requests.waiting.lock().remove(&self.id);
    }
}
