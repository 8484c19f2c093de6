//! A connector in a scratch directory.

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use roost_gateway::client_profile::ClientProfile;
use roost_gateway::era::{Era, NEWEST_LEGACY};
use roost_gateway::principal::Principal;
use roost_gateway::upstream::{
    AddressPolicy, ConnectError, ConnectTarget, Connected, Connector, ConnectorSettings, DefaultLimits, Interjection,
    LogSource, LoginKey, LoginStore, ServerAnswer, ServiceLog, Upstream, UpstreamError, UpstreamRequest, WasmSettings,
};
use roost_model::ids::ServiceId;
use roost_model::secret::Secret;
use roost_model::service::manifest::Manifest;
use roost_process::{Environment, Holder, Ladder};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::agents;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;

pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A connector, and what it logged.
pub(crate) struct Gateway {
    _directory: TempDir,
    pub(crate) connector: Arc<Connector>,
    pub(crate) log: Arc<Log>,
}

/// The lines of all services.
#[derive(Default)]
pub(crate) struct Log(Mutex<Vec<(LogSource, String)>>);

impl ServiceLog for Log {
    fn line(&self, source: LogSource, text: &str) {
        self.0.lock().push((source, text.to_owned()));
    }
}

impl Log {
    pub(crate) fn has(&self, source: LogSource, part: &str) -> bool {
        self.0.lock().iter().any(|(wrote, line)| *wrote == source && line.contains(part))
    }
}

/// Logins in memory.
#[derive(Default)]
struct Logins(Mutex<HashMap<LoginKey, Secret>>);

#[async_trait]
impl LoginStore for Logins {
    async fn load(&self, key: &LoginKey) -> Result<Option<Secret>, String> {
        Ok(self.0.lock().get(key).cloned())
    }

    async fn save(&self, key: &LoginKey, login: Secret) -> Result<(), String> {
        self.0.lock().insert(key.clone(), login);
        Ok(())
    }

    async fn remove(&self, key: &LoginKey) -> Result<(), String> {
        self.0.lock().remove(key);
        Ok(())
    }

    async fn remove_all(&self, service: &ServiceId) -> Result<(), String> {
        self.0.lock().retain(|key, _| key.service != *service);
        Ok(())
    }
}

impl Gateway {
    pub(crate) fn new() -> Self {
        Self::with_wasm(|_| {})
    }

    /// A connector whose modules run under other settings.
    pub(crate) fn with_wasm(change: impl FnOnce(&mut WasmSettings)) -> Self {
        Self::with_settings(|settings| change(&mut settings.wasm))
    }

    /// A connector with other settings.
    pub(crate) fn with_settings(change: impl FnOnce(&mut ConnectorSettings)) -> Self {
        let directory = TempDir::new().unwrap();
        let mut wasm = WasmSettings::new(directory.path().join("wasm"));
        // Each test is a process of its own, and several run at once.
        wasm.host.max_instances = 8;
        let holder = Holder {
            program: probe_program().into(),
            args: vec!["hold".into()],
            records: directory.path().join("records"),
            ladder: Ladder::default(),
            wall: None,
        };
        let mut environment = Environment::default();
        environment.set("PATH", agents::bin());
        environment.set("HOME", directory.path());
        let mut settings = ConnectorSettings {
            holder,
            environment,
            work_dir: directory.path().into(),
            secrets: directory.path().join("secrets"),
            variable: Arc::new(|name| (name == "TEST_TOKEN").then(|| "s3cret".to_owned())),
            limits: DefaultLimits::default(),
            addresses: AddressPolicy::default(),
            logins: Arc::new(Logins::default()),
            wasm,
        };
        change(&mut settings);
        let connector = Arc::new(Connector::new(settings).unwrap());
        Self { _directory: directory, connector, log: Arc::default() }
    }

    pub(crate) async fn connect(&self, origin: Value) -> Result<Connected, ConnectError> {
        self.connect_as(origin, &client(json!({}))).await
    }

    pub(crate) async fn connect_as(&self, origin: Value, client: &ClientProfile) -> Result<Connected, ConnectError> {
        let manifest: Manifest = serde_json::from_value(json!({
            "apiVersion": "clarity.runtime/v1", "kind": "MCPService",
            "metadata": { "sourceFile": "test", "module": "test", "serviceType": "mcp" },
            "spec": {
                "origin": origin, "enabled": true, "autostart": true, "restartPolicy": { "mode": "never" },
                "policyRef": "default",
            },
        }))
        .unwrap();
        let service = "svc_000000000000".into();
        let (principal, log) = (&Principal::Local, self.log.clone());
        self.connector.connect(&ConnectTarget { service: &service, manifest: &manifest, principal, client, log }).await
    }
}

/// The program that plays holders and bad servers: an example of this crate, because those are built for tests and never
/// shipped.
pub(crate) fn probe_program() -> String {
    example("gateway-probe")
}

/// The path of an example of this crate.
pub(crate) fn example(name: &str) -> String {
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().join("examples").join(name).into_os_string().into_string().unwrap()
}

/// A legacy client that can do this.
pub(crate) fn client(capabilities: Value) -> ClientProfile {
    let Value::Object(capabilities) = capabilities else { panic!("{capabilities}") };
    ClientProfile { era: Era::Legacy(NEWEST_LEGACY.into()), capabilities, info: None }
}

pub(crate) fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).unwrap()
}

/// Calls a method and returns what the server answered.
pub(crate) async fn call(upstream: &dyn Upstream, method: &str, params: Value) -> Result<ServerAnswer, UpstreamError> {
    let (client, params) = (client(json!({})), raw(&params));
    let request =
        UpstreamRequest { method, params: Some(&params), client: &client, patience: PATIENCE, interjections: None };
    upstream.call(request).await
}

/// Calls a method that must succeed.
pub(crate) async fn result(upstream: &dyn Upstream, method: &str, params: Value) -> Value {
    serde_json::from_str(call(upstream, method, params).await.unwrap().unwrap().get()).unwrap()
}

/// Calls a method that must succeed; each word of the server in the middle of it gets the answer that `on` gives.
pub(crate) async fn converse(
    upstream: &dyn Upstream,
    client: &ClientProfile,
    method: &str,
    params: Value,
    mut on: impl FnMut(&str, Value) -> Option<Value>,
) -> Value {
    let (sender, mut interjections) = mpsc::channel(16);
    let params = raw(&params);
    let interject = Some(sender);
    let request =
        UpstreamRequest { method, params: Some(&params), client, patience: PATIENCE, interjections: interject };
    let calling = upstream.call(request);
    let listening = async {
        while let Some(interjection) = interjections.recv().await {
            let value =
                |params: Option<Box<RawValue>>| params.map_or(Value::Null, |p| serde_json::from_str(p.get()).unwrap());
            match interjection {
                Interjection::Notification { method, params } => drop(on(&method, value(params))),
                Interjection::Request { method, params, reply } => {
                    if let Some(answer) = on(&method, value(params)) {
                        reply.send(Ok(raw(&answer))).unwrap();
                    }
                }
            }
        }
    };
    let (answer, ()) = tokio::join!(calling, listening);
    serde_json::from_str(answer.unwrap().unwrap().get()).unwrap()
}

/// A server of others that runs beside the test.
pub(crate) struct Beside {
    pub(crate) port: u16,
    child: Child,
}

impl Beside {
    /// Starts `server-everything` with a transport over HTTP and waits until it listens.
    pub(crate) async fn everything(transport: &str) -> Self {
        let port = free_port();
        let mut child = Command::new(agents::program("node"))
            .arg(everything())
            .arg(transport)
            .env_clear()
            .env("PORT", port.to_string())
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        while let Some(line) = lines.next_line().await.unwrap() {
            if line.contains(&port.to_string()) {
                tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
                return Self { port, child };
            }
        }
        panic!("server-everything did not start");
    }

    /// Kills the server at once.
    pub(crate) async fn kill(&mut self) {
        self.child.kill().await.unwrap();
    }
}

/// The script of `server-everything`.
pub(crate) fn everything() -> String {
    let script = agents::mcp_tools().join("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    script.into_os_string().into_string().unwrap()
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
