//! Forwards a request to a service and bridges the eras.
//!
//! | client | service | what the service needs of the client |
//! |---|---|---|
//! | modern | modern | is in its answer, which passes as it is |
//! | modern | legacy | parks the call: the client is answered `input_required` and takes the call up with its next request |
//! | legacy | legacy | is asked of the client on the stream of its request |
//! | legacy | modern | the same; then the service is called again with the answers |

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use roost_model::canonical;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Endpoint;
use super::known_tasks::begun_task;
use super::log_level::LogLevel;
use super::parked_calls::ParkedCall;
use super::refusal::{INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, McpRefusal, RESOURCE_NOT_FOUND};
use super::request::{LOG_LEVEL, Request, strip_era};
use super::result_uris;
use super::running_call::{CallEvent, OpenTicket, RunningCall};
use super::session::{Session, message};
use super::surface::View;
use super::task_ids;
use crate::breaker::CallOutcome;
use crate::catalog::OfferedService;
use crate::era::Era;
use crate::jsonrpc;
use crate::raw_object::{RawObject, text, to_raw};
use crate::upstream::{Interjection, MAX_QUESTIONS, ServerAnswer, Upstream, UpstreamError};

/// How often a modern service may ask before it must answer.
const MAX_ROUNDS: usize = 16;
/// The members by which a client takes a call up again.
const INPUT_RESPONSES: &str = "inputResponses";
const REQUEST_STATE: &str = "requestState";

/// A request on its way to one service.
pub(super) struct Forwarding<'a> {
    pub(super) request: &'a Request<'a>,
    pub(super) service: &'a Arc<OfferedService>,
    /// The parameters in the service's own names.
    pub(super) params: RawObject<'a>,
}

impl Forwarding<'_> {
    /// Names this call among those of its principal: what is called with what, without the client's input.
    fn digest(&self) -> String {
        let mut params = self.params.clone();
        for name in ["_meta", INPUT_RESPONSES, REQUEST_STATE] {
            params.remove(name);
        }
        let call = format!("{}\n{}\n{}", self.service.id, self.request.method, params.to_raw());
        canonical::hash_bytes(call.as_bytes())
    }

    /// Whether the client goes on with a call that needed its input.
    fn is_continued(&self) -> bool {
        self.params.get(REQUEST_STATE).is_some() || self.params.get(INPUT_RESPONSES).is_some()
    }
}

impl Endpoint {
    /// Sends a request to its service. `permit` is asked for the permit unless the client goes on with a permitted call.
    pub(super) async fn forward<P>(
        &self,
        mut forwarding: Forwarding<'_>,
        permit: P,
    ) -> Result<Box<RawValue>, McpRefusal>
    where
        P: AsyncFnOnce() -> Result<Option<OpenTicket>, McpRefusal>,
    {
        let context = forwarding.request.context.clone();
        let service = forwarding.service;
        let is_legacy_service = matches!(service.profile.era, Era::Legacy(_));
        if context.is_modern() && is_legacy_service {
            if let Some(state) = forwarding.params.text(REQUEST_STATE) {
                return self.resume(forwarding, &state).await;
            }
            // Answers to nothing that was asked: the service does not know what they are.
            forwarding.params.remove(INPUT_RESPONSES);
        }
        let continued = forwarding.is_continued().then(|| forwarding.digest());
        let ticket = match continued.and_then(|digest| self.suspended.take(&context.principal, &digest)) {
            Some(ticket) => Some(ticket),
            None => permit().await?,
        };
        let upstream = match self.backend.upstream(&service.id, &context.principal, &context.profile).await {
            Ok(upstream) => upstream,
            Err(reason) => {
                let why = unusable(service, &reason);
                if let Some(ticket) = ticket {
                    ticket.finish(Err(&why)).await;
                }
                return Err(why);
            }
        };
        strip_era(&mut forwarding.params);
        match forwarding.request.session {
            Some(session) => {
                session.keep_connection(&service.id, &upstream);
                let client = LegacyClient { forwarding: &forwarding, session };
                let answer = self.call_for_legacy(&client, upstream).await;
                self.complete(&forwarding, ticket, answer).await
            }
            None => {
                let call = self.start(&forwarding, upstream, forwarding.params.to_raw());
                self.drive(&forwarding, call, ticket, 0).await
            }
        }
    }

    fn start(&self, forwarding: &Forwarding<'_>, upstream: Arc<dyn Upstream>, params: Box<RawValue>) -> RunningCall {
        let patience = self.backend.patience(&forwarding.service.id);
        RunningCall::start(upstream, forwarding.request.context.clone(), forwarding.request.method, params, patience)
    }

    /// Follows a call of a modern client until it is answered, or needs something of the client.
    async fn drive(
        &self,
        forwarding: &Forwarding<'_>,
        mut call: RunningCall,
        ticket: Option<OpenTicket>,
        asked: usize,
    ) -> Result<Box<RawValue>, McpRefusal> {
        loop {
            match call.next().await {
                CallEvent::Answered(answer) => return self.complete(forwarding, ticket, answer).await,
                CallEvent::Said(Interjection::Notification { method, params }) => {
                    relay(forwarding, &method, params.as_deref()).await;
                }
                CallEvent::Said(Interjection::Request { method, params, reply }) => {
                    if !forwarding.request.context.profile.answers(&method) || asked >= MAX_QUESTIONS {
                        let _ = reply.send(Err(unanswerable(&method)));
                        continue;
                    }
                    let mut parked = ParkedCall { call, ticket, asked, questions: Vec::new(), answered: None };
                    parked.question(method, params, reply);
                    parked.gather();
                    return Ok(self.park(forwarding, parked));
                }
            }
        }
    }

    /// Parks a call and tells the client what is needed.
    fn park(&self, forwarding: &Forwarding<'_>, parked: ParkedCall) -> Box<RawValue> {
        let mut wanted = serde_json::Map::new();
        for question in &parked.questions {
            let params = question.params.as_ref().and_then(|params| serde_json::from_str(params.get()).ok());
            let params = params.unwrap_or_else(|| json!({}));
            wanted.insert(question.key.clone(), json!({ "method": question.method, "params": params }));
        }
        let principal = &forwarding.request.context.principal;
        let state = self.parked.park(parked, principal, &forwarding.digest());
        to_raw(&json!({ "resultType": "input_required", "inputRequests": wanted, "requestState": state }))
    }

    /// Goes on with a parked call, with what the client answered.
    async fn resume(&self, forwarding: Forwarding<'_>, state: &str) -> Result<Box<RawValue>, McpRefusal> {
        let responses = forwarding.params.object(INPUT_RESPONSES).unwrap_or_default();
        let principal = &forwarding.request.context.principal;
        let mut parked = self.parked.resume(state, principal, &forwarding.digest()).await?;
        if let Some(answer) = parked.answered {
            return self.complete(&forwarding, parked.ticket, answer).await;
        }
        let mut open = Vec::new();
        for question in parked.questions {
            match responses.get(&question.key).filter(|response| RawObject::parse(response).is_some()) {
                // A service that gave up waiting does not mind.
                Some(response) => drop(question.reply.send(Ok(response.to_owned()))),
                None => open.push(question),
            }
        }
        parked.questions = open;
        match parked.questions.is_empty() {
            true => self.drive(&forwarding, parked.call, parked.ticket, parked.asked).await,
            false => Ok(self.park(&forwarding, parked)),
        }
    }

    /// Calls a service for a legacy client, as often as it asks for more.
    async fn call_for_legacy(
        &self,
        client: &LegacyClient<'_>,
        upstream: Arc<dyn Upstream>,
    ) -> Result<ServerAnswer, UpstreamError> {
        let mut params = client.forwarding.params.clone();
        let is_modern = upstream.profile().era == Era::Modern;
        if is_modern {
            let mut meta = params.object("_meta").unwrap_or_default();
            meta.set_text(LOG_LEVEL, client.session.asked_level().as_str());
            let meta = meta.to_raw();
            params.set("_meta", meta);
        }
        for _ in 0..MAX_ROUNDS {
            let call = self.start(client.forwarding, upstream.clone(), params.to_raw());
            let answer = client.follow(call).await?;
            let Ok(result) = &answer else { return Ok(answer) };
            let Some(wanted) = is_modern.then(|| InputRequired::parse(result)).flatten() else { return Ok(answer) };
            match client.ask_all(&wanted).await {
                Ok(responses) => params.set(INPUT_RESPONSES, responses),
                Err(error) => return Ok(Err(error)),
            }
            match &wanted.state {
                Some(state) => params.set(REQUEST_STATE, state.clone()),
                None => {
                    params.remove(REQUEST_STATE);
                }
            }
        }
        let why = format!("the service asked for input {MAX_ROUNDS} times and did not answer");
        Ok(Err(McpRefusal::new(INTERNAL_ERROR, why).to_raw()))
    }

    /// Records how a call ended, and shapes what the client gets.
    async fn complete(
        &self,
        forwarding: &Forwarding<'_>,
        ticket: Option<OpenTicket>,
        answer: Result<ServerAnswer, UpstreamError>,
    ) -> Result<Box<RawValue>, McpRefusal> {
        let service = forwarding.service;
        let mut task = None;
        let result = match answer {
            Ok(Ok(result)) => {
                task = (forwarding.request.method == "tools/call").then(|| begun_task(&result)).flatten();
                self.backend.note_outcome(&service.id, CallOutcome::Answered);
                Ok(shape(forwarding, result))
            }
            Ok(Err(error)) => {
                // Also an internal error: the SDKs answer with it when a tool throws, which wrong arguments can make it do.
                self.backend.note_outcome(&service.id, CallOutcome::Answered);
                Err(shape_error(forwarding, McpRefusal::Service(error)))
            }
            Err(error) => {
                if error.is_fault_of_service() {
                    self.backend.note_outcome(&service.id, CallOutcome::UpstreamFault);
                }
                Err(unusable(service, &error.to_string()))
            }
        };
        if let Some(id) = task {
            let principal = forwarding.request.context.principal.clone();
            self.known_tasks.begin((principal, service.id.clone(), id), ticket);
            return result;
        }
        let Some(ticket) = ticket else { return result };
        match &result {
            Ok(result) if is_input_required(result) => {
                self.suspended.put(&forwarding.request.context.principal, &forwarding.digest(), ticket);
            }
            Ok(result) => ticket.finish(Ok(result)).await,
            Err(refusal) => ticket.finish(Err(refusal)).await,
        }
        result
    }
}

/// A legacy client of whom a service may need something during its call.
struct LegacyClient<'a> {
    forwarding: &'a Forwarding<'a>,
    session: &'a Arc<Session>,
}

impl LegacyClient<'_> {
    /// Follows a call to its answer, and asks the client for what a legacy service needs meanwhile.
    async fn follow(&self, mut call: RunningCall) -> Result<ServerAnswer, UpstreamError> {
        let mut questions = FuturesUnordered::new();
        let mut asked = 0;
        loop {
            tokio::select! {
                event = call.next() => match event {
                    CallEvent::Answered(answer) => return answer,
                    CallEvent::Said(Interjection::Notification { method, params }) => {
                        relay(self.forwarding, &method, params.as_deref()).await;
                    }
                    CallEvent::Said(Interjection::Request { method, params, reply }) => {
                        asked += 1;
                        if asked > MAX_QUESTIONS {
                            let _ = reply.send(Err(unanswerable(&method)));
                            continue;
                        }
                        questions.push(async move {
                            let _ = reply.send(self.ask(&method, params.as_deref()).await);
                        });
                    }
                },
                Some(()) = questions.next(), if !questions.is_empty() => {}
            }
        }
    }

    async fn ask(&self, method: &str, params: Option<&RawValue>) -> ServerAnswer {
        let params = params.map(|params| as_seen(self.forwarding, params.to_owned()));
        match self.session.context.profile.answers(method) {
            true => self.session.ask(self.forwarding.request.outlet, method, params.as_deref()).await,
            false => Err(unanswerable(method)),
        }
    }

    /// Asks the client for everything that a modern service wants; fails with the first error of the client.
    async fn ask_all(&self, wanted: &InputRequired) -> Result<Box<RawValue>, Box<RawValue>> {
        let asking = wanted.requests.iter().map(async |(key, request)| {
            let params = request.params.as_deref();
            self.ask(&request.method, params).await.map(|answer| (key.clone(), answer))
        });
        let answers = futures::future::try_join_all(asking).await?;
        Ok(to_raw(&answers.into_iter().collect::<std::collections::BTreeMap<_, _>>()))
    }
}

/// A modern service's answer that it needs more.
#[derive(serde::Deserialize)]
struct InputRequired {
    #[serde(rename = "resultType")]
    result_type: String,
    #[serde(rename = "inputRequests", default)]
    requests: std::collections::BTreeMap<String, WantedInput>,
    #[serde(rename = "requestState", default)]
    state: Option<Box<RawValue>>,
}

#[derive(serde::Deserialize)]
struct WantedInput {
    method: String,
    #[serde(default)]
    params: Option<Box<RawValue>>,
}

impl InputRequired {
    fn parse(result: &RawValue) -> Option<Self> {
        // Most results do not say so, and need not be read.
        if !result.get().contains(INPUT_REQUIRED) {
            return None;
        }
        serde_json::from_str::<Self>(result.get()).ok().filter(|result| result.result_type == INPUT_REQUIRED)
    }
}

/// The type of a result by which a modern server asks for more.
const INPUT_REQUIRED: &str = "input_required";

fn is_input_required(result: &RawValue) -> bool {
    InputRequired::parse(result).is_some()
}

/// Passes a notification of the service on to the client of the call.
async fn relay(forwarding: &Forwarding<'_>, method: &str, params: Option<&RawValue>) {
    let request = forwarding.request;
    if method == "notifications/message" && !is_wanted(request.log_level(), params) {
        return;
    }
    let qualified = params.map(|params| as_seen(forwarding, params.to_owned()));
    request.outlet.send(message(jsonrpc::request(None, method, qualified.as_deref()))).await;
}

/// What a service wrote, with the ids of tasks as the client knows them.
fn as_seen(forwarding: &Forwarding<'_>, written: Box<RawValue>) -> Box<RawValue> {
    match forwarding.request.context.view {
        View::One(_) => written,
        View::All | View::Lazy => task_ids::qualify(written, &forwarding.service.namespace),
    }
}

/// Whether a client that wants log lines from this level on wants this one.
pub(super) fn is_wanted(from: Option<LogLevel>, params: Option<&RawValue>) -> bool {
    let Some(from) = from else { return false };
    let level = params.and_then(RawObject::parse).and_then(|params| LogLevel::parse(&params.text("level")?));
    level.is_none_or(|level| level >= from)
}

/// What the client gets of a service's result.
fn shape(forwarding: &Forwarding<'_>, result: Box<RawValue>) -> Box<RawValue> {
    let request = forwarding.request;
    let result = match request.context.view {
        View::One(_) => result,
        View::All | View::Lazy => result_uris::qualify(result, &forwarding.service.namespace),
    };
    let result = as_seen(forwarding, result);
    let is_from_legacy = matches!(forwarding.service.profile.era, Era::Legacy(_));
    match RawObject::parse(&result) {
        Some(mut members) if request.context.is_modern() && is_from_legacy => {
            members.set_text("resultType", "complete");
            if request.method == "resources/read" {
                members.set("ttlMs", to_raw(&0));
                members.set("cacheScope", text("private"));
            }
            members.to_raw()
        }
        _ => result,
    }
}

/// What the client gets of a service's error: a legacy code that modern clients do not know becomes theirs.
fn shape_error(forwarding: &Forwarding<'_>, refusal: McpRefusal) -> McpRefusal {
    let McpRefusal::Service(error) = &refusal else { return refusal };
    if !forwarding.request.context.is_modern() || refusal.code() != RESOURCE_NOT_FOUND {
        return refusal;
    }
    let Some(mut error) = RawObject::parse(error) else { return refusal };
    error.set("code", to_raw(&INVALID_PARAMS));
    if let (None, Some(uri)) = (error.get("data"), forwarding.request.params.get("uri")) {
        error.set("data", to_raw(&json!({ "uri": uri })));
    }
    McpRefusal::Service(error.to_raw())
}

/// A service could not be called.
pub(super) fn unusable(service: &OfferedService, reason: &str) -> McpRefusal {
    let namespace = service.namespace.as_str();
    let data: Value = json!({ "service": service.id, "namespace": namespace, "reason": reason });
    McpRefusal::with(INTERNAL_ERROR, format!("{namespace}: {reason}"), data)
}

fn unanswerable(method: &str) -> Box<RawValue> {
    McpRefusal::new(METHOD_NOT_FOUND, format!("this client does not answer {method}")).to_raw()
}
