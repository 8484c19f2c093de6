//! `subscriptions/listen`: a modern client hears of changes for as long as it keeps the request open.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::Endpoint;
use super::refusal::McpRefusal;
use super::request::Request;
use super::session::{MAX_SUBSCRIPTIONS, message};
use super::updates::{LISTS, RESOURCE_UPDATED, Update, Updates, changed_resource};
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
        if filter.resource_subscriptions.len() > MAX_SUBSCRIPTIONS {
            let why = format!("a request can subscribe to {MAX_SUBSCRIPTIONS} resources; name fewer");
            return Err(McpRefusal::invalid_params(why));
        }
        let mut updates = Updates::new(self, request.context.clone());
        let mut subscriptions = Vec::new();
        for uri in std::mem::take(&mut filter.resource_subscriptions) {
            // What is denied, or cannot be subscribed to, is missing in the acknowledgement.
            if let Ok(subscription) = self.subscribe(request, &uri).await {
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
                Update::List(list) => tell_of_list(request, &filter, list).await,
                Update::Resource { uri, params } if filter.resource_subscriptions.contains(&uri) => {
                    tell(request, RESOURCE_UPDATED, Some(&params)).await;
                }
                Update::Lost => {
                    for list in LISTS {
                        tell_of_list(request, &filter, list).await;
                    }
                    for uri in &filter.resource_subscriptions {
                        tell(request, RESOURCE_UPDATED, Some(&changed_resource(uri))).await;
                    }
                }
                Update::Resource { .. } | Update::Other { .. } => {}
            }
        }
        drop(subscriptions);
        Ok(self.own_result(request, json!({ "_meta": { SUBSCRIPTION_ID: request.id } })))
    }
}

/// Tells of a changed list if the client wants to hear of it.
async fn tell_of_list(request: &Request<'_>, filter: &Filter, list: &str) {
    let is_wanted = match list {
        "tools" => filter.tools_list_changed,
        "prompts" => filter.prompts_list_changed,
        _ => filter.resources_list_changed,
    };
    if is_wanted {
        tell(request, &format!("notifications/{list}/list_changed"), None).await;
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
