//! An MCP server that has everything the official conformance suite asks for, in the era that a test chooses.
//!
//! [`McpFixture`] answers requests, whatever carries them: a test may call it directly, or over [`lines`] or [`http`]. A
//! tool that needs something of the client asks for it in the words of the era: a legacy server sends a request, a modern
//! one answers `input_required`.

pub mod http;
pub mod lines;
mod lists;
mod prompts;
mod resources;
mod tasks;
mod tools;

use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use futures::future::try_join_all;
use serde_json::{Value, json};
use tokio::sync::broadcast;

/// The revision of each era.
pub const MODERN: &str = "2026-07-28";
/// The newest revision with a handshake.
pub const LEGACY: &str = "2025-11-25";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
/// A picture of one pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
/// A sound without samples.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

/// The era of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FixtureEra {
    /// With `initialize` and requests to the client.
    Legacy,
    /// Without a handshake.
    Modern,
}

/// The client of one request, as the server sees it.
#[async_trait]
pub trait FixtureClient: Send + Sync {
    /// Tells the client something during its request.
    async fn notify(&self, method: &str, params: Value);

    /// Asks the client of a legacy server for something.
    async fn ask(&self, method: &str, params: Value) -> Result<Value, Value>;
}

/// The server, with what its tools have changed so far.
pub struct McpFixture {
    era: FixtureEra,
    has_extra_tool: AtomicBool,
    has_extra_prompt: AtomicBool,
    /// Whether calls may run as tasks.
    has_tasks: bool,
    /// Whether every call asks the client for samples and never ends.
    asks_forever: bool,
    /// Whether a legacy client has a stream for what belongs to no request.
    has_stream: bool,
    /// What the server says outside of any request: the method and its parameters.
    said: broadcast::Sender<(&'static str, Value)>,
}

/// Why a request has no result: an error, or the client must give something first.
enum Stop {
    Error(Value),
    InputRequired(Value),
}

impl From<Value> for Stop {
    fn from(error: Value) -> Self {
        Self::Error(error)
    }
}

type Outcome = Result<Value, Stop>;

/// One request while it is being answered.
struct Exchange<'a> {
    fixture: &'a McpFixture,
    params: &'a Value,
    client: &'a dyn FixtureClient,
}

impl McpFixture {
    /// A server of this era.
    pub fn new(era: FixtureEra) -> Self {
        let (said, _) = broadcast::channel(64);
        let (has_extra_tool, has_extra_prompt) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { era, has_extra_tool, has_extra_prompt, has_tasks: false, asks_forever: false, has_stream: true, said }
    }

    /// The same server, whose calls may run as tasks.
    pub fn with_tasks(self) -> Self {
        Self { has_tasks: true, ..self }
    }

    /// The same server, whose calls ask the client for one sample after the other.
    pub fn asking_forever(self) -> Self {
        Self { asks_forever: true, ..self }
    }

    /// The same server, which says nothing over HTTP but in its answers.
    pub fn without_stream(self) -> Self {
        Self { has_stream: false, ..self }
    }

    /// The same server after one of its tools has added another tool.
    pub fn with_extra_tool(self) -> Self {
        Self { has_extra_tool: AtomicBool::new(true), ..self }
    }

    /// The era in which it answers.
    pub fn era(&self) -> FixtureEra {
        self.era
    }

    /// What the server says outside of any request.
    pub fn said(&self) -> broadcast::Receiver<(&'static str, Value)> {
        self.said.subscribe()
    }

    /// Says that a resource has changed.
    pub fn touch(&self, uri: &str) {
        self.say("notifications/resources/updated", json!({ "uri": uri }));
    }

    fn say(&self, method: &'static str, params: Value) {
        // Nobody may be connected.
        let _ = self.said.send((method, params));
    }

    /// What the server can do.
    pub fn capabilities(&self) -> Value {
        let mut all = json!({
            "tools": { "listChanged": true },
            "prompts": { "listChanged": true },
            "resources": { "listChanged": true, "subscribe": true },
            "completions": {},
        });
        if self.era == FixtureEra::Legacy {
            all["logging"] = json!({});
        }
        if self.has_tasks {
            tasks::add_capability(self.era, &mut all);
        }
        all
    }

    /// Its name and version.
    pub fn info(&self) -> Value {
        json!({ "name": "conformance-fixture", "version": "1.0.0" })
    }

    /// Answers a request with a result or an error object.
    pub async fn answer(&self, method: &str, params: &Value, client: &dyn FixtureClient) -> Result<Value, Value> {
        let exchange = Exchange { fixture: self, params, client };
        let is_modern = self.era == FixtureEra::Modern;
        let mut result = match exchange.answer(method).await {
            Ok(result) => result,
            Err(Stop::InputRequired(result)) => return Ok(result),
            Err(Stop::Error(error)) => return Err(error),
        };
        if is_modern {
            if result.get("resultType").is_none() {
                result["resultType"] = "complete".into();
            }
            if method.ends_with("/list") || ["resources/read", "server/discover"].contains(&method) {
                result["ttlMs"] = 0.into();
                result["cacheScope"] = "private".into();
            }
            result["_meta"]["io.modelcontextprotocol/serverInfo"] = self.info();
        }
        Ok(result)
    }
}

impl Exchange<'_> {
    async fn answer(&self, method: &str) -> Outcome {
        let is_modern = self.fixture.era == FixtureEra::Modern;
        match method {
            "initialize" if !is_modern => Ok(self.initialize()),
            "server/discover" if is_modern => {
                Ok(json!({ "supportedVersions": [MODERN], "capabilities": self.fixture.capabilities() }))
            }
            "subscriptions/listen" if is_modern => self.listen().await,
            "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" if !is_modern => {
                Ok(json!({}))
            }
            "tools/list" => Ok(lists::tools(self.fixture.has_extra_tool.load(Ordering::Relaxed))),
            "prompts/list" => Ok(lists::prompts(self.fixture.has_extra_prompt.load(Ordering::Relaxed))),
            "resources/list" => Ok(lists::resources()),
            "resources/templates/list" => Ok(lists::templates()),
            "tools/call" if self.fixture.asks_forever => self.ask_forever().await,
            "tools/call" if self.is_task() => Ok(self.begin_task()),
            "tools/call" => self.call_tool().await,
            "tasks/get" | "tasks/cancel" | "tasks/result" | "tasks/list" if self.fixture.has_tasks => {
                self.on_task(method)
            }
            "prompts/get" => self.get_prompt().await,
            "resources/read" => self.read_resource(),
            "completion/complete" => {
                Ok(json!({ "completion": { "values": ["paris", "park", "party"], "total": 3, "hasMore": false } }))
            }
            _ => Err(error(-32601, "Method not found").into()),
        }
    }

    fn initialize(&self) -> Value {
        let wanted = self.params["protocolVersion"].as_str().unwrap_or(LEGACY);
        let revision = if wanted < LEGACY { wanted } else { LEGACY };
        json!({
            "protocolVersion": revision,
            "capabilities": self.fixture.capabilities(),
            "serverInfo": self.fixture.info(),
        })
    }

    /// Tells of everything that the client wants to hear of, until it has enough.
    async fn listen(&self) -> Outcome {
        let filter = &self.params["notifications"];
        let mut said = self.fixture.said();
        let tagged = |mut params: Value| {
            params["_meta"][SUBSCRIPTION] = self.params["_meta"][SUBSCRIPTION].clone();
            params
        };
        let acknowledged = tagged(json!({ "notifications": filter }));
        self.client.notify("notifications/subscriptions/acknowledged", acknowledged).await;
        while let Ok((method, params)) = said.recv().await {
            let is_wanted = match method {
                "notifications/tools/list_changed" => filter["toolsListChanged"] == true,
                "notifications/prompts/list_changed" => filter["promptsListChanged"] == true,
                _ => filter["resourceSubscriptions"].as_array().is_some_and(|all| all.contains(&params["uri"])),
            };
            if is_wanted {
                self.client.notify(method, tagged(params)).await;
            }
        }
        Ok(json!({}))
    }

    /// Gets something of the client, in the words of the era.
    async fn input(&self, key: &str, method: &str, params: Value) -> Outcome {
        self.inputs(&[(key, method, params)], None).await.map(|mut answers| answers.remove(0))
    }

    /// Gets all of these of the client. A modern one must send the state back with its answers.
    async fn inputs(&self, wanted: &[(&str, &str, Value)], state: Option<&str>) -> Result<Vec<Value>, Stop> {
        if self.fixture.era == FixtureEra::Legacy {
            let asking = wanted.iter().map(|(_, method, params)| self.client.ask(method, params.clone()));
            return try_join_all(asking).await.map_err(Stop::Error);
        }
        let responses = &self.params["inputResponses"];
        let answers: Vec<_> =
            wanted.iter().filter_map(|(key, ..)| responses.get(key).filter(|answer| answer.is_object())).collect();
        if answers.len() == wanted.len() && state.is_none_or(|state| self.params["requestState"] == state) {
            return Ok(answers.into_iter().cloned().collect());
        }
        let requests = wanted
            .iter()
            .map(|(key, method, params)| ((*key).to_owned(), json!({ "method": method, "params": params })));
        let requests: serde_json::Map<_, _> = requests.collect();
        let mut result = json!({ "resultType": "input_required", "inputRequests": requests });
        if let Some(state) = state {
            result["requestState"] = state.into();
        }
        Err(Stop::InputRequired(result))
    }

    async fn ask_forever(&self) -> Outcome {
        let (method, params) = ("sampling/createMessage", tools::sampling("What next?", 10));
        if self.fixture.era == FixtureEra::Modern {
            let requests = json!({ "next": { "method": method, "params": params } });
            return Err(Stop::InputRequired(json!({ "resultType": "input_required", "inputRequests": requests })));
        }
        loop {
            self.client.ask(method, params.clone()).await?;
        }
    }

    /// Whether a modern client said that it can do this.
    fn can(&self, capability: &str) -> bool {
        self.params["_meta"][CAPABILITIES].get(capability).is_some()
    }
}

fn error(code: i64, message: &str) -> Value {
    json!({ "code": code, "message": message })
}

fn text(text: impl Into<String>) -> Value {
    json!({ "content": [{ "type": "text", "text": text.into() }] })
}

fn question(message: &str, field: &str) -> Value {
    let schema = json!({ "type": "object", "properties": { field: { "type": "string" } }, "required": [field] });
    json!({ "message": message, "requestedSchema": schema })
}
