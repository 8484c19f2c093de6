//! ResourceSubscriptions to resources at services, shared by all clients of a principal that want the same resource.
//!
//! A subscription is the same for services of both eras: a connection to a modern one turns it into what that one knows.
//! It is made again when its connection has ended and the service is back.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use roost_model::ids::ServiceId;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::broadcast;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::backend::{Backend, UnaskedMessage};
use super::forward::unusable;
use super::refusal::McpRefusal;
use super::request::ClientContext;
use crate::catalog::OfferedService;
use crate::principal::Principal;
use crate::raw_object::to_raw;
use crate::upstream::{Upstream, UpstreamRequest};

/// The wait before a lost subscription is made again, unless a service comes back earlier; it doubles with each attempt.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest such wait.
const MAX_PAUSE: Duration = Duration::from_secs(60);

type SubscriptionKey = (ServiceId, Principal, String);

/// The subscriptions at services.
pub(super) struct ResourceSubscriptions(Arc<SharedSubscriptions>);

struct SharedSubscriptions {
    backend: Arc<dyn Backend>,
    open: Mutex<HashMap<SubscriptionKey, OpenSubscription>>,
    /// Tells clients that a resource may have changed while nobody listened.
    said: broadcast::Sender<Arc<UnaskedMessage>>,
    tasks: TaskTracker,
}

#[derive(Default)]
struct OpenSubscription {
    users: usize,
    /// Held while the service is told, so that it hears of beginning and end in this order. Empty unless it has agreed.
    keeper: Arc<tokio::sync::Mutex<Option<Keeper>>>,
}

/// The task that keeps a subscription at its service.
struct Keeper {
    unwanted: CancellationToken,
    task: JoinHandle<()>,
}

/// One client's interest in a resource; the last one that is dropped ends the subscription at the service.
pub(super) struct Subscription {
    key: SubscriptionKey,
    shared: Arc<SharedSubscriptions>,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut open = self.shared.open.lock();
        let Some(subscription) = open.get_mut(&self.key) else { return };
        subscription.users -= 1;
        if subscription.users == 0 {
            let (shared, key, keeper) = (self.shared.clone(), self.key.clone(), subscription.keeper.clone());
            self.shared.tasks.spawn(async move { shared.end_unwanted(&key, &keeper).await });
        }
    }
}

impl ResourceSubscriptions {
    pub(super) fn new(
        backend: Arc<dyn Backend>,
        said: broadcast::Sender<Arc<UnaskedMessage>>,
        tasks: TaskTracker,
    ) -> Self {
        Self(Arc::new(SharedSubscriptions { backend, open: Mutex::default(), said, tasks }))
    }

    /// Subscribes to a resource, unless another client of the principal has done so already.
    pub(super) async fn subscribe(
        &self,
        context: &Arc<ClientContext>,
        service: &Arc<OfferedService>,
        uri: &str,
    ) -> Result<Subscription, McpRefusal> {
        let key = (service.id.clone(), context.principal.clone(), uri.to_owned());
        let shared = self.0.clone();
        let turn = {
            let mut open = shared.open.lock();
            let subscription = open.entry(key.clone()).or_default();
            subscription.users += 1;
            subscription.keeper.clone()
        };
        let subscription = Subscription { key, shared: shared.clone() };
        let mut keeper = turn.lock().await;
        if keeper.is_none() {
            let wanted = Wanted { context: context.clone(), service: service.clone(), uri: uri.to_owned() };
            let upstream = shared.begin(&wanted).await?;
            let unwanted = CancellationToken::new();
            let task = shared.tasks.spawn(shared.clone().keep(wanted, upstream, unwanted.clone()));
            *keeper = Some(Keeper { unwanted, task });
        }
        Ok(subscription)
    }
}

/// What is subscribed to, and for whom first.
struct Wanted {
    context: Arc<ClientContext>,
    service: Arc<OfferedService>,
    uri: String,
}

impl Wanted {
    fn params(&self) -> Box<RawValue> {
        to_raw(&json!({ "uri": self.uri }))
    }
}

impl SharedSubscriptions {
    /// Subscribes at the service; what it says then comes over the connection.
    async fn begin(&self, wanted: &Wanted) -> Result<Arc<dyn Upstream>, McpRefusal> {
        let Wanted { context, service, .. } = wanted;
        let upstream = self.backend.upstream(&service.id, &context.principal, &context.profile).await;
        let upstream = upstream.map_err(|reason| unusable(service, &reason))?;
        let answer = upstream.call(self.request("resources/subscribe", wanted, &wanted.params())).await;
        answer.map_err(|error| unusable(service, &error.to_string()))?.map_err(McpRefusal::Service)?;
        Ok(upstream)
    }

    fn request<'a>(&self, method: &'a str, wanted: &'a Wanted, params: &'a RawValue) -> UpstreamRequest<'a> {
        UpstreamRequest {
            method,
            params: Some(params),
            client: &wanted.context.profile,
            patience: self.backend.patience(&wanted.service.id),
            interjections: None,
        }
    }

    /// Keeps a subscription until nobody wants it any more.
    async fn keep(self: Arc<Self>, wanted: Wanted, mut upstream: Arc<dyn Upstream>, unwanted: CancellationToken) {
        loop {
            let held = upstream.hold();
            tokio::select! {
                () = unwanted.cancelled() => break,
                _ = upstream.ended() => drop(held),
            }
            upstream = tokio::select! {
                () = unwanted.cancelled() => return,
                again = self.begin_again(&wanted) => again,
            };
            let (service, principal) = (wanted.service.id.clone(), wanted.context.principal.clone());
            let (method, params) = ("notifications/resources/updated".to_owned(), Some(wanted.params()));
            // Nobody may be listening at this moment.
            let _ = self.said.send(Arc::new(UnaskedMessage { service, principal, method, params }));
        }
        // A service that cannot be told any more has forgotten it.
        let _ = upstream.call(self.request("resources/unsubscribe", &wanted, &wanted.params())).await;
    }

    /// Subscribes when the service is back.
    async fn begin_again(&self, wanted: &Wanted) -> Arc<dyn Upstream> {
        let (mut catalog, mut pause) = (self.backend.changed(), FIRST_PAUSE);
        loop {
            tokio::select! {
                Ok(()) = catalog.changed() => {}
                () = tokio::time::sleep(pause) => pause = (2 * pause).min(MAX_PAUSE),
            }
            if let Ok(upstream) = self.begin(wanted).await {
                return upstream;
            }
        }
    }

    /// Ends a subscription, unless somebody wants it again meanwhile.
    async fn end_unwanted(&self, key: &SubscriptionKey, turn: &Arc<tokio::sync::Mutex<Option<Keeper>>>) {
        let is_unwanted = |open: &HashMap<_, OpenSubscription>| {
            open.get(key).is_some_and(|entry| entry.users == 0 && Arc::ptr_eq(&entry.keeper, turn))
        };
        let mut keeper = turn.lock().await;
        if !is_unwanted(&self.open.lock()) {
            return;
        }
        if let Some(Keeper { unwanted, task }) = keeper.take() {
            unwanted.cancel();
            // It ends when the service was told.
            let _ = task.await;
        }
        let mut open = self.open.lock();
        if is_unwanted(&open) {
            open.remove(key);
        }
    }
}
