//! A door over the fake runtime, and clients that come through it.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use futures::{SinkExt, StreamExt};
use roost_gateway::bootstrap::{Bootstrap, SettingsFolders};
use roost_gateway::clarity::Compiler;
use roost_gateway::endpoint::{Endpoint, EndpointSettings};
use roost_gateway::governance::{EngineGovernor, GovernanceOptions};
use roost_gateway::governor::Governor;
use roost_gateway::own_tools::WithOwnTools;
use roost_gateway::runs::{AgentCalls, RunMessages, Runs};
use roost_gateway::secrets::Secrets;
use roost_gateway::services::{ServiceOptions, Services};
use roost_log::Log;
use roost_model::scope::Scope;
use roost_process::{Environment, Holder, Ladder};
use roost_server::{ControlParts, Parts, Server, Settings, Tcp};
use serde_json::{Value, json};
use testkit::fake::FakeRuntimes;
use testkit::mcp_servers::FakeServers;
use testkit::{Harness, soon};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpStream, UnixStream};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use crate::sound;

/// A running door and the engine behind it.
pub(crate) struct Door {
    pub(crate) harness: Harness,
    pub(crate) server: Server,
    pub(crate) address: SocketAddr,
    pub(crate) services: Arc<Services>,
    /// The servers behind the services.
    pub(crate) servers: FakeServers,
}

/// What is behind `/mcp`.
enum Behind {
    Nothing,
    Endpoint(Arc<Endpoint>),
    /// The services of the door and the gateway's own tools.
    OwnTools {
        governor: Arc<dyn Governor>,
        provisioning: bool,
    },
}

impl Door {
    /// A door with the usual limits.
    pub(crate) async fn open() -> Self {
        Self::open_with(|_| {}).await
    }

    /// A door with other settings.
    pub(crate) async fn open_with(configure: impl FnOnce(&mut Settings)) -> Self {
        Self::over(Harness::start().await, configure).await
    }

    /// A door over this engine.
    pub(crate) async fn over(harness: Harness, configure: impl FnOnce(&mut Settings)) -> Self {
        let log = Arc::new(harness.log.clone());
        Self::over_log(harness, log, configure).await
    }

    /// A door over this engine that reads another log than the harness, such as one that counts.
    pub(crate) async fn over_log(harness: Harness, log: Arc<dyn Log>, configure: impl FnOnce(&mut Settings)) -> Self {
        Self::start(harness, log, Behind::Nothing, configure).await
    }

    /// A door over this engine whose gateway has its own tools, with nothing but this governor before them.
    pub(crate) async fn over_with_own_tools(
        harness: Harness,
        governor: Arc<dyn Governor>,
        configure: impl FnOnce(&mut Settings),
    ) -> Self {
        let log = Arc::new(harness.log.clone());
        Self::start(harness, log, Behind::OwnTools { governor, provisioning: true }, configure).await
    }

    /// The same where nobody has set `CLARITY_ENABLE_MCP_PROVISIONING`.
    pub(crate) async fn without_provisioning(harness: Harness, governor: Arc<dyn Governor>) -> Self {
        let log = Arc::new(harness.log.clone());
        Self::start(harness, log, Behind::OwnTools { governor, provisioning: false }, |_| {}).await
    }

    /// A door with an MCP gateway.
    pub(crate) async fn open_with_gateway(gateway: Arc<Endpoint>, configure: impl FnOnce(&mut Settings)) -> Self {
        Self::over_with_gateway(Harness::start().await, gateway, configure).await
    }

    /// A door over this engine with an MCP gateway.
    pub(crate) async fn over_with_gateway(
        harness: Harness,
        gateway: Arc<Endpoint>,
        configure: impl FnOnce(&mut Settings),
    ) -> Self {
        let log = Arc::new(harness.log.clone());
        Self::start(harness, log, Behind::Endpoint(gateway), configure).await
    }

    async fn start(harness: Harness, log: Arc<dyn Log>, behind: Behind, configure: impl FnOnce(&mut Settings)) -> Self {
        let home = harness.home.path();
        let (state, repo) = (home.join("state"), home.join("repo"));
        for folder in [&state, &repo] {
            std::fs::create_dir_all(folder).unwrap();
        }
        let mut settings = Settings {
            tcp: Some(Tcp { address: ([127, 0, 0, 1], 0).into(), tls: None, external_url: None }),
            socket: state.join("roost.sock"),
            repo: Some(repo.clone()),
            workspace_roots: vec![home.to_owned()],
            ..Settings::default()
        };
        configure(&mut settings);
        let folders =
            SettingsFolders { home: home.to_owned(), config: home.join(".config"), codex: None, claude: None };
        let bootstrap = Bootstrap { folders, command: "roost".into(), state: None, project: Some(repo.clone()) };
        let secrets = Arc::new(Secrets::new(state.join("secrets"), |_| None));
        let servers = FakeServers::default();
        let (connect, options) = (Arc::new(servers.clone()), ServiceOptions::default());
        let services = Arc::new(Services::start(log.clone(), connect, options, "0.0.0").await.unwrap());
        let runs = Arc::new(Runs::new(log.clone(), None));
        let governor = EngineGovernor::new(harness.engine.clone(), log.clone(), GovernanceOptions::default());
        let own = Endpoint::new(services.clone(), Arc::new(governor), EndpointSettings::new("0.0.0")).unwrap();
        let run_messages = Arc::new(RunMessages::new(services.clone(), runs.clone(), AgentCalls::new(own)));
        let provisioning = matches!(behind, Behind::OwnTools { provisioning: true, .. });
        let (gateway, offered) = match behind {
            Behind::Nothing => (None, None),
            Behind::Endpoint(endpoint) => (Some(endpoint), None),
            Behind::OwnTools { governor, .. } => {
                let own = Arc::new(WithOwnTools::new(services.clone()));
                let endpoint = Endpoint::new(own.clone(), governor, EndpointSettings::new("0.0.0")).unwrap();
                (Some(endpoint), Some(own))
            }
        };
        let compiler = Compiler {
            program: home.join("clarityc").into(),
            holder: Arc::new(Holder {
                program: "false".into(),
                args: Vec::new(),
                records: home.join("run"),
                ladder: Ladder::default(),
                wall: None,
            }),
            environment: Environment::default(),
        };
        let control =
            ControlParts { provisioning, offered, compiler, installer: Err("installs are off"), root: repo.clone() };
        let parts = Parts {
            engine: harness.engine.clone(),
            clients: Arc::default(),
            log,
            state,
            version: "0.0.0".into(),
            services: services.clone(),
            gateway,
            runs,
            run_messages,
            secrets,
            bootstrap,
            control,
        };
        let server = Server::start(parts, settings).await.unwrap();
        let address = server.address().unwrap_or_else(|| ([127, 0, 0, 1], 0).into());
        Self { harness, server, address, services, servers }
    }

    /// The runtime as the test plays it.
    pub(crate) fn runtimes(&mut self) -> &mut FakeRuntimes {
        self.harness.runtimes()
    }

    /// A new device's access token.
    pub(crate) async fn token(&self) -> String {
        self.pair(None).await["access_token"].as_str().unwrap().to_owned()
    }

    /// Pairs a new device and returns its tokens.
    pub(crate) async fn pair(&self, scope: Option<Scope>) -> Value {
        let mut local = self.local().await;
        let offer = local.call("pair/create", json!({ "scope": scope })).await.unwrap();
        let body = json!({ "pairing_token": offer["token"] });
        let (status, tokens) = self.post("/api/auth/exchange", None, &body).await;
        assert_eq!(status, 200, "{tokens}");
        tokens
    }

    /// A paired client over a WebSocket that has said hello.
    pub(crate) async fn client(&self) -> Client {
        let mut client = self.connect(&self.token().await).await.unwrap();
        client.hello().await;
        client
    }

    /// A client over a WebSocket with this token.
    pub(crate) async fn connect(&self, token: &str) -> Result<Client, Error> {
        let mut request = format!("ws://{}/ws", self.address).into_client_request().unwrap();
        request.headers_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
        Ok(Client::over(tokio_tungstenite::connect_async(request).await?.0))
    }

    /// A client over the local socket that has said hello.
    pub(crate) async fn local(&self) -> Client {
        let mut client = Self::knock(self.server.socket()).await;
        client.hello().await;
        client
    }

    async fn knock(socket: &Path) -> Client {
        let stream = BufReader::new(UnixStream::connect(socket).await.unwrap());
        Client { wire: Wire::Lines(stream), next_id: 0, events: Vec::new() }
    }

    /// The default workspace's id.
    pub(crate) async fn workspace(&self) -> String {
        let list = self.local().await.call("workspace/list", json!({})).await.unwrap();
        list["workspaces"][0]["id"].as_str().unwrap().to_owned()
    }

    /// Sends JSON over HTTP; the answer's status and body.
    pub(crate) async fn post(&self, path: &str, token: Option<&str>, body: &Value) -> (u16, Value) {
        let authorization = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
        let body = body.to_string();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\n{authorization}Content-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        let (status, _, body) = self.raw(&head).await;
        (status, serde_json::from_str(&body).unwrap_or(Value::String(body)))
    }

    /// Fetches over HTTP; the answer's status and body.
    pub(crate) async fn get(&self, path: &str, token: Option<&str>) -> (u16, String) {
        let authorization = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
        let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{authorization}Connection: close\r\n\r\n");
        let (status, _, body) = self.raw(&head).await;
        (status, body)
    }

    /// Sends bytes as they are; the answer's status, head and body.
    pub(crate) async fn raw(&self, request: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        soon("an HTTP answer", tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut answer)).await.unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, head.to_lowercase(), unchunked(head, body))
    }

    /// Closes the door; the engine stays.
    pub(crate) async fn close(self) -> Harness {
        self.server.stop().await;
        self.services.shut_down().await;
        self.harness
    }
}

/// The body without the lengths of its chunks.
fn unchunked(head: &str, body: &str) -> String {
    if !head.to_lowercase().contains("transfer-encoding: chunked") {
        return body.to_owned();
    }
    body.split("\r\n").skip(1).step_by(2).collect()
}

enum Wire {
    Socket(Box<WebSocketStream<MaybeTlsStream<TcpStream>>>),
    Lines(BufReader<UnixStream>),
}

/// One connection, over whichever transport.
pub(crate) struct Client {
    wire: Wire,
    next_id: u64,
    /// Messages that came while an answer was waited for.
    pub(crate) events: Vec<Value>,
}

impl Client {
    /// A client over this socket.
    pub(crate) fn over(socket: WebSocketStream<MaybeTlsStream<TcpStream>>) -> Self {
        Self { wire: Wire::Socket(Box::new(socket)), next_id: 0, events: Vec::new() }
    }

    /// Says hello; what the server says of itself.
    pub(crate) async fn hello(&mut self) -> Value {
        self.call("initialize", json!({ "client_info": { "name": "test", "version": "1" } })).await.unwrap()
    }

    /// Calls a method; its result or its error.
    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.ask(method, params).await;
        self.answer(id).await
    }

    /// Calls a method without waiting for its answer.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()).await;
        id
    }

    /// The answer to an earlier call.
    pub(crate) async fn answer(&mut self, id: u64) -> Result<Value, Value> {
        let message = match self.events.iter().position(|message| message["id"] == json!(id)) {
            Some(at) => self.events.remove(at),
            None => loop {
                let message = self.next().await;
                if message["id"] == json!(id) {
                    break message;
                }
                self.events.push(message);
            },
        };
        match message.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(message["result"].clone()),
        }
    }

    /// The next notification of this name, with others before it passed over.
    pub(crate) async fn event(&mut self, name: &str) -> Value {
        let is_it = |message: &Value| message["method"] == format!("event/{name}");
        if let Some(at) = self.events.iter().position(is_it) {
            self.events.drain(..at);
            return self.events.remove(0)["params"].clone();
        }
        self.events.clear();
        let found = async {
            loop {
                let message = self.next().await;
                if is_it(&message) {
                    return message["params"].clone();
                }
            }
        };
        // Heartbeats come for ever; the event must come soon.
        soon(name, found).await
    }

    /// The next normalized events up to one of this type, and the cursor after them.
    pub(crate) async fn events_until(&mut self, last: &str) -> (Vec<Value>, String) {
        let mut all = Vec::new();
        loop {
            let batch = self.event("batch").await;
            all.extend(batch["events"].as_array().unwrap().clone());
            if all.iter().any(|event| event["type"] == last) {
                return (all, batch["cursor"].as_str().unwrap().to_owned());
            }
        }
    }

    /// Sends a frame as it is.
    pub(crate) async fn send(&mut self, text: &str) {
        match &mut self.wire {
            Wire::Socket(socket) => socket.send(Message::text(text)).await.unwrap(),
            Wire::Lines(stream) => stream.get_mut().write_all(format!("{text}\n").as_bytes()).await.unwrap(),
        }
    }

    /// Sends bytes as they are, to the local socket.
    pub(crate) async fn send_bytes(&mut self, bytes: &[u8]) {
        match &mut self.wire {
            Wire::Lines(stream) => stream.get_mut().write_all(bytes).await.unwrap(),
            Wire::Socket(_) => panic!("it is a WebSocket"),
        }
    }

    /// The WebSocket, for tests that go below the protocol.
    pub(crate) fn socket(&mut self) -> &mut WebSocketStream<MaybeTlsStream<TcpStream>> {
        match &mut self.wire {
            Wire::Socket(socket) => socket,
            Wire::Lines(_) => panic!("it is a local client"),
        }
    }

    /// The next message; panics when the connection is closed.
    pub(crate) async fn next(&mut self) -> Value {
        match soon("a message", self.next_or_close()).await {
            Ok(message) => message,
            Err(close) => panic!("the connection was closed: {close:?}"),
        }
    }

    /// The next message, or the code and reason with which the connection was closed.
    pub(crate) async fn next_or_close(&mut self) -> Result<Value, Option<(u16, String)>> {
        match &mut self.wire {
            Wire::Lines(stream) => {
                let mut line = String::new();
                match stream.read_line(&mut line).await {
                    Ok(0) | Err(_) => Err(None),
                    Ok(_) => Ok(sound::message(line.trim_end())),
                }
            }
            Wire::Socket(socket) => loop {
                match socket.next().await {
                    Some(Ok(Message::Text(text))) => return Ok(sound::message(&text)),
                    Some(Ok(Message::Close(frame))) => {
                        return Err(frame.map(|frame| (frame.code.into(), frame.reason.to_string())));
                    }
                    Some(Ok(_)) => {}
                    None | Some(Err(_)) => return Err(None),
                }
            },
        }
    }

    /// Reads on until the connection is closed: its code and reason.
    pub(crate) async fn closed(&mut self) -> Option<(u16, String)> {
        let reading = async {
            loop {
                if let Err(close) = self.next_or_close().await {
                    return close;
                }
            }
        };
        soon("the connection is closed", reading).await
    }
}
