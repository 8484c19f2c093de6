//! `subscriptions/listen`: a modern client hears of changes for as long as it keeps the request open.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::Endpoint;
use super::refusal::McpRefusal;
use super::request::Request;
use super::session::message;
use super::updates::{Update, Updates};
use crate::jsonrpc;
use crate::raw_object::{RawObject, to_raw};

/// Names the subscription in the `_meta` of each of its messages.
const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// What a client wants to hear of.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Filter {
    tools_list_changed: bool,
    prompts_list_changed: bool,
    resources_list_changed: bool,
    resource_subscriptions: BTreeSet<String>,
}

impl Endpoint {
    /// Tells of changes until the gateway ends; the client ends it earlier by cancelling the request.
    pub(super) async fn listen(&self, request: &Request<'_>) -> Result<Box<RawValue>, McpRefusal> {
        let wrong = || McpRefusal::invalid_params("subscriptions/listen needs \"notifications\", an object");
        let filter = request.params.get("notifications").ok_or_else(wrong)?;
        let mut filter: Filter = serde_json::from_str(filter.get()).map_err(|_| wrong())?;
        let mut updates = Updates::new(self, request.context.clone());
        let surface = self.surface_of(request.context);
        let mut subscriptions = Vec::new();
        for uri in std::mem::take(&mut filter.resource_subscriptions) {
            // What cannot be subscribed to is missing in the acknowledgement.
            let Some((service, original)) = surface.resource(&uri) else { continue };
            if let Ok(subscription) = self.subscriptions.subscribe(request.context, service, &original).await {
                subscriptions.push(subscription);
                filter.resource_subscriptions.insert(uri);
            }
        }
        let mut accepted = json!({});
        for (name, is_wanted) in [
            ("toolsListChanged", filter.tools_list_changed),
            ("promptsListChanged", filter.prompts_list_changed),
            ("resourcesListChanged", filter.resources_list_changed),
        ] {
            if is_wanted {
                accepted[name] = true.into();
            }
        }
        if !filter.resource_subscriptions.is_empty() {
            accepted["resourceSubscriptions"] = json!(filter.resource_subscriptions);
        }
        let acknowledgement = to_raw(&json!({ "notifications": accepted }));
        tell(request, "notifications/subscriptions/acknowledged", Some(&acknowledgement)).await;
        loop {
            let update = tokio::select! {
                update = updates.next(self) => update,
                () = self.closing.cancelled() => None,
            };
            let Some(update) = update else { break };
            match update {
                Update::List(list) => {
                    let is_wanted = match list {
                        "tools" => filter.tools_list_changed,
                        "prompts" => filter.prompts_list_changed,
                        _ => filter.resources_list_changed,
                    };
                    if is_wanted {
                        tell(request, &format!("notifications/{list}/list_changed"), None).await;
                    }
                }
                Update::Resource { uri, params } if filter.resource_subscriptions.contains(&uri) => {
                    tell(request, "notifications/resources/updated", Some(&params)).await;
                }
                Update::Resource { .. } | Update::Other { .. } => {}
            }
        }
        drop(subscriptions);
        Ok(self.own_result(request, json!({ "_meta": { SUBSCRIPTION_ID: request.id } })))
    }
}

/// Sends a notification that names its subscription.
async fn tell(request: &Request<'_>, method: &str, params: Option<&RawValue>) {
    let mut params = params.and_then(RawObject::parse).unwrap_or_default();
    let mut meta = params.object("_meta").unwrap_or_default();
    meta.set(SUBSCRIPTION_ID, request.id.to_owned());
    let meta = meta.to_raw();
    params.set("_meta", meta);
    let text: Arc<str> = message(jsonrpc::request(None, method, Some(&params.to_raw())));
    request.outlet.send(text).await;
}
