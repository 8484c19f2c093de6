//! Subscriptions to resources at services, shared by all clients of a principal that want the same resource.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use roost_model::ids::ServiceId;
use serde_json::json;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::backend::{Backend, UnaskedMessage};
use super::forward::unusable;
use super::open_call::{CallEvent, OpenCall};
use super::refusal::McpRefusal;
use super::request::ClientContext;
use crate::catalog::OfferedService;
use crate::era::Era;
use crate::principal::Principal;
use crate::raw_object::to_raw;
use crate::upstream::{Interjection, Upstream, UpstreamRequest};

/// How long a stream of a modern service may stay open.
const LISTENING: Duration = Duration::from_secs(24 * 60 * 60);

type SubscriptionKey = (ServiceId, Principal, String);

/// The subscriptions at services.
pub(super) struct Subscriptions {
    backend: Arc<dyn Backend>,
    open: Arc<Mutex<HashMap<SubscriptionKey, OpenSubscription>>>,
    /// What modern services say on the streams that are opened here.
    said: broadcast::Sender<Arc<UnaskedMessage>>,
    tasks: TaskTracker,
}

struct OpenSubscription {
    users: usize,
    /// Cancelled when nobody wants it any more.
    unwanted: CancellationToken,
}

/// One client's interest in a resource; the last one that is dropped ends the subscription at the service.
pub(super) struct Subscription {
    key: SubscriptionKey,
    open: Arc<Mutex<HashMap<SubscriptionKey, OpenSubscription>>>,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut open = self.open.lock();
        let Some(subscription) = open.get_mut(&self.key) else { return };
        subscription.users -= 1;
        if subscription.users == 0 {
            subscription.unwanted.cancel();
            open.remove(&self.key);
        }
    }
}

impl Subscriptions {
    pub(super) fn new(
        backend: Arc<dyn Backend>,
        said: broadcast::Sender<Arc<UnaskedMessage>>,
        tasks: TaskTracker,
    ) -> Self {
        Self { backend, open: Arc::default(), said, tasks }
    }

    /// Subscribes to a resource, unless another client of the principal has done so already.
    pub(super) async fn subscribe(
        &self,
        context: &Arc<ClientContext>,
        service: &OfferedService,
        uri: &str,
    ) -> Result<Subscription, McpRefusal> {
        let key = (service.id.clone(), context.principal.clone(), uri.to_owned());
        let unwanted = CancellationToken::new();
        let is_first = {
            let mut open = self.open.lock();
            let entry = open.entry(key.clone());
            let entry = entry.or_insert_with(|| OpenSubscription { users: 0, unwanted: unwanted.clone() });
            entry.users += 1;
            entry.users == 1
        };
        let subscription = Subscription { key, open: self.open.clone() };
        if !is_first {
            return Ok(subscription);
        }
        let upstream = self.backend.upstream(&service.id, &context.principal, &context.profile).await;
        let upstream = upstream.map_err(|reason| unusable(service, &reason))?;
        match upstream.profile().era {
            Era::Legacy(_) => self.subscribe_legacy(context, service, upstream, uri, unwanted).await?,
            Era::Modern => self.listen(context, &service.id, upstream, uri, unwanted),
        }
        Ok(subscription)
    }

    /// `resources/subscribe`; what the service says then comes over its connection.
    async fn subscribe_legacy(
        &self,
        context: &Arc<ClientContext>,
        service: &OfferedService,
        upstream: Arc<dyn Upstream>,
        uri: &str,
        unwanted: CancellationToken,
    ) -> Result<(), McpRefusal> {
        let params = to_raw(&json!({ "uri": uri }));
        let patience = self.backend.patience(&service.id);
        let request = |method| UpstreamRequest {
            method,
            params: Some(&params),
            client: &context.profile,
            patience,
            interjections: None,
        };
        let answer = upstream.call(request("resources/subscribe")).await;
        answer.map_err(|error| unusable(service, &error.to_string()))?.map_err(McpRefusal::Service)?;
        let (context, params) = (context.clone(), params.clone());
        self.tasks.spawn(async move {
            tokio::select! {
                () = unwanted.cancelled() => {}
                _ = upstream.ended() => return,
            }
            let request = UpstreamRequest {
                method: "resources/unsubscribe",
                params: Some(&params),
                client: &context.profile,
                patience,
                interjections: None,
            };
            // A service that cannot be told any more has forgotten it.
            let _ = upstream.call(request).await;
        });
        Ok(())
    }

    /// `subscriptions/listen`, for as long as somebody wants it.
    fn listen(
        &self,
        context: &Arc<ClientContext>,
        service: &ServiceId,
        upstream: Arc<dyn Upstream>,
        uri: &str,
        unwanted: CancellationToken,
    ) {
        let params = to_raw(&json!({ "notifications": { "resourceSubscriptions": [uri] } }));
        let mut call = OpenCall::start(upstream, context.clone(), "subscriptions/listen", params, LISTENING);
        let (said, service, principal) = (self.said.clone(), service.clone(), context.principal.clone());
        self.tasks.spawn(async move {
            loop {
                let event = tokio::select! {
                    event = call.next() => event,
                    () = unwanted.cancelled() => return,
                };
                match event {
                    CallEvent::Answered(_) => return,
                    CallEvent::Said(Interjection::Notification { method, params }) => {
                        let (service, principal) = (service.clone(), principal.clone());
                        // Nobody may be listening at this moment.
                        let _ = said.send(Arc::new(UnaskedMessage { service, principal, method, params }));
                    }
                    CallEvent::Said(Interjection::Request { .. }) => {}
                }
            }
        });
    }
}
