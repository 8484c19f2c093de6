//! A connection whose messages share one way there and one way back.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::value::RawValue;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::peer::ServerPeer;
use super::subscriptions::{LISTEN, LISTEN_LIMIT, ListenSubscriptions};
use super::{ServerAnswer, ServerProfile, Upstream, UpstreamEnd, UpstreamError, UpstreamRequest};
use crate::client_profile::ClientProfile;
use crate::era::Era;

/// A connection over a [`ServerPeer`]. Dropping it ends its transport.
pub(super) struct PeerUpstream {
    peer: Arc<ServerPeer>,
    profile: ServerProfile,
    /// Only of a modern server.
    subscriptions: Option<Arc<ListenSubscriptions>>,
    transport: Transport,
}

impl PeerUpstream {
    /// A connection whose handshake is done, on behalf of these clients; ready when a modern server reports its changes.
    pub(super) async fn new(
        peer: Arc<ServerPeer>,
        profile: ServerProfile,
        client: &ClientProfile,
        transport: Transport,
    ) -> Self {
        let subscriptions =
            (profile.era == Era::Modern).then(|| Arc::new(ListenSubscriptions::new(&profile.capabilities)));
        if let Some(subscriptions) = subscriptions.clone() {
            let acknowledged = peer.acknowledged();
            let (reported, unasked) = (acknowledged.clone(), peer.unasked());
            let (peer, client, wanted) = (peer.clone(), Arc::new(client.clone()), subscriptions.clone());
            transport.spawn_beside(async move {
                let listen = |params: Box<RawValue>| {
                    let (peer, client) = (peer.clone(), client.clone());
                    async move {
                        let (client, patience, params) = (&*client, LISTEN_LIMIT, Some(&*params));
                        let request = UpstreamRequest { method: LISTEN, params, client, patience, interjections: None };
                        peer.call_within(LISTEN_LIMIT, request, Some(client)).await
                    }
                };
                wanted.keep_open(listen, reported, &unasked).await;
            });
            subscriptions.settled(acknowledged).await;
        }
        Self { peer, profile, subscriptions, transport }
    }
}

/// The task that carries the messages of a peer.
pub(super) struct Transport {
    tasks: TaskTracker,
    stop: DropGuard,
}

impl Transport {
    /// Starts the task. It must end soon after the token is cancelled.
    pub(super) fn spawn<F>(run: impl FnOnce(CancellationToken) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        tasks.spawn(run(stop.clone()));
        tasks.close();
        Self { tasks, stop: stop.drop_guard() }
    }

    /// Starts a task that ends with the transport.
    pub(super) fn spawn_beside(&self, run: impl Future<Output = ()> + Send + 'static) {
        let stop = self.stop.token().clone();
        self.tasks.spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = run => {}
            }
        });
    }

    /// Ends the task and waits until it has ended.
    pub(super) async fn close(&self) {
        self.stop.token().cancel();
        self.tasks.wait().await;
    }
}

#[async_trait]
impl Upstream for PeerUpstream {
    fn profile(&self) -> &ServerProfile {
        &self.profile
    }

    async fn call(&self, request: UpstreamRequest<'_>) -> Result<ServerAnswer, UpstreamError> {
        if let Some(subscriptions) = &self.subscriptions
            && let Some(answer) = subscriptions.on_call(request.method, request.params)
        {
            return Ok(answer);
        }
        let client = request.client;
        let modern_client = (self.profile.era == Era::Modern).then_some(client);
        self.peer.call(request, modern_client).await
    }

    async fn notify(&self, method: &str, params: Option<&RawValue>) -> Result<(), UpstreamError> {
        self.peer.notify(method, params).await
    }

    async fn ended(&self) -> UpstreamEnd {
        self.peer.ended().await
    }

    async fn close(&self) {
        self.peer.end(UpstreamEnd::Closed);
        self.transport.close().await;
    }
}
