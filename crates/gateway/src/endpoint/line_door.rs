//! The endpoint over one connection of lines: stdio, by way of the local socket. Requests run side by side.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::Endpoint;
use super::door::{IncomingRequest, response};
use super::outlet::Outlet;
use super::refusal::{INTERNAL_ERROR, INVALID_REQUEST, McpRefusal, PARSE_ERROR};
use super::request::names_revision;
use super::session::Session;
use super::surface::View;
use crate::jsonrpc::{self, ServerMessage};
use crate::principal::Principal;
use crate::raw_object::RawObject;

/// Requests of one connection that run at once.
const MAX_RUNNING: usize = 1024;
/// How long requests may still run after the client has closed its side.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

impl Endpoint {
    /// Serves a client until its lines end, or nobody takes what is sent to it. What runs for it is cancelled then.
    pub async fn serve_lines(
        self: &Arc<Self>,
        principal: Principal,
        view: View,
        mut incoming: mpsc::Receiver<Vec<u8>>,
        outgoing: mpsc::Sender<Arc<str>>,
    ) {
        let client = Arc::new(LineClient {
            endpoint: self.clone(),
            principal,
            view,
            outlet: Outlet::Queue(outgoing.clone()),
            session: Mutex::default(),
            running: Mutex::default(),
        });
        let mut requests = JoinSet::new();
        loop {
            let line = tokio::select! {
                line = incoming.recv() => line,
                () = outgoing.closed() => None,
                () = self.closing.cancelled() => None,
            };
            let Some(line) = line else { break };
            while requests.try_join_next().is_some() {}
            if let Some(request) = client.receive(&line).await {
                match requests.len() < MAX_RUNNING {
                    true => {
                        requests.spawn(client.clone().answer(request));
                    }
                    false => {
                        let why = "too many requests run on this connection; wait for some of them";
                        client.refuse(&request.id, McpRefusal::new(INTERNAL_ERROR, why)).await;
                    }
                }
            }
        }
        // A client that only closed its side still reads the answers to what it asked.
        let answering = async { while requests.join_next().await.is_some() {} };
        tokio::select! {
            _ = timeout(LAST_ANSWERS, answering) => {}
            () = outgoing.closed() => {}
            () = self.closing.cancelled() => {}
        }
        if let Some(session) = client.session.lock().take() {
            self.end_session(&session);
        }
    }
}

/// The client of a connection.
struct LineClient {
    endpoint: Arc<Endpoint>,
    principal: Principal,
    view: View,
    outlet: Outlet,
    /// Its session, once it sent `initialize`.
    session: Mutex<Option<Arc<Session>>>,
    /// Its modern requests that run, by their ids as it wrote them.
    running: Mutex<HashMap<String, CancellationToken>>,
}

/// A request that was read and is to be answered.
struct LineRequest {
    id: Box<RawValue>,
    method: String,
    params: Option<Box<RawValue>>,
    /// `None` if it is a modern one.
    session: Option<Arc<Session>>,
}

impl LineClient {
    /// Takes a message; a request that must be answered comes back.
    async fn receive(&self, line: &[u8]) -> Option<LineRequest> {
        let session = || self.session.lock().clone();
        match jsonrpc::parse(line) {
            None => {
                let code =
                    if serde_json::from_slice::<&RawValue>(line).is_ok() { INVALID_REQUEST } else { PARSE_ERROR };
                self.refuse(RawValue::NULL, McpRefusal::new(code, "this line is no message of JSON-RPC 2.0")).await;
                None
            }
            Some(ServerMessage::Notification { method, params }) => {
                if let (true, Some(params)) = (method == "notifications/cancelled", params) {
                    self.cancel(params);
                }
                if let Some(session) = session() {
                    self.endpoint.on_notification(&session, &method, params);
                }
                None
            }
            Some(ServerMessage::Response { id, answer }) => {
                let answer = answer.map(ToOwned::to_owned).map_err(ToOwned::to_owned);
                if let Some(session) = session() {
                    self.endpoint.on_answer(&session, id, answer);
                }
                None
            }
            Some(ServerMessage::Request { id, method, params }) => {
                let request = |session| LineRequest {
                    id: id.to_owned(),
                    method: method.clone().into_owned(),
                    params: params.map(ToOwned::to_owned),
                    session,
                };
                if names_revision(params) || method == "server/discover" {
                    return Some(request(None));
                }
                match (session(), &*method) {
                    (None, "initialize") => self.initialize(id, params).await,
                    (Some(_), "initialize") => {
                        self.refuse(id, McpRefusal::new(INVALID_REQUEST, "this connection is initialized already"))
                            .await;
                    }
                    (Some(session), _) => return Some(request(Some(session))),
                    (None, _) => {
                        let why = "send initialize first, or say the revision in the request's _meta";
                        self.refuse(id, McpRefusal::new(INVALID_REQUEST, why)).await;
                    }
                }
                None
            }
        }
    }

    async fn initialize(&self, id: &RawValue, params: Option<&RawValue>) {
        let (principal, view) = (self.principal.clone(), self.view.clone());
        let answer = match self.endpoint.initialize(principal, view, params, self.outlet.clone()) {
            Ok((session, result)) => {
                *self.session.lock() = Some(session);
                Ok(result)
            }
            Err(refusal) => Err(refusal),
        };
        self.outlet.send(response(id, &answer)).await;
    }

    fn cancel(&self, params: &RawValue) {
        let params = RawObject::parse(params);
        if let Some(id) = params.as_ref().and_then(|params| params.get("requestId"))
            && let Some(token) = self.running.lock().remove(id.get())
        {
            token.cancel();
        }
    }

    async fn answer(self: Arc<Self>, request: LineRequest) {
        let LineRequest { id, method, params, session } = request;
        let incoming = IncomingRequest { id: &id, method: &method, params: params.as_deref(), traceparent: None };
        let answer = match &session {
            Some(session) => self.endpoint.answer_legacy(session, incoming, &self.outlet).await,
            None => {
                let token = CancellationToken::new();
                self.running.lock().insert(id.get().to_owned(), token.clone());
                let answering = self.endpoint.answer_modern(&self.principal, &self.view, incoming, &self.outlet);
                let answer = tokio::select! {
                    answer = answering => Some(answer),
                    () = token.cancelled() => None,
                };
                self.running.lock().remove(id.get());
                answer
            }
        };
        if let Some(answer) = answer {
            self.outlet.send(response(&id, &answer)).await;
        }
    }

    async fn refuse(&self, id: &RawValue, refusal: McpRefusal) {
        self.outlet.send(response(id, &Err(refusal))).await;
    }
}
