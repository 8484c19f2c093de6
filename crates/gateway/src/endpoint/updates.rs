//! What a client is told outside of any request: changed lists, changed resources, log lines.

use std::sync::Arc;

use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use super::Endpoint;
use super::backend::UnaskedMessage;
use super::request::ClientContext;
use super::surface::{ListKind, Surface, View};
use super::task_ids;
use crate::raw_object::{RawObject, to_raw};
use crate::resource_uri;

/// One thing that a client may want to hear.
#[derive(Debug)]
pub(super) enum Update {
    /// The list of tools, prompts or resources has changed.
    List(&'static str),
    /// A resource has changed; the address is as the client sees it.
    Resource { uri: String, params: Box<RawValue> },
    /// So much was said that some of it is lost: every list and every resource may have changed.
    Lost,
    /// A service says something else, such as a log line.
    Other { method: String, params: Option<Box<RawValue>> },
}

/// Follows what changes for one client.
pub(super) struct Updates {
    context: Arc<ClientContext>,
    changed: watch::Receiver<u64>,
    unasked: broadcast::Receiver<Arc<UnaskedMessage>>,
    said: broadcast::Receiver<Arc<UnaskedMessage>>,
    last: Arc<Surface>,
    /// Changes that are known and not told yet.
    waiting: Vec<Update>,
}

/// Tells that a resource may have another content now.
pub(super) const RESOURCE_UPDATED: &str = "notifications/resources/updated";
/// The lists of which clients are told.
pub(super) const LISTS: [&str; 3] = ["tools", "prompts", "resources"];

/// The parameters that tell of a changed resource.
pub(super) fn changed_resource(uri: &str) -> Box<RawValue> {
    to_raw(&json!({ "uri": uri }))
}

impl Updates {
    /// Follows from now on.
    pub(super) fn new(endpoint: &Endpoint, context: Arc<ClientContext>) -> Self {
        let mut changed = endpoint.backend.changed();
        changed.mark_unchanged();
        Self {
            changed,
            unasked: endpoint.backend.unasked(),
            said: endpoint.said.subscribe(),
            last: endpoint.surface_of(&context),
            context,
            waiting: Vec::new(),
        }
    }

    /// What the client was last told of.
    pub(super) fn surface(&self) -> &Surface {
        &self.last
    }

    /// Waits for the next change; `None` when there will be no more.
    pub(super) async fn next(&mut self, endpoint: &Endpoint) -> Option<Update> {
        loop {
            if let Some(update) = self.waiting.pop() {
                return Some(update);
            }
            let unasked = tokio::select! {
                changed = self.changed.changed() => {
                    changed.ok()?;
                    self.compare(endpoint.surface_of(&self.context));
                    continue;
                }
                unasked = self.unasked.recv() => unasked,
                said = self.said.recv() => said,
            };
            match unasked {
                Ok(message) => {
                    endpoint.hear_of_task(&message);
                    self.waiting.extend(self.update(&message));
                }
                // Whoever reads too slowly, or while one service says very much, cannot know what it missed.
                Err(RecvError::Lagged(_)) => return Some(Update::Lost),
                Err(RecvError::Closed) => return None,
            }
        }
    }

    fn compare(&mut self, surface: Arc<Surface>) {
        let mut lists: Vec<_> = surface.changes_since(&self.last).map(ListKind::capability).collect();
        lists.dedup();
        self.waiting.extend(lists.into_iter().map(Update::List));
        self.last = surface;
    }

    /// What a service's message means to this client; `None` if it is not for it.
    fn update(&self, message: &UnaskedMessage) -> Option<Update> {
        if message.principal != self.context.principal {
            return None;
        }
        let service = self.last.services.iter().find(|service| service.id == message.service)?;
        match message.method.as_str() {
            RESOURCE_UPDATED => {
                let source = message.params.as_deref()?;
                let mut params = RawObject::parse(source)?;
                let original = params.text("uri")?;
                let uri = match self.context.view {
                    View::One(_) => original,
                    View::All | View::Lazy => resource_uri::qualify(&service.namespace, &original),
                };
                params.set_text("uri", &uri);
                Some(Update::Resource { uri, params: params.to_raw() })
            }
            // The lists of the connection that the principal has for itself.
            "notifications/tools/list_changed" => Some(Update::List("tools")),
            "notifications/prompts/list_changed" => Some(Update::List("prompts")),
            "notifications/resources/list_changed" => Some(Update::List("resources")),
            "notifications/progress" | "notifications/cancelled" | "notifications/subscriptions/acknowledged" => None,
            method => {
                let params = message.params.clone().map(|params| match self.context.view {
                    View::One(_) => params,
                    View::All | View::Lazy => task_ids::qualify(params, &service.namespace),
                });
                Some(Update::Other { method: method.to_owned(), params })
            }
        }
    }
}
