//! The calls of a connection that are under way, and to which of them a message of the server belongs.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, watch};

use super::open_call::{OpenCall, refusal};
use super::request_params::progress_id;
use super::{FromServer, ServerAnswer};

/// The calls that are under way.
#[derive(Default)]
pub(super) struct OpenCalls {
    /// By their ids, which grow.
    by_id: Mutex<BTreeMap<u64, Arc<OpenCall>>>,
    /// Whether the server has said that it reports the changes that we asked for.
    acknowledged: watch::Sender<bool>,
}

impl OpenCalls {
    /// Adds a call for as long as the guard lives.
    pub(super) fn open(&self, id: u64, call: OpenCall) -> OpenCallGuard<'_> {
        let call = Arc::new(call);
        self.by_id.lock().insert(id, call.clone());
        OpenCallGuard { calls: self, id, call }
    }

    /// Whether the server has said that it reports the changes that we asked for.
    pub(super) fn acknowledged(&self) -> watch::Receiver<bool> {
        self.acknowledged.subscribe()
    }

    /// Passes a notification on to the call that it belongs to, or to whoever hears what belongs to none.
    pub(super) async fn on_notification(
        &self,
        method: String,
        params: Option<&RawValue>,
        unasked: &mpsc::Sender<FromServer>,
    ) {
        match method.as_str() {
            "notifications/progress" => {
                if let Some(call) = progress_id(params).and_then(|id| self.by_id.lock().get(&id).cloned()) {
                    call.try_notify(method, params);
                }
            }
            "notifications/message" => match self.newest(OpenCall::is_heard) {
                Some(call) => call.try_notify(method, params),
                // Logs are lost rather than waited for.
                None => drop(unasked.try_send(FromServer { method, params: params.map(ToOwned::to_owned) })),
            },
            "notifications/subscriptions/acknowledged" => drop(self.acknowledged.send_replace(true)),
            _ => {
                // Nobody listens any more when the connection is being closed.
                let _ = unasked.send(FromServer { method, params: params.map(ToOwned::to_owned) }).await;
            }
        }
    }

    /// Answers a request of the server. It does not say to which call it belongs: the newest that can answer gets it.
    pub(super) fn on_request(&self, method: String, params: Option<&RawValue>) -> BoxFuture<'static, ServerAnswer> {
        if method == "ping" {
            return std::future::ready(Ok(pong())).boxed();
        }
        let params = params.map(ToOwned::to_owned);
        match self.newest(|call| call.can_answer(&method)) {
            Some(call) => async move { call.ask(method, params).await }.boxed(),
            None => {
                std::future::ready(Err(refusal(-32601, "no call is open whose client answers such requests"))).boxed()
            }
        }
    }

    fn newest(&self, wanted: impl Fn(&OpenCall) -> bool) -> Option<Arc<OpenCall>> {
        self.by_id.lock().values().rev().find(|call| wanted(call)).cloned()
    }
}

/// The answer to a ping.
pub(super) fn pong() -> Box<RawValue> {
    // An empty object is JSON.
    RawValue::from_string("{}".into()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// A call that is in the table.
pub(super) struct OpenCallGuard<'a> {
    calls: &'a OpenCalls,
    id: u64,
    call: Arc<OpenCall>,
}

impl Deref for OpenCallGuard<'_> {
    type Target = OpenCall;

    fn deref(&self) -> &OpenCall {
        &self.call
    }
}

impl Drop for OpenCallGuard<'_> {
    fn drop(&mut self) {
        self.calls.by_id.lock().remove(&self.id);
        self.call.end();
    }
}
