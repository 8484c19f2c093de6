//! What scenes through the door have in common: other ways in, turns that run, and doors that open again.

use std::sync::Arc;

use roost_engine::Engine;
use roost_engine::adapter::Availability;
use roost_log::{LogOptions, SqliteLog};
use roost_model::event::NormalizedEventType;
use roost_model::registry::RuntimeStatus;
use roost_model::runtime::ResumeModel;
use roost_server::{Limits, Settings};
use serde_json::{Value, json};
use testkit::fake::{FakeAdapter, FakeRuntimes, FakeSession, FakeTask};
use testkit::{Harness, Home, soon};
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::{HeaderMap, HeaderName};

use crate::kit::{Client, Door};

/// No limit on how often anything is called.
pub(crate) fn unlimited(settings: &mut Settings) {
    settings.limits =
        Limits { changes_per_minute: 0, starts_per_minute: 0, reads_per_minute: 0, ..settings.limits.clone() };
}

/// A session in which an agent works, as the test plays it.
pub(crate) struct Scene {
    pub(crate) session: String,
    pub(crate) workspace: String,
    pub(crate) runtime: FakeSession,
    pub(crate) agent: FakeTask,
}

impl Door {
    /// A client's new session in the default workspace, with an agent at work that the client watches.
    pub(crate) async fn scene(&mut self, client: &mut Client) -> Scene {
        let workspace = self.workspace().await;
        let start = json!({ "workspace_id": workspace, "mode": "new" });
        let started = client.call("session/start", start).await.unwrap();
        let session = started["session_id"].as_str().unwrap().to_owned();
        client.call("session/watch", json!({ "session_id": session })).await.unwrap();
        client.call("session/send", json!({ "session_id": session, "prompt": "go" })).await.unwrap();
        let (runtime, agent) = self.runtimes().task().await;
        // By then the runtime's own id is known too.
        self.harness.wait_for(&session.as_str().into(), NormalizedEventType::ModelInput).await;
        Scene { session, workspace, runtime, agent }
    }

    /// An HTTP request with these headers; `Host: localhost` unless another is named. The status, head and body.
    pub(crate) async fn http(&self, line: &str, headers: &[(&str, &str)], body: &str) -> (u16, String, String) {
        let mut head = format!("{line} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            head += "Host: localhost\r\n";
        }
        if !body.is_empty() {
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        self.raw(&format!("{head}\r\n{body}")).await
    }

    /// A call over HTTP: the status and what was answered.
    pub(crate) async fn rpc(&self, token: &str, method: &str, params: Value) -> (u16, Value) {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.post("/api/rpc", Some(token), &call).await
    }

    /// A WebSocket asked for with these headers: it and the answer's headers, or the status of the refusal.
    pub(crate) async fn upgrade(&self, path: &str, headers: &[(&str, &str)]) -> Result<(Client, HeaderMap), u16> {
        let mut request = format!("ws://{}{path}", self.address).into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(HeaderName::try_from(*name).unwrap(), value.parse().unwrap());
        }
        match tokio_tungstenite::connect_async(request).await {
            Ok((socket, answer)) => Ok((Client::over(socket), answer.headers().clone())),
            Err(Error::Http(refusal)) => Err(refusal.status().as_u16()),
            Err(error) => panic!("{error}"),
        }
    }

    /// Another door over the same engine.
    pub(crate) async fn reopened(self) -> Self {
        Self::over(self.close().await, |_| {}).await
    }

    /// The whole daemon, stopped in order and started again.
    pub(crate) async fn restarted(self) -> Self {
        let home = self.close().await.stop().await;
        Self::over(home.start().await, |_| {}).await
    }

    /// A door with a second runtime, `other`, of this status and found like this.
    pub(crate) async fn with_other(status: RuntimeStatus, found: Availability) -> (Self, FakeRuntimes) {
        let home = Home::new();
        let (other, others) = FakeAdapter::named("other", ResumeModel::Native);
        other.is_found(Some(found));
        let mut runtimes = home.runtimes();
        runtimes.register(other, status);
        let log = SqliteLog::open(&home.lock().await, LogOptions::default()).unwrap();
        let engine = Engine::start(Arc::new(log.clone()), runtimes, home.config(|_| {})).await.unwrap();
        let harness = Harness { engine: Arc::new(engine), log, home };
        (Self::over(harness, unlimited).await, others)
    }
}

impl Client {
    /// The next message that is an answer and no event.
    pub(crate) async fn reply(&mut self) -> Value {
        loop {
            let message = self.next().await;
            if message.get("method").is_none() {
                return message;
            }
            self.events.push(message);
        }
    }

    /// The names and parameters of all events up to the next one of this name, that one included.
    pub(crate) async fn until(&mut self, last: &str) -> Vec<(String, Value)> {
        let mut all = Vec::new();
        let found = async {
            loop {
                let message = if self.events.is_empty() { self.next().await } else { self.events.remove(0) };
                let method = message["method"].as_str().unwrap_or_default();
                let Some(name) = method.strip_prefix("event/") else { continue };
                all.push((name.to_owned(), message["params"].clone()));
                if name == last {
                    return;
                }
            }
        };
        soon(last, found).await;
        all
    }

    /// This connection's id.
    pub(crate) async fn id(&mut self) -> String {
        self.hello().await["clientId"].as_str().unwrap().to_owned()
    }
}

/// The names of these events.
pub(crate) fn names(events: &[(String, Value)]) -> Vec<&str> {
    events.iter().map(|(name, _)| name.as_str()).collect()
}

/// The events of this name among these.
pub(crate) fn events_named<'a>(events: &'a [(String, Value)], wanted: &str) -> Vec<&'a Value> {
    events.iter().filter(|(name, _)| name == wanted).map(|(_, params)| params).collect()
}
