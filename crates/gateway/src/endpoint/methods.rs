//! The methods of the endpoint: what the gateway answers itself, and what it forwards under which names.

use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Endpoint;
use super::forward::Forwarding;
use super::judging::{Denied, Judged};
use super::lazy_tools;
use super::log_level::LogLevel;
use super::refusal::{INTERNAL_ERROR, McpRefusal};
use super::request::{ClientContext, Request};
use super::session::Session;
use super::surface::{ListKind, Surface, Target, View};
use crate::catalog::OfferedService;
use crate::era::{Era, MODERN};
use crate::governor::Access;
use crate::principal::Principal;
use crate::raw_object::{RawObject, to_raw};
use crate::upstream::UpstreamRequest;

/// Names the server in the `_meta` of a modern result.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// Names the services in the `_meta` of a list that cannot be used now.
const MISSING: &str = "dev.roost/missing";

pub(super) type MethodAnswer = Result<Box<RawValue>, McpRefusal>;

impl Endpoint {
    /// Answers a request.
    pub(super) async fn answer(&self, request: &Request<'_>) -> MethodAnswer {
        let is_modern = request.context.is_modern();
        match request.method {
            "tools/call" => self.call_tool(request).await,
            "tools/list" => self.list(request, ListKind::Tools),
            "prompts/list" => self.list(request, ListKind::Prompts),
            "resources/list" => self.list(request, ListKind::Resources),
            "resources/templates/list" => self.list(request, ListKind::Templates),
            "prompts/get" => self.get_prompt(request).await,
            "resources/read" => self.read_resource(request).await,
            "completion/complete" => self.complete_argument(request).await,
            "tasks/get" | "tasks/update" | "tasks/cancel" | "tasks/result" | "tasks/list" => self.task(request).await,
            "server/discover" if is_modern => self.discover(request),
            "subscriptions/listen" if is_modern => self.listen(request).await,
            "ping" if !is_modern => Ok(to_raw(&json!({}))),
            "logging/setLevel" => match request.session {
                Some(session) => self.set_level(request, session).await,
                None => Err(McpRefusal::no_method(request.method)),
            },
            "resources/subscribe" | "resources/unsubscribe" => match request.session {
                Some(session) => self.change_subscription(request, session).await,
                None => Err(McpRefusal::no_method(request.method)),
            },
            method => Err(McpRefusal::no_method(method)),
        }
    }

    /// The name and version that clients of a view see.
    fn server_info(&self, surface: &Surface) -> Value {
        let own = || json!({ "name": self.settings.name, "version": self.settings.version });
        match (&surface.view, surface.services.first()) {
            (View::One(_), Some(service)) => service.profile.info.clone().unwrap_or_else(own),
            _ => own(),
        }
    }

    /// The result of a legacy client's `initialize`.
    pub(super) fn initialized(&self, surface: &Surface, revision: &str) -> Box<RawValue> {
        let mut result = json!({
            "protocolVersion": revision,
            "capabilities": surface.capabilities(&Era::Legacy(revision.to_owned())),
            "serverInfo": self.server_info(surface),
        });
        if let Some(instructions) = surface.instructions() {
            result["instructions"] = instructions.into();
        }
        to_raw(&result)
    }

    fn discover(&self, request: &Request<'_>) -> MethodAnswer {
        let surface = self.usable_surface(request.context)?;
        let mut result = json!({
            "supportedVersions": [MODERN],
            "capabilities": surface.capabilities(&Era::Modern),
            "ttlMs": u64::try_from(surface.good_for().as_millis()).unwrap_or_default(),
            "cacheScope": "private",
            "_meta": { SERVER_INFO: self.server_info(&surface) },
        });
        if let Some(instructions) = surface.instructions() {
            result["instructions"] = instructions.into();
        }
        Ok(self.own_result(request, result))
    }

    /// A result of the gateway itself, in the words of the client's era.
    pub(super) fn own_result(&self, request: &Request<'_>, mut result: Value) -> Box<RawValue> {
        if request.context.is_modern() {
            result["resultType"] = "complete".into();
        }
        to_raw(&result)
    }

    /// One page of a list; it was encoded when the catalog changed.
    fn list(&self, request: &Request<'_>, kind: ListKind) -> MethodAnswer {
        let surface = self.usable_surface(request.context)?;
        if !surface.has(kind.capability()) {
            return Err(McpRefusal::no_method(request.method));
        }
        let cursor = request.params.get("cursor").map(|_| request.text("cursor")).transpose()?;
        let mut result = surface.page(kind, cursor.as_deref())?;
        if let (ListKind::Tools, Some(session)) = (kind, request.session) {
            session.note_tools_read(&surface);
        }
        result.insert(0, '{');
        let mut meta = serde_json::Map::new();
        if let Some(missing) = surface.missing_note() {
            meta.insert(MISSING.into(), missing);
        }
        if request.context.is_modern() {
            meta.insert(SERVER_INFO.into(), self.server_info(&surface));
            let good_for = surface.good_for().as_millis();
            result.push_str(&format!(r#","resultType":"complete","ttlMs":{good_for},"cacheScope":"private""#));
        }
        if !meta.is_empty() {
            result.push_str(&format!(r#","_meta":{}"#, Value::Object(meta)));
        }
        result.push('}');
        let broken = |_| McpRefusal::new(INTERNAL_ERROR, "the list could not be written");
        RawValue::from_string(result).map_err(broken)
    }

    /// What the clients of a view see; an error if it is one service that cannot be used now.
    pub(super) fn usable_surface(&self, context: &ClientContext) -> Result<Arc<Surface>, McpRefusal> {
        let surface = self.surface_of(context);
        match (&context.view, surface.missing.first()) {
            (View::One(_), Some(missing)) if surface.services.is_empty() => {
                let namespace = missing.namespace.as_str();
                let why = format!("{namespace} cannot be used now: {}", missing.reason);
                let data = json!({ "service": missing.id, "namespace": namespace, "lifecycle": missing.lifecycle });
                Err(McpRefusal::with(INTERNAL_ERROR, why, data))
            }
            _ => Ok(surface),
        }
    }

    /// Calls a tool, if the policy lets it pass.
    async fn call_tool(&self, request: &Request<'_>) -> MethodAnswer {
        let name = request.text("name")?;
        let surface = self.usable_surface(request.context)?;
        if surface.view == View::Lazy {
            return self.call_lazy_tool(request, &surface, &name).await;
        }
        let target = self.find_tool(&surface, &name)?;
        self.call_target(request, target, &name, request.params.clone()).await
    }

    fn find_tool<'a>(&self, surface: &'a Surface, name: &str) -> Result<&'a Target, McpRefusal> {
        surface.tool(name).ok_or_else(|| McpRefusal::invalid_params(format!("Unknown tool: {name}")))
    }

    async fn call_target(
        &self,
        request: &Request<'_>,
        target: &Target,
        name: &str,
        mut params: RawObject<'_>,
    ) -> MethodAnswer {
        let judged = Judged {
            access: Access::Call,
            tool: name,
            routed_tool: &target.name,
            arguments: params.get("arguments").map(ToOwned::to_owned),
            annotations: target.annotations.as_deref(),
        };
        params.set_text("name", &target.name);
        if let Principal::Session(_) = request.context.principal {
            keep_known(&mut params);
        }
        let forwarding = Forwarding { request, service: &target.service, params };
        match self.forward_judged(forwarding, judged).await {
            Ok(answer) => answer,
            // The agent must read why, so it is a result of the tool.
            Err(Denied(reason)) => Ok(self.text_result(request, &reason, IsError(true))),
        }
    }

    async fn call_lazy_tool(&self, request: &Request<'_>, surface: &Surface, name: &str) -> MethodAnswer {
        let arguments = request.params.object("arguments").unwrap_or_default();
        let needs = |what: &str| McpRefusal::invalid_params(format!("{name} needs \"{what}\", a text"));
        match name {
            lazy_tools::SEARCH => {
                let found = lazy_tools::search(surface, &arguments.text("query").unwrap_or_default());
                Ok(self.text_result(request, &format!("{found:#}"), IsError(false)))
            }
            lazy_tools::DESCRIBE => {
                let target = self.find_tool(surface, &arguments.text("name").ok_or_else(|| needs("name"))?)?;
                Ok(self.text_result(request, target.definition.get(), IsError(false)))
            }
            lazy_tools::CALL => {
                let called = arguments.text("name").ok_or_else(|| needs("name"))?;
                let target = self.find_tool(surface, &called)?;
                let mut params = request.params.clone();
                match arguments.get("arguments") {
                    Some(arguments) => params.set("arguments", arguments.to_owned()),
                    None => params.set("arguments", to_raw(&json!({}))),
                }
                self.call_target(request, target, &called, params).await
            }
            _ => Err(McpRefusal::invalid_params(format!("Unknown tool: {name}"))),
        }
    }

    fn text_result(&self, request: &Request<'_>, text: &str, is_error: IsError) -> Box<RawValue> {
        let mut result = json!({ "content": [{ "type": "text", "text": text }] });
        if is_error.0 {
            result["isError"] = true.into();
        }
        self.own_result(request, result)
    }

    /// `logging/setLevel`: keeps the level, and tells the legacy services that this client sees.
    async fn set_level(&self, request: &Request<'_>, session: &Arc<Session>) -> MethodAnswer {
        let name = request.text("level")?;
        let level = LogLevel::parse(&name)
            .ok_or_else(|| McpRefusal::invalid_params(format!("there is no level \"{name}\"; the lowest is debug")))?;
        session.set_log_level(level);
        let surface = self.surface_of(request.context);
        let params = to_raw(&json!({ "level": level.as_str() }));
        let has_logging = |service: &&Arc<OfferedService>| {
            matches!(service.profile.era, Era::Legacy(_)) && service.profile.capabilities.contains_key("logging")
        };
        let telling = surface.services.iter().filter(has_logging).map(async |service| {
            let context = request.context;
            let upstream = self.backend.upstream(&service.id, &context.principal, &context.profile).await.ok()?;
            let request = UpstreamRequest {
                method: "logging/setLevel",
                params: Some(&params),
                client: &context.profile,
                patience: self.backend.patience(&service.id),
                interjections: None,
            };
            // A service that does not take it sends more, and what the client does not want is held back here.
            upstream.call(request).await.ok()
        });
        futures::future::join_all(telling).await;
        Ok(to_raw(&json!({})))
    }
}

/// The members of `tools/call` that the protocol knows.
const CALL_MEMBERS: [&str; 6] = ["name", "arguments", "_meta", "task", "inputResponses", "requestState"];

/// Takes out what the protocol does not know: the person who is asked about an agent's call does not see it.
fn keep_known(params: &mut RawObject<'_>) {
    let unknown = params.members().map(|(name, _)| name).filter(|name| !CALL_MEMBERS.contains(name));
    for name in unknown.map(ToOwned::to_owned).collect::<Vec<_>>() {
        params.remove(&name);
    }
}

/// Whether a result says that the tool failed.
struct IsError(bool);
