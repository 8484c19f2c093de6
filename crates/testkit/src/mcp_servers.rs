//! MCP servers without a process: a test says what they offer and how they fail.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use roost_gateway::era::Era;
use roost_gateway::lifecycle::ServiceFault;
use roost_gateway::principal::Principal;
use roost_gateway::services::Connect;
use roost_gateway::upstream::{
    ConnectError, ConnectTarget, Connected, FromServer, LogSource, LoginRequest, PendingLogin, ServerAnswer,
    ServerProfile, Upstream, UpstreamEnd, UpstreamError, UpstreamRequest,
};
use roost_model::ids::ServiceId;
use roost_model::service::manifest::ServiceOrigin;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, watch};

/// What comes of connecting to a server, or of asking it something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// It answers as it should.
    Answers,
    /// It fails with this fault.
    Fails(ServiceFault),
    /// Nothing ever comes.
    Hangs,
}

impl Behaviour {
    async fn play(self) -> Result<(), ConnectError> {
        match self {
            Self::Answers => Ok(()),
            Self::Fails(fault) => Err(ConnectError { fault, message: format!("it fails with {fault:?}") }),
            Self::Hangs => std::future::pending().await,
        }
    }
}

/// The pages of a list: from the cursor to the entries and the next cursor.
pub type Pages = Arc<dyn Fn(Option<&str>) -> (Vec<Value>, Option<String>) + Send + Sync>;

/// A server that a test tells what to do. Clones are the same server.
#[derive(Clone)]
pub struct FakeServer(Arc<State>);

struct State {
    connecting: Mutex<Behaviour>,
    listing: Mutex<Behaviour>,
    probing: Mutex<Behaviour>,
    calling: Mutex<Behaviour>,
    /// What comes of listing prompts; `None` if it has none.
    listing_prompts: Mutex<Option<Behaviour>>,
    /// Whether it has tools at all.
    has_tools: Mutex<bool>,
    /// Whether it says that its lists are for whoever asked alone.
    is_private: Mutex<bool>,
    /// Whether the local user is logged in at it.
    has_login: Mutex<bool>,
    tools: Mutex<Pages>,
    /// For how many milliseconds it says that a list is good.
    ttl: Mutex<Option<u64>>,
    connections: Mutex<Vec<Arc<FakeConnection>>>,
    /// How often somebody tried to connect.
    attempts: watch::Sender<u64>,
    /// How often tools were listed from the first page on.
    lists: watch::Sender<u64>,
    /// How often it was probed.
    probes: watch::Sender<u64>,
}

impl Default for FakeServer {
    fn default() -> Self {
        let answers = || Mutex::new(Behaviour::Answers);
        Self(Arc::new(State {
            connecting: answers(),
            listing: answers(),
            probing: answers(),
            calling: answers(),
            listing_prompts: Mutex::default(),
            has_tools: Mutex::new(true),
            is_private: Mutex::default(),
            has_login: Mutex::default(),
            tools: Mutex::new(Arc::new(|_| (vec![tool("echo", "says it")], None))),
            ttl: Mutex::default(),
            connections: Mutex::default(),
            attempts: watch::Sender::new(0),
            lists: watch::Sender::new(0),
            probes: watch::Sender::new(0),
        }))
    }
}

/// A tool as servers list it.
pub fn tool(name: &str, description: &str) -> Value {
    json!({ "name": name, "description": description, "inputSchema": { "type": "object" } })
}

impl FakeServer {
    /// What comes of connecting from now on.
    pub fn on_connect(&self, behaviour: Behaviour) {
        *self.0.connecting.lock() = behaviour;
    }

    /// What comes of listing tools from now on.
    pub fn on_list(&self, behaviour: Behaviour) {
        *self.0.listing.lock() = behaviour;
    }

    /// What comes of probes from now on.
    pub fn on_probe(&self, behaviour: Behaviour) {
        *self.0.probing.lock() = behaviour;
    }

    /// What comes of calls from now on.
    pub fn on_call(&self, behaviour: Behaviour) {
        *self.0.calling.lock() = behaviour;
    }

    /// Has a prompt from its next connection on, and this comes of listing it from now on.
    pub fn on_list_prompts(&self, behaviour: Behaviour) {
        *self.0.listing_prompts.lock() = Some(behaviour);
    }

    /// Has no tools from its next connection on.
    pub fn without_tools(&self) {
        *self.0.has_tools.lock() = false;
    }

    /// Says from now on that its lists are for whoever asked, who is logged in if `has_login`.
    pub fn keep_private(&self, has_login: bool) {
        (*self.0.is_private.lock(), *self.0.has_login.lock()) = (true, has_login);
    }

    /// Offers these tools from now on.
    pub fn offer(&self, tools: Vec<Value>) {
        self.offer_pages(Arc::new(move |_| (tools.clone(), None)));
    }

    /// Lists tools page by page.
    pub fn offer_pages(&self, pages: Pages) {
        *self.0.tools.lock() = pages;
    }

    /// Says from now on that a list is good for so many milliseconds.
    pub fn promise(&self, ttl: u64) {
        *self.0.ttl.lock() = Some(ttl);
    }

    /// Ends all connections, as a program that crashes does.
    pub fn crash(&self) {
        self.end(&UpstreamEnd::Failed(ServiceFault::Unreachable, "it was killed".into()));
    }

    /// Ends all connections, as a program that is done does.
    pub fn exit(&self) {
        self.end(&UpstreamEnd::Exited);
    }

    fn end(&self, end: &UpstreamEnd) {
        let connections = std::mem::take(&mut *self.0.connections.lock());
        connections.iter().for_each(|connection| drop(connection.end.send_replace(Some(end.clone()))));
    }

    /// Says something on every connection without being asked.
    pub async fn say(&self, method: &str) {
        let said: Vec<_> = self.0.connections.lock().iter().map(|connection| connection.unasked.clone()).collect();
        for unasked in said {
            let _ = unasked.send(FromServer { method: method.into(), params: None }).await;
        }
    }

    /// For whom connections are open.
    pub fn principals(&self) -> Vec<Principal> {
        let connections = self.0.connections.lock();
        let open = connections.iter().filter(|connection| connection.end.borrow().is_none());
        open.map(|connection| connection.principal.clone()).collect()
    }

    /// Returns when so many tried to connect.
    pub async fn attempted(&self, times: u64) {
        let _ = self.0.attempts.subscribe().wait_for(|attempts| *attempts >= times).await;
    }

    /// Returns when it was probed so often.
    pub async fn probed(&self, times: u64) {
        let _ = self.0.probes.subscribe().wait_for(|probes| *probes >= times).await;
    }

    /// Returns when the tools were listed so often.
    pub async fn listed(&self, times: u64) {
        let _ = self.0.lists.subscribe().wait_for(|lists| *lists >= times).await;
    }
}

/// The servers of a test, by endpoint or command.
#[derive(Clone, Default)]
pub struct FakeServers {
    servers: Arc<Mutex<HashMap<String, FakeServer>>>,
    forgotten: watch::Sender<Vec<ServiceId>>,
    /// Held while nothing can be forgotten.
    store: Arc<tokio::sync::Mutex<()>>,
}

impl FakeServers {
    /// The server at this endpoint or with this command; it is made when first named.
    pub fn at(&self, location: &str) -> FakeServer {
        self.servers.lock().entry(location.to_owned()).or_default().clone()
    }

    /// The services of which nothing is known any more.
    pub fn forgotten(&self) -> Vec<ServiceId> {
        self.forgotten.borrow().clone()
    }

    /// Waits until somebody wants a service to be forgotten.
    pub async fn until_forgotten(&self, service: &ServiceId) {
        let mut forgotten = self.forgotten.subscribe();
        // The sender is this one's own, so it stays.
        let _ = forgotten.wait_for(|all| all.contains(service)).await;
    }

    /// While this is held, what is to be forgotten is not forgotten yet.
    pub async fn hold_store(&self) -> tokio::sync::OwnedMutexGuard<()> {
        self.store.clone().lock_owned().await
    }
}

#[async_trait]
impl Connect for FakeServers {
    async fn connect(&self, target: &ConnectTarget<'_>) -> Result<Connected, ConnectError> {
        let location = match target.origin() {
            ServiceOrigin::RemoteMcp { endpoint, .. } => endpoint,
            ServiceOrigin::StdioMcp { command, .. } => command,
            ServiceOrigin::LocalWasm { wasm_path, .. } => wasm_path,
        };
        let server = self.at(location);
        server.0.attempts.send_modify(|attempts| *attempts += 1);
        let behaviour = server.0.connecting.lock().clone();
        target.log.progress("connecting");
        behaviour.play().await?;
        target.log.line(LogSource::Gateway, "connected");
        let (unasked, from_server) = mpsc::channel(8);
        let has_prompts = server.0.listing_prompts.lock().is_some();
        let capabilities = [("tools", *server.0.has_tools.lock()), ("prompts", has_prompts)];
        let capabilities = capabilities.into_iter().filter(|(_, has)| *has);
        let connection = Arc::new(FakeConnection {
            server: server.clone(),
            principal: target.principal.clone(),
            profile: ServerProfile {
                era: Era::Legacy("2025-11-25".into()),
                capabilities: capabilities.map(|(name, _)| (name.to_owned(), json!({}))).collect(),
                info: Some(json!({ "name": "fake", "version": "1" })),
                instructions: Some("Ask before you call me.".into()),
            },
            unasked,
            end: watch::Sender::new(None),
        });
        server.0.connections.lock().push(connection.clone());
        Ok(Connected { upstream: connection, unasked: from_server })
    }

    async fn probe(&self, upstream: &dyn Upstream) -> Result<(), ConnectError> {
        let client =
            roost_gateway::client_profile::ClientProfile { era: Era::Modern, capabilities: Map::new(), info: None };
        let patience = crate::DEADLINE;
        let request = UpstreamRequest { method: "ping", params: None, client: &client, patience, interjections: None };
        match upstream.call(request).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => {
                let fault = serde_json::from_str::<Value>(error.get()).unwrap()["data"].take();
                let faults = [ServiceFault::Timeout, ServiceFault::Unauthorized, ServiceFault::Unreachable];
                let fault = faults.into_iter().find(|one| fault == format!("{one:?}")).unwrap_or(ServiceFault::Broken);
                Err(ConnectError { fault, message: "the probe failed".into() })
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn begin_login(
        &self,
        _: &ServiceId,
        _: &ServiceOrigin,
        _: &Principal,
        _: LoginRequest,
    ) -> Result<PendingLogin, ConnectError> {
        Err(ConnectError { fault: ServiceFault::Unauthorized, message: "it knows no logins".into() })
    }

    async fn has_login(&self, _: &ServiceId, origin: &ServiceOrigin) -> bool {
        match origin {
            ServiceOrigin::RemoteMcp { endpoint, .. } => *self.at(endpoint).0.has_login.lock(),
            _ => false,
        }
    }

    async fn forget(&self, service: &ServiceId) -> Result<(), String> {
        self.forgotten.send_modify(|all| all.push(service.clone()));
        drop(self.store.lock().await);
        Ok(())
    }
}

struct FakeConnection {
    server: FakeServer,
    principal: Principal,
    profile: ServerProfile,
    unasked: mpsc::Sender<FromServer>,
    end: watch::Sender<Option<UpstreamEnd>>,
}

impl FakeConnection {
    async fn answer(&self, method: &str, params: Option<&RawValue>) -> Result<Value, ConnectError> {
        let state = &self.server.0;
        let params: Value = params.map(|params| serde_json::from_str(params.get()).unwrap()).unwrap_or_default();
        let play = |behaviour: &Mutex<Behaviour>| behaviour.lock().clone().play();
        match method {
            "tools/list" => {
                play(&state.listing).await?;
                let pages = state.tools.lock().clone();
                let cursor = params["cursor"].as_str();
                let (tools, next) = pages(cursor);
                if cursor.is_none() {
                    state.lists.send_modify(|lists| *lists += 1);
                }
                let mut page = json!({ "tools": tools });
                if let Some(next) = next {
                    page["nextCursor"] = next.into();
                }
                if let Some(ttl) = *state.ttl.lock() {
                    page["ttlMs"] = ttl.into();
                }
                Ok(page)
            }
            "prompts/list" => {
                let behaviour = state.listing_prompts.lock().clone().unwrap_or(Behaviour::Answers);
                behaviour.play().await?;
                let scope = if *state.is_private.lock() { "private" } else { "public" };
                Ok(json!({ "prompts": [{ "name": "greet" }], "cacheScope": scope }))
            }
            "ping" => {
                state.probes.send_modify(|probes| *probes += 1);
                play(&state.probing).await.map(|()| json!({}))
            }
            _ => {
                play(&state.calling).await?;
                Ok(json!({ "content": [{ "type": "text", "text": params["arguments"].to_string() }] }))
            }
        }
    }
}

#[async_trait]
impl Upstream for FakeConnection {
    fn profile(&self) -> &ServerProfile {
        &self.profile
    }

    async fn call(&self, request: UpstreamRequest<'_>) -> Result<ServerAnswer, UpstreamError> {
        let answered = tokio::time::timeout(request.patience, self.answer(request.method, request.params));
        let answered = tokio::select! {
            answered = answered => answered.map_err(|_| UpstreamError::Timeout(request.patience))?,
            _ = self.ended() => return Err(UpstreamError::Gone("it was killed".into())),
        };
        Ok(match answered {
            Ok(result) => Ok(to_raw_value(&result).unwrap()),
            Err(error) => {
                let data = format!("{:?}", error.fault);
                Err(to_raw_value(&json!({ "code": -32603, "message": error.message, "data": data })).unwrap())
            }
        })
    }

    async fn notify(&self, _method: &str, _params: Option<&RawValue>) -> Result<(), UpstreamError> {
        Ok(())
    }

    async fn ended(&self) -> UpstreamEnd {
        let mut end = self.end.subscribe();
        let ended = end.wait_for(Option::is_some).await;
        ended.ok().and_then(|end| end.clone()).unwrap_or(UpstreamEnd::Closed)
    }

    async fn close(&self) {
        self.end.send_if_modified(|end| {
            let is_open = end.is_none();
            end.get_or_insert(UpstreamEnd::Closed);
            is_open
        });
    }
}
