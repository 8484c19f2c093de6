//! What a modern server is asked to report outside of calls: changes of its lists, and of resources.
//!
//! A legacy server reports changes by itself, and is told about each resource. A modern one is sent one request that stays
//! open, `subscriptions/listen`; it is sent again when what is wanted changes, and when it has ended. So both look the same
//! from outside. What may have changed while nobody listened is reported as changed.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::open_calls::pong;
use super::{FromServer, ServerAnswer, UpstreamError};

/// The method of the request that stays open.
pub(super) const LISTEN: &str = "subscriptions/listen";
/// How long it may stay open.
pub(super) const LISTEN_LIMIT: Duration = Duration::from_secs(365 * 24 * 3600);
/// How long to wait before it is sent again after its end; longer each time if it ends early.
const PAUSE: Duration = Duration::from_secs(2);
/// The longest wait; a request that was open for so long did not end early.
const MAX_PAUSE: Duration = Duration::from_secs(60);
/// How long a server may take to say that it took it, before calls are made without knowing.
const SETTLE: Duration = Duration::from_secs(2);

/// What is wanted of one server.
pub(super) struct ListenSubscriptions {
    /// The lists whose changes the server can report, as the request has them.
    lists: Map<String, Value>,
    resources: watch::Sender<BTreeSet<String>>,
    /// Whether there is nothing to wait for: nothing was asked of the server, or it did not take it.
    is_unheard: watch::Sender<bool>,
}

impl ListenSubscriptions {
    /// The changes that a server with these capabilities reports.
    pub(super) fn new(capabilities: &Map<String, Value>) -> Self {
        let reports = |kind: &str| capabilities.get(kind).is_some_and(|offered| offered["listChanged"] == true);
        let lists = ["tools", "prompts", "resources"].into_iter().filter(|kind| reports(kind));
        let lists = lists.map(|kind| (format!("{kind}ListChanged"), Value::Bool(true))).collect();
        Self { lists, resources: watch::Sender::default(), is_unheard: watch::Sender::default() }
    }

    /// Carries out `resources/subscribe` and `resources/unsubscribe`, which a modern server does not know; `None` for
    /// every other method.
    pub(super) fn on_call(&self, method: &str, params: Option<&RawValue>) -> Option<ServerAnswer> {
        #[derive(Deserialize)]
        struct Resource {
            uri: String,
        }
        let is_wanted = match method {
            "resources/subscribe" => true,
            "resources/unsubscribe" => false,
            _ => return None,
        };
        let Ok(Resource { uri }) = serde_json::from_str(params.map_or("null", RawValue::get)) else {
            return Some(Err(super::open_call::refusal(-32602, "the parameters have no `uri`")));
        };
        self.resources.send_if_modified(|resources| match is_wanted {
            true => resources.insert(uri),
            false => resources.remove(&uri),
        });
        Some(Ok(pong()))
    }

    /// Waits until the server has acknowledged the request, or has not taken it: a change that a call makes before is not
    /// heard of.
    pub(super) async fn settled(&self, mut acknowledged: watch::Receiver<bool>) {
        let mut unheard = self.is_unheard.subscribe();
        let settled = async {
            tokio::select! {
                _ = acknowledged.wait_for(|is_so| *is_so) => {}
                _ = unheard.wait_for(|is_so| *is_so) => {}
            }
        };
        // A server that does not say so may still report changes.
        let _ = tokio::time::timeout(SETTLE, settled).await;
    }

    /// Keeps the request open until the connection ends. What the server may have left unsaid after an end goes to `unasked`.
    pub(super) async fn keep_open<F>(
        &self,
        listen: impl Fn(Box<RawValue>) -> F,
        acknowledged: watch::Receiver<bool>,
        unasked: &mpsc::Sender<FromServer>,
    ) where
        F: Future<Output = Result<ServerAnswer, UpstreamError>>,
    {
        let mut changes = self.resources.subscribe();
        let (mut has_ended, mut pause) = (false, PAUSE);
        loop {
            let params = self.params(&changes.borrow_and_update());
            let opened = Instant::now();
            let open = async {
                let params = params?;
                let catching_up = async {
                    if has_ended {
                        let mut acknowledged = acknowledged.clone();
                        acknowledged.mark_unchanged();
                        // A server that does not say so may still report changes.
                        let _ = tokio::time::timeout(SETTLE, acknowledged.changed()).await;
                        self.report_gap(unasked).await;
                    }
                    std::future::pending().await
                };
                tokio::select! {
                    ended = listen(params) => Some(ended),
                    never = catching_up => never,
                }
            };
            let ended = tokio::select! {
                ended = open => ended,
                // The sender lives as long as we do.
                _ = changes.changed() => continue,
            };
            self.is_unheard.send_replace(true);
            match ended {
                Some(Err(UpstreamError::Gone(_))) => return,
                // Nothing is wanted, or the server does not report what is.
                None | Some(Ok(Err(_))) => drop(changes.changed().await),
                Some(Ok(Ok(_)) | Err(_)) => {
                    pause = if opened.elapsed() < MAX_PAUSE { pause } else { PAUSE };
                    tokio::select! {
                        () = tokio::time::sleep(pause) => {}
                        _ = changes.changed() => {}
                    }
                    (has_ended, pause) = (true, (2 * pause).min(MAX_PAUSE));
                }
            }
        }
    }

    /// Says that everything may have changed of which the server reports changes.
    async fn report_gap(&self, unasked: &mpsc::Sender<FromServer>) {
        let lists = self.lists.keys().filter_map(|list| list.strip_suffix("ListChanged"));
        let mut changes: Vec<_> = lists.map(FromServer::list_changed).collect();
        changes.extend(self.resources.borrow().iter().map(|uri| FromServer::resource_updated(uri)));
        for change in changes {
            // Nobody listens any more when the connection is being closed.
            let _ = unasked.send(change).await;
        }
    }

    /// The parameters of the request; `None` if nothing is wanted.
    fn params(&self, resources: &BTreeSet<String>) -> Option<Box<RawValue>> {
        if self.lists.is_empty() && resources.is_empty() {
            return None;
        }
        let mut wanted = self.lists.clone();
        if !resources.is_empty() {
            wanted.insert("resourceSubscriptions".into(), json!(resources));
        }
        to_raw_value(&json!({ "notifications": wanted })).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_request_is_sent_again_when_it_ends_or_when_something_else_is_wanted() {
        let capabilities = json!({ "tools": { "listChanged": true }, "prompts": {} });
        let subscriptions = ListenSubscriptions::new(capabilities.as_object().unwrap());
        let (sent, mut requests) = mpsc::channel(8);
        let (end, ended) = watch::channel(0);
        let (acknowledge, acknowledged) = watch::channel(false);
        let (unasked, mut from_server) = mpsc::channel::<FromServer>(8);
        let listen = |params: Box<RawValue>| {
            sent.try_send(serde_json::from_str::<Value>(params.get()).unwrap()).unwrap();
            let mut ended = ended.clone();
            ended.mark_unchanged();
            async move {
                ended.changed().await.unwrap();
                match *ended.borrow() {
                    1 => Ok(Ok(pong())),
                    _ => Err(UpstreamError::Gone("closed".into())),
                }
            }
        };
        let steps = async {
            let tools = json!({ "toolsListChanged": true });
            assert_eq!(requests.recv().await.unwrap(), json!({ "notifications": tools }));
            acknowledge.send_replace(true);
            end.send_replace(1);
            assert_eq!(requests.recv().await.unwrap(), json!({ "notifications": tools }));
            acknowledge.send_replace(true);
            let missed = from_server.recv().await.unwrap();
            assert_eq!(missed.method, "notifications/tools/list_changed", "what changed meanwhile was not heard");
            let params = to_raw_value(&json!({ "uri": "test://a" })).unwrap();
            subscriptions.on_call("resources/subscribe", Some(&params)).unwrap().unwrap();
            let both = json!({ "toolsListChanged": true, "resourceSubscriptions": ["test://a"] });
            assert_eq!(requests.recv().await.unwrap(), json!({ "notifications": both }));
            subscriptions.on_call("resources/unsubscribe", Some(&params)).unwrap().unwrap();
            assert_eq!(requests.recv().await.unwrap(), json!({ "notifications": tools }));
            end.send_replace(2);
        };
        tokio::join!(subscriptions.keep_open(listen, acknowledged, &unasked), steps);
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_waits_for_the_acknowledgement_unless_there_will_be_none_and_not_for_long() {
        let reporting = json!({ "tools": { "listChanged": true } });
        let (acknowledge, acknowledged) = watch::channel(false);
        let (unasked, _) = mpsc::channel(8);
        let wait = async |subscriptions: &ListenSubscriptions| {
            let began = tokio::time::Instant::now();
            subscriptions.settled(acknowledged.clone()).await;
            began.elapsed()
        };
        let refuse = |_| std::future::ready(Ok(Err(super::super::open_call::refusal(-32601, "unknown"))));
        for capabilities in [&reporting, &json!({})] {
            let unheard = ListenSubscriptions::new(capabilities.as_object().unwrap());
            tokio::select! {
                () = unheard.keep_open(refuse, acknowledged.clone(), &unasked) => panic!("the connection has not ended"),
                waited = wait(&unheard) => assert_eq!(waited, Duration::ZERO, "{capabilities}"),
            }
        }
        let heard = ListenSubscriptions::new(reporting.as_object().unwrap());
        assert_eq!(wait(&heard).await, SETTLE);
        acknowledge.send_replace(true);
        assert_eq!(wait(&heard).await, Duration::ZERO);
    }

    #[test]
    fn other_methods_and_bad_parameters_are_not_carried_out() {
        let subscriptions = ListenSubscriptions::new(&Map::new());
        assert!(subscriptions.on_call("tools/call", None).is_none());
        assert!(subscriptions.on_call("resources/subscribe", None).unwrap().is_err());
    }
}
