//! A gateway whose services are fixtures in this process, and whose governor lets everything pass.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use parking_lot::Mutex;
use roost_gateway::breaker::CallOutcome;
use roost_gateway::catalog::{Audience, Catalog, ListedItem, OfferedService};
use roost_gateway::client_profile::ClientProfile;
use roost_gateway::endpoint::{Backend, Endpoint, EndpointSettings, UnaskedMessage};
use roost_gateway::era::Era;
use roost_gateway::governor::{Access, CallReport, GatewayCall, Governor, Permit, Ticket};
use roost_gateway::namespace::Namespace;
use roost_gateway::principal::Principal;
use roost_gateway::upstream::{
    Interjection, ServerAnswer, ServerProfile, Upstream, UpstreamEnd, UpstreamError, UpstreamRequest,
};
use roost_model::ids::ServiceId;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use testkit::mcp_fixture::{FixtureClient, FixtureEra, LEGACY, McpFixture};
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

/// Services by their namespaces.
pub(crate) struct FixtureBackend {
    services: Vec<(Namespace, Arc<McpFixture>)>,
    catalog: Mutex<Arc<Catalog>>,
    changed: watch::Sender<u64>,
    unasked: broadcast::Sender<Arc<UnaskedMessage>>,
    /// Who has connections.
    principals: Mutex<BTreeSet<Principal>>,
    pub(crate) outcomes: Mutex<Vec<CallOutcome>>,
    /// The parameters of the calls that reached services.
    pub(crate) called: Arc<Mutex<Vec<Value>>>,
    /// What services were told, with their namespaces.
    pub(crate) told: watch::Sender<Vec<(String, String)>>,
    connections: Arc<Mutex<Connections>>,
    /// One more for each time that a connection is kept.
    pub(crate) kept: Arc<()>,
}

/// The connections that are open: all end together.
#[derive(Default)]
struct Connections {
    ended: CancellationToken,
    /// The resources that the services report, as `namespace uri`.
    subscribed: BTreeSet<String>,
    /// How the next subscriptions are answered, and when.
    answers: VecDeque<oneshot::Receiver<Result<Value, Value>>>,
}

impl FixtureBackend {
    /// Begins to serve these, and follows their changes for as long as the test runs.
    async fn start(services: Vec<(&str, McpFixture)>) -> Arc<Self> {
        let service = |(name, fixture)| (Namespace::from_text(name), Arc::new(fixture));
        let backend = Arc::new(Self {
            services: services.into_iter().map(service).collect(),
            catalog: Mutex::default(),
            changed: watch::Sender::new(0),
            unasked: broadcast::Sender::new(64),
            principals: Mutex::default(),
            outcomes: Mutex::default(),
            called: Arc::default(),
            told: watch::Sender::default(),
            connections: Arc::default(),
            kept: Arc::default(),
        });
        backend.list().await;
        for (namespace, fixture) in backend.services.clone() {
            let (backend, mut said) = (backend.clone(), fixture.said());
            tokio::spawn(async move {
                while let Ok((method, params)) = said.recv().await {
                    match method.ends_with("list_changed") {
                        true => backend.list().await,
                        false => backend.pass_on(&namespace, method, &params),
                    }
                }
            });
        }
        backend
    }

    pub(crate) fn fixture(&self, namespace: &str) -> &Arc<McpFixture> {
        &self.services.iter().find(|(name, _)| name.as_str() == namespace).unwrap().1
    }

    /// Makes the next generation of the catalog.
    async fn list(&self) {
        let mut services = Vec::new();
        for (namespace, fixture) in &self.services {
            let list = async |method: &str, member: &str, key: &str| {
                let result = fixture.answer(method, &json!({}), &Nobody).await.unwrap();
                let item = |definition: &Value| ListedItem {
                    key: definition[key].as_str().unwrap().to_owned(),
                    definition: to_raw_value(definition).unwrap(),
                };
                result[member].as_array().unwrap().iter().map(item).collect::<Vec<_>>()
            };
            services.push(Arc::new(OfferedService {
                id: service_id(namespace),
                namespace: namespace.clone(),
                audience: Audience::Everyone,
                content_audience: Audience::Everyone,
                profile: profile(fixture),
                good_until: None,
                tools: list("tools/list", "tools", "name").await,
                resources: list("resources/list", "resources", "uri").await,
                resource_templates: list("resources/templates/list", "resourceTemplates", "uriTemplate").await,
                prompts: list("prompts/list", "prompts", "name").await,
            }));
        }
        let generation = *self.changed.borrow() + 1;
        *self.catalog.lock() = Arc::new(Catalog { generation, services, missing: Vec::new() });
        self.changed.send_replace(generation);
    }

    fn connection(&self, service: &ServiceId) -> Option<Arc<dyn Upstream>> {
        let (namespace, fixture) = self.services.iter().find(|(namespace, _)| service_id(namespace) == *service)?;
        Some(Arc::new(FixtureUpstream {
            fixture: fixture.clone(),
            profile: profile(fixture),
            namespace: namespace.as_str().to_owned(),
            called: self.called.clone(),
            told: self.told.clone(),
            ended: self.connections.lock().ended.clone(),
            connections: self.connections.clone(),
            kept: self.kept.clone(),
        }))
    }

    /// Ends every connection, and with it what was subscribed to; later ones are connections of services that are back.
    pub(crate) async fn lose_connections(&self) {
        std::mem::take(&mut *self.connections.lock()).ended.cancel();
        self.list().await;
    }

    /// The next subscription is answered when and how the test says.
    pub(crate) fn hold_subscription(&self) -> oneshot::Sender<Result<Value, Value>> {
        let (answer, answered) = oneshot::channel();
        self.connections.lock().answers.push_back(answered);
        answer
    }

    /// A service says more to the local user than anybody can take at once.
    pub(crate) fn flood(&self) {
        let (service, principal) = (service_id(&self.services[0].0), Principal::Local);
        let method = "notifications/message".to_owned();
        let line = Arc::new(UnaskedMessage { service, principal, method, params: None });
        (0..1000).for_each(|_| drop(self.unasked.send(line.clone())));
    }

    fn pass_on(&self, namespace: &Namespace, method: &str, params: &Value) {
        let is_reported =
            |uri: &str| self.connections.lock().subscribed.contains(&format!("{} {uri}", namespace.as_str()));
        if params["uri"].as_str().is_some_and(|uri| !is_reported(uri)) {
            return;
        }
        for principal in self.principals.lock().iter() {
            let _ = self.unasked.send(Arc::new(UnaskedMessage {
                service: service_id(namespace),
                principal: principal.clone(),
                method: method.to_owned(),
                params: to_raw_value(params).ok(),
            }));
        }
    }
}

fn service_id(namespace: &Namespace) -> ServiceId {
    ServiceId::from(format!("svc_{}", namespace.as_str()))
}

fn profile(fixture: &McpFixture) -> ServerProfile {
    let era = match fixture.era() {
        FixtureEra::Modern => Era::Modern,
        FixtureEra::Legacy => Era::Legacy(LEGACY.to_owned()),
    };
    let capabilities = fixture.capabilities().as_object().unwrap().clone();
    ServerProfile { era, capabilities, info: Some(fixture.info()), instructions: None }
}

#[async_trait]
impl Backend for FixtureBackend {
    fn catalog(&self) -> Arc<Catalog> {
        self.catalog.lock().clone()
    }

    fn changed(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    async fn upstream(
        &self,
        service: &ServiceId,
        principal: &Principal,
        _: &ClientProfile,
    ) -> Result<Arc<dyn Upstream>, String> {
        self.principals.lock().insert(principal.clone());
        let connection = self.connection(service).ok_or("there is no such service")?;
        Ok(connection)
    }

    fn connected(&self, service: &ServiceId, principal: &Principal, _: &ClientProfile) -> Option<Arc<dyn Upstream>> {
        self.principals.lock().contains(principal).then(|| self.connection(service))?
    }

    fn note_outcome(&self, _: &ServiceId, outcome: CallOutcome) {
        self.outcomes.lock().push(outcome);
    }

    fn unasked(&self) -> broadcast::Receiver<Arc<UnaskedMessage>> {
        self.unasked.subscribe()
    }
}

/// A connection without a transport.
struct FixtureUpstream {
    fixture: Arc<McpFixture>,
    profile: ServerProfile,
    namespace: String,
    called: Arc<Mutex<Vec<Value>>>,
    told: watch::Sender<Vec<(String, String)>>,
    ended: CancellationToken,
    connections: Arc<Mutex<Connections>>,
    kept: Arc<()>,
}

impl FixtureUpstream {
    /// Carries out what connections to services of both eras know.
    async fn subscribe(&self, method: &str, uri: &str) -> Result<Value, Value> {
        self.told.send_modify(|told| told.push((self.namespace.clone(), method.to_owned())));
        let held = self.connections.lock().answers.pop_front();
        if let Some(held) = held {
            held.await.unwrap()?;
        }
        let key = format!("{} {uri}", self.namespace);
        let subscribed = &mut self.connections.lock().subscribed;
        let _ = if method == "resources/subscribe" { subscribed.insert(key) } else { subscribed.remove(&key) };
        Ok(json!({}))
    }
}

#[async_trait]
impl Upstream for FixtureUpstream {
    fn profile(&self) -> &ServerProfile {
        &self.profile
    }

    async fn call(&self, request: UpstreamRequest<'_>) -> Result<ServerAnswer, UpstreamError> {
        let mut params: Value =
            request.params.map_or_else(|| json!({}), |params| serde_json::from_str(params.get()).unwrap());
        self.called.lock().push(params.clone());
        if self.profile.era == Era::Modern {
            for name in ["protocolVersion", "clientCapabilities", "clientInfo"] {
                let name = format!("io.modelcontextprotocol/{name}");
                assert!(params["_meta"].get(&name).is_none(), "{name} of the client's era is passed on: {params}");
            }
            let capabilities = Value::Object(request.client.capabilities.clone());
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities;
        }
        let raw = |value| to_raw_value(&value).unwrap();
        if let "resources/subscribe" | "resources/unsubscribe" = request.method {
            let uri = params["uri"].as_str().unwrap();
            return Ok(self.subscribe(request.method, uri).await.map(raw).map_err(raw));
        }
        let client = Interjector(request.interjections);
        Ok(self.fixture.answer(request.method, &params, &client).await.map(raw).map_err(raw))
    }

    async fn notify(&self, method: &str, _: Option<&RawValue>) -> Result<(), UpstreamError> {
        self.told.send_modify(|told| told.push((self.namespace.clone(), method.to_owned())));
        Ok(())
    }

    fn keep(&self) -> Box<dyn Send + Sync> {
        Box::new(self.kept.clone())
    }

    async fn ended(&self) -> UpstreamEnd {
        self.ended.cancelled().await;
        UpstreamEnd::Exited
    }

    async fn close(&self) {}
}

/// Carries what the fixture says during a call.
struct Interjector(Option<mpsc::Sender<Interjection>>);

#[async_trait]
impl FixtureClient for Interjector {
    async fn notify(&self, method: &str, params: Value) {
        if let Some(interjections) = &self.0 {
            let said = Interjection::Notification { method: method.to_owned(), params: to_raw_value(&params).ok() };
            let _ = interjections.send(said).await;
        }
    }

    async fn ask(&self, method: &str, params: Value) -> Result<Value, Value> {
        let (reply, answer) = oneshot::channel();
        let method = method.to_owned();
        let params = to_raw_value(&params).ok();
        let interjections = self.0.as_ref().ok_or(json!({ "code": -32601, "message": "nobody listens" }))?;
        let _ = interjections.send(Interjection::Request { method, params, reply }).await;
        let read = |value: Box<RawValue>| serde_json::from_str(value.get()).unwrap();
        answer.await.map_err(|_| json!({ "code": -32603, "message": "refused" }))?.map(read).map_err(read)
    }
}

/// Who lists the fixtures.
struct Nobody;

#[async_trait]
impl FixtureClient for Nobody {
    async fn notify(&self, _: &str, _: Value) {}

    async fn ask(&self, _: &str, _: Value) -> Result<Value, Value> {
        Err(json!({ "code": -32601, "message": "nobody is asked" }))
    }
}

/// Lets everything pass but the tools that a test denies, and keeps what it heard.
#[derive(Default)]
pub(crate) struct RecordingGovernor {
    next: AtomicU64,
    pub(crate) denied: Mutex<BTreeSet<String>>,
    /// The tools that were judged, by the names that clients and services see.
    pub(crate) judged: Mutex<Vec<(String, String)>>,
    /// What each of them does.
    pub(crate) accesses: Mutex<Vec<(String, Access)>>,
    pub(crate) finished: Mutex<Vec<(Ticket, CallReport)>>,
}

#[async_trait]
impl Governor for RecordingGovernor {
    async fn judge(&self, call: &GatewayCall<'_>) -> Permit {
        self.judged.lock().push((call.tool.to_owned(), call.routed_tool.to_owned()));
        self.accesses.lock().push((call.tool.to_owned(), call.access));
        if self.denied.lock().contains(call.tool) {
            return Permit::Denied { reason: format!("{} is not allowed here", call.tool) };
        }
        Permit::Allowed(Ticket(self.next.fetch_add(1, Ordering::Relaxed)))
    }

    async fn finish(&self, ticket: Ticket, report: CallReport, _: Option<&RawValue>) {
        self.finished.lock().push((ticket, report));
    }
}

/// An endpoint over fixtures.
pub(crate) struct FixtureGateway {
    pub(crate) backend: Arc<FixtureBackend>,
    pub(crate) governor: Arc<RecordingGovernor>,
    pub(crate) endpoint: Arc<Endpoint>,
}

impl FixtureGateway {
    pub(crate) async fn start(services: &[(&str, FixtureEra)]) -> Self {
        Self::over(services.iter().map(|(name, era)| (*name, McpFixture::new(*era))).collect()).await
    }

    pub(crate) async fn over(services: Vec<(&str, McpFixture)>) -> Self {
        let backend = FixtureBackend::start(services).await;
        let governor = Arc::new(RecordingGovernor::default());
        let settings = EndpointSettings::new("0.0.0");
        let endpoint = Endpoint::new(backend.clone(), governor.clone(), settings).unwrap();
        Self { backend, governor, endpoint }
    }
}
