//! What transports call: sessions of legacy clients, single requests of modern ones.

use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::Endpoint;
use super::forward::is_wanted;
use super::outlet::Outlet;
use super::refusal::McpRefusal;
use super::request::{ClientContext, Request, modern_profile};
use super::session::{Session, message};
use super::surface::View;
use super::updates::{LISTS, RESOURCE_UPDATED, Update, Updates, changed_resource};
use crate::catalog::OfferedService;
use crate::client_profile::ClientProfile;
use crate::era::{Era, LEGACY, NEWEST_LEGACY};
use crate::jsonrpc;
use crate::principal::Principal;
use crate::raw_object::RawObject;
use crate::strict_json::is_lookalike;
use crate::trace_context::TraceContext;
use crate::upstream::ServerAnswer;

/// The members of parameters by which a request is judged and finds its service.
const ROUTED: [&str; 6] = ["name", "arguments", "uri", "ref", "taskId", "_meta"];

/// By which a legacy client says that its roots are others now.
const ROOTS_CHANGED: &str = "notifications/roots/list_changed";

/// A request as a transport read it.
#[derive(Clone, Copy, Debug)]
pub struct IncomingRequest<'a> {
    /// As the client wrote it.
    pub id: &'a RawValue,
    /// What it wants.
    pub method: &'a str,
    /// The parameters, if there are some.
    pub params: Option<&'a RawValue>,
    /// The trace that its headers name.
    pub traceparent: Option<&'a str>,
}

impl<'a> IncomingRequest<'a> {
    pub(super) fn members(&self) -> Result<RawObject<'a>, McpRefusal> {
        let mut members = match self.params {
            None => RawObject::default(),
            Some(params) => {
                let wrong = "params must be an object in which no member is there twice";
                let members = RawObject::parse(params).ok_or_else(|| McpRefusal::invalid_params(wrong))?;
                refuse_lookalikes(&members)?;
                members
            }
        };
        if self.method == "tools/call" {
            TraceContext::ensure(&mut members, self.traceparent);
        }
        Ok(members)
    }
}

/// Refuses members that a service could take for those by which a request was judged and routed.
fn refuse_lookalikes(members: &RawObject<'_>) -> Result<(), McpRefusal> {
    for (name, _) in members.members() {
        if let Some(known) = ROUTED.iter().find(|known| is_lookalike(name, known)) {
            let why = format!("params have the member \"{name}\", which some services read as \"{known}\"");
            return Err(McpRefusal::invalid_params(why));
        }
    }
    Ok(())
}

impl Endpoint {
    /// Answers a request of a modern client; what it says about itself is in the request.
    pub async fn answer_modern(
        &self,
        principal: &Principal,
        view: &View,
        incoming: IncomingRequest<'_>,
        outlet: &Outlet,
    ) -> Result<Box<RawValue>, McpRefusal> {
        let params = incoming.members()?;
        let profile = modern_profile(&params)?;
        let context = Arc::new(ClientContext { principal: principal.clone(), view: view.clone(), profile });
        let IncomingRequest { id, method, .. } = incoming;
        self.answer(&Request { id, method, params, context: &context, session: None, outlet }).await
    }

    /// Answers a request of a legacy client; `None` if it was cancelled.
    pub async fn answer_legacy(
        &self,
        session: &Arc<Session>,
        incoming: IncomingRequest<'_>,
        outlet: &Outlet,
    ) -> Option<Result<Box<RawValue>, McpRefusal>> {
        let params = match incoming.members() {
            Ok(params) => params,
            Err(refusal) => return Some(Err(refusal)),
        };
        let IncomingRequest { id, method, .. } = incoming;
        let running = session.begin(id);
        let request = Request { id, method, params, context: &session.context, session: Some(session), outlet };
        tokio::select! {
            answer = self.answer(&request) => Some(answer),
            () = running.token.cancelled() => None,
        }
    }

    /// Begins the session of a legacy client; `general` takes what belongs to no request. Returns the session and the
    /// result of `initialize`.
    pub fn initialize(
        self: &Arc<Self>,
        principal: Principal,
        view: View,
        params: Option<&RawValue>,
        general: Outlet,
    ) -> Result<(Arc<Session>, Box<RawValue>), McpRefusal> {
        let needs = || McpRefusal::invalid_params("initialize needs \"protocolVersion\" and \"capabilities\"");
        let params = params.and_then(RawObject::parse).ok_or_else(needs)?;
        let wanted = params.text("protocolVersion").ok_or_else(needs)?;
        let revision = LEGACY.into_iter().find(|known| *known == wanted).unwrap_or(NEWEST_LEGACY);
        let capabilities: Map<String, Value> = match params.get("capabilities") {
            Some(capabilities) => serde_json::from_str(capabilities.get()).map_err(|_| needs())?,
            None => Map::new(),
        };
        let info = params.get("clientInfo").and_then(|info| serde_json::from_str(info.get()).ok());
        let profile = ClientProfile { era: Era::Legacy(revision.to_owned()), capabilities, info };
        let context = ClientContext { principal, view, profile };
        let surface = self.usable_surface(&context)?;
        let id = Uuid::new_v4().to_string();
        let session = Arc::new(Session::new(id, context, general, self.closing.child_token()));
        // That of a connection of lines ends with the connection, and nobody else can name it.
        if matches!(session.general, Outlet::Stream(_)) {
            self.sessions.insert(session.clone());
        }
        self.read_lists.follow(&session);
        let updates = Updates::new(self, session.context.clone());
        self.tasks.spawn(self.clone().tell_session(session.clone(), updates));
        Ok((session, self.initialized(&surface, revision)))
    }

    /// The session of this id, if this principal opened it at this address and it has not ended.
    pub fn session(&self, id: &str, principal: &Principal, view: &View) -> Option<Arc<Session>> {
        self.sessions.get(id, principal, view)
    }

    /// Ends a session: what runs for it is cancelled.
    pub fn end_session(&self, session: &Session) {
        self.sessions.remove(session);
        session.let_go();
    }

    /// Takes a notification of a legacy client.
    pub fn on_notification(&self, session: &Session, method: &str, params: Option<&RawValue>) {
        match method {
            "notifications/cancelled" => {
                let params = params.and_then(RawObject::parse);
                if let Some(id) = params.as_ref().and_then(|params| params.get("requestId")) {
                    session.cancel(id);
                }
            }
            ROOTS_CHANGED => self.tell_of_roots(session),
            _ => {}
        }
    }

    /// Tells the services that this client uses that its roots changed. The others ask for them when they need them, as
    /// modern ones do.
    fn tell_of_roots(&self, session: &Session) {
        let context = &session.context;
        let is_legacy = |service: &&Arc<OfferedService>| matches!(service.profile.era, Era::Legacy(_));
        for service in self.surface_of(context).services.iter().filter(is_legacy) {
            if let Some(upstream) = self.backend.connected(&service.id, &context.principal, &context.profile) {
                // A service that is gone has nothing to be told.
                self.tasks.spawn(async move { drop(upstream.notify(ROOTS_CHANGED, None).await) });
            }
        }
    }

    /// Takes a legacy client's answer to a request of a service; false if nothing was asked under this id.
    pub fn on_answer(&self, session: &Session, id: u64, answer: ServerAnswer) -> bool {
        session.on_answer(id, answer)
    }

    /// Makes [`Endpoint::close`] wait for work that runs in somebody else's task.
    pub fn tracked<W: Future<Output = ()>>(&self, work: W) -> impl Future<Output = ()> + use<W> {
        self.tasks.track_future(work)
    }

    /// Runs work for a client that goes on when its connection breaks, until the endpoint closes.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(work);
    }

    /// Tells a session what happens outside of its requests, until it ends.
    async fn tell_session(self: Arc<Self>, session: Arc<Session>, mut updates: Updates) {
        loop {
            let update = tokio::select! {
                update = updates.next(&self) => update,
                () = session.ended.cancelled() => None,
            };
            match update {
                None => break,
                Some(Update::List(list)) => session.tell_of_list(list).await,
                Some(Update::Resource { uri, params }) => {
                    if session.subscriptions.lock().contains_key(&uri) {
                        session.tell(RESOURCE_UPDATED, Some(&params)).await;
                    }
                }
                Some(Update::Lost) => {
                    for list in LISTS.into_iter().filter(|list| updates.surface().has(list)) {
                        session.tell_of_list(list).await;
                    }
                    let subscribed: Vec<_> = session.subscriptions.lock().keys().cloned().collect();
                    for uri in subscribed {
                        session.tell(RESOURCE_UPDATED, Some(&changed_resource(&uri))).await;
                    }
                }
                Some(Update::Other { method, params }) => {
                    let is_log = method == "notifications/message";
                    if !is_log || is_wanted(Some(session.log_level()), params.as_deref()) {
                        session.tell(&method, params.as_deref()).await;
                    }
                }
            }
        }
        session.let_go();
        if let Outlet::Stream(stream) = &session.general {
            stream.end(None);
        }
    }
}

/// The response to a request, encoded.
pub fn response(id: &RawValue, answer: &Result<Box<RawValue>, McpRefusal>) -> Arc<str> {
    match answer {
        Ok(result) => message(jsonrpc::response(id, Ok(result))),
        Err(refusal) => message(jsonrpc::response(id, Err(&refusal.to_raw()))),
    }
}
