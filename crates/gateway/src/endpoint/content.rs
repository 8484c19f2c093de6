//! Prompts, resources and completions of services.
//!
//! They pass the policy like tools, under the name of their method (`docs__resources/read`). Reading what a service itself
//! lists is a read. An address that the service does not list, and words for a prompt, are the caller's own and could
//! carry something out: they are asked about like the arguments of a tool. What a person's client completes while the
//! person types is a read, too; agents do not type.

use std::sync::Arc;

use serde_json::json;
use serde_json::value::RawValue;

use super::Endpoint;
use super::forward::Forwarding;
use super::judging::Judged;
use super::methods::MethodAnswer;
use super::refusal::{INVALID_PARAMS, McpRefusal, RESOURCE_NOT_FOUND};
use super::request::Request;
use super::session::Session;
use super::subscriptions::Subscription;
use super::surface::{Surface, View};
use crate::catalog::{OfferedService, Viewer};
use crate::governor::Access;
use crate::namespace::MAX_NAME;
use crate::raw_object::{RawObject, to_raw};

/// The name under which subscriptions of clients of both eras are judged.
const SUBSCRIBE: &str = "resources/subscribe";

/// A resource as its service knows it.
struct FoundResource {
    service: Arc<OfferedService>,
    address: String,
}

impl FoundResource {
    /// Whether the service itself lists this address.
    fn access(&self) -> Access {
        match self.service.resources.iter().any(|item| item.key == self.address) {
            true => Access::Read,
            false => Access::Call,
        }
    }
}

impl Endpoint {
    pub(super) async fn get_prompt(&self, request: &Request<'_>) -> MethodAnswer {
        let name = request.text("name")?;
        let surface = self.usable_surface(request.context)?;
        let target =
            surface.prompt(&name).ok_or_else(|| McpRefusal::invalid_params(format!("Unknown prompt: {name}")))?;
        let mut params = request.params.clone();
        params.set_text("name", &target.name);
        let words = params.get("arguments").filter(|words| words.get() != "null");
        let has_words = words.is_some_and(|words| RawObject::parse(words).is_none_or(|words| !words.is_empty()));
        let access = if has_words { Access::Call } else { Access::Read };
        let told = to_raw(&json!({ "name": target.name, "arguments": words }));
        self.forward_content(Forwarding { request, service: &target.service, params }, access, told).await
    }

    pub(super) async fn read_resource(&self, request: &Request<'_>) -> MethodAnswer {
        let found = self.find_resource(request, &request.text("uri")?)?;
        let (access, told) = (found.access(), to_raw(&json!({ "uri": found.address })));
        let mut params = request.params.clone();
        params.set_text("uri", &found.address);
        self.forward_content(Forwarding { request, service: &found.service, params }, access, told).await
    }

    /// `completion/complete`: for an argument of a prompt, or of a template of addresses.
    pub(super) async fn complete_argument(&self, request: &Request<'_>) -> MethodAnswer {
        let surface = self.usable_surface(request.context)?;
        let wrong =
            || McpRefusal::invalid_params("completion/complete needs \"ref\" with the name of a prompt or a uri");
        let mut reference = request.params.object("ref").ok_or_else(wrong)?;
        let service = match (reference.text("name"), reference.text("uri")) {
            (Some(name), _) => {
                let target = surface.prompt(&name);
                let target = target.ok_or_else(|| McpRefusal::invalid_params(format!("Unknown prompt: {name}")))?;
                reference.set_text("name", &target.name);
                target.service.clone()
            }
            (None, Some(uri)) => {
                let (service, original) = surface.resource(&uri).ok_or_else(wrong)?;
                reference.set_text("uri", &original);
                service.clone()
            }
            (None, None) => return Err(wrong()),
        };
        let access = match Viewer::from(&request.context.principal) {
            Viewer::Local | Viewer::Device => Access::Read,
            Viewer::Agent => Access::Call,
        };
        let mut params = request.params.clone();
        params.set("ref", reference.to_raw());
        let told = to_raw(&json!({ "ref": params.get("ref"), "argument": params.get("argument") }));
        self.forward_content(Forwarding { request, service: &service, params }, access, told).await
    }

    pub(super) async fn change_subscription(&self, request: &Request<'_>, session: &Arc<Session>) -> MethodAnswer {
        let uri = request.text("uri")?;
        match request.method {
            "resources/unsubscribe" => drop(session.subscriptions.lock().remove(&uri)),
            _ => session.subscribe(&uri, self.subscribe(request, &uri).await?)?,
        }
        Ok(to_raw(&json!({})))
    }

    /// Subscribes to a resource, if the policy lets it pass.
    pub(super) async fn subscribe(&self, request: &Request<'_>, uri: &str) -> Result<Subscription, McpRefusal> {
        let found = self.find_resource(request, uri)?;
        let told = to_raw(&json!({ "uri": found.address }));
        let tool = seen_method(request, SUBSCRIBE, &found.service);
        let judged = judged(SUBSCRIBE, &tool, found.access(), told);
        let ticket = self.permit(request, &found.service, judged).await?;
        let subscribed = self.subscriptions.subscribe(request.context, &found.service, &found.address).await;
        match &subscribed {
            Ok(_) => ticket.finish(Ok(&to_raw(&json!({})))).await,
            Err(refusal) => ticket.finish(Err(refusal)).await,
        }
        subscribed
    }

    /// The resource at `uri`, which is written as the client sees it.
    fn find_resource(&self, request: &Request<'_>, uri: &str) -> Result<FoundResource, McpRefusal> {
        let surface: Arc<Surface> = self.usable_surface(request.context)?;
        let code = if request.context.is_modern() { INVALID_PARAMS } else { RESOURCE_NOT_FOUND };
        let Some((service, address)) = surface.resource(uri) else {
            return Err(McpRefusal::with(code, "Resource not found", json!({ "uri": uri })));
        };
        Ok(FoundResource { service: service.clone(), address })
    }

    async fn forward_content(&self, forwarding: Forwarding<'_>, access: Access, told: Box<RawValue>) -> MethodAnswer {
        let request = forwarding.request;
        let tool = seen_method(request, request.method, forwarding.service);
        self.forward_judged(forwarding, judged(request.method, &tool, access, told)).await?
    }
}

fn judged<'a>(method: &'a str, tool: &'a str, access: Access, told: Box<RawValue>) -> Judged<'a> {
    Judged { access, tool, routed_tool: method, arguments: Some(told), annotations: None }
}

/// The name of a method as the client would see it as a tool.
fn seen_method(request: &Request<'_>, method: &str, service: &OfferedService) -> String {
    match request.context.view {
        View::One(_) => method.to_owned(),
        View::All | View::Lazy => service.namespace.qualify(method, MAX_NAME),
    }
}
