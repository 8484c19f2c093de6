//! The gateway's connections as the official conformance suite wants to see a client: it gets the address of a server,
//! logs in if it must, and uses every tool, prompt and resource that the server lists.

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::join_all;
use parking_lot::Mutex;
use roost_gateway::client_profile::ClientProfile;
use roost_gateway::era::Era;
use roost_gateway::lifecycle::ServiceFault;
use roost_gateway::principal::Principal;
use roost_gateway::upstream::{
    AddressPolicy, ConnectTarget, Connected, Connector, ConnectorSettings, DefaultLimits, Interjection, LogSource,
    LoginKey, LoginRequest, LoginStore, ServiceLog, Upstream, UpstreamError, UpstreamRequest, WasmSettings,
};
use roost_model::ids::ServiceId;
use roost_model::secret::Secret;
use roost_model::service::manifest::Manifest;
use roost_process::{Environment, Holder, Ladder};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const PATIENCE: Duration = Duration::from_secs(60);
/// How often a login is tried before the server counts as one that lets nobody in.
const MAX_LOGINS: usize = 3;
/// How often a call is answered when it needs more input.
const MAX_ROUNDS: usize = 16;
const REDIRECT_URI: &str = "http://127.0.0.1:33418/callback";
/// The suite knows clients with this address as ones that describe themselves in a document.
const CLIENT_DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

struct Client {
    connector: Connector,
    service: ServiceId,
    manifest: Manifest,
    profile: ClientProfile,
    context: Value,
}

async fn run() -> Outcome {
    let endpoint = std::env::args().next_back().ok_or("usage: conformance-client URL")?;
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_else(|_| "{}".into());
    let origin = json!({ "type": "remote_mcp", "endpoint": endpoint, "transport": "streamable_http" });
    let manifest = json!({
        "apiVersion": "clarity.runtime/v1", "kind": "MCPService",
        "metadata": { "sourceFile": endpoint, "module": "suite", "serviceType": "mcp" },
        "spec": {
            "origin": origin, "enabled": true, "autostart": true, "restartPolicy": { "mode": "never" },
            "policyRef": "default",
        },
    });
    let capabilities = json!({ "elicitation": { "form": {} }, "sampling": {}, "roots": {} });
    let holder =
        Holder { program: "false".into(), args: vec![], records: "/".into(), ladder: Ladder::default(), wall: None };
    let client = Client {
        connector: Connector::new(ConnectorSettings {
            holder,
            environment: Environment::default(),
            work_dir: "/".into(),
            secrets: "/".into(),
            variable: Arc::new(|_| None),
            limits: DefaultLimits::default(),
            addresses: AddressPolicy::default(),
            logins: Arc::new(MemoryLogins::default()),
            wasm: WasmSettings::new("/".into()),
        })?,
        service: "svc_000000000000".into(),
        manifest: serde_json::from_value(manifest)?,
        profile: ClientProfile { era: Era::Modern, capabilities: object(capabilities), info: None },
        context: serde_json::from_str(&context)?,
    };
    let connected = client.connect().await?;
    let outcome = client.use_everything(&*connected.upstream).await;
    connected.upstream.close().await;
    outcome
}

impl Client {
    async fn connect(&self) -> Outcome<Connected> {
        let target = ConnectTarget {
            service: &self.service,
            manifest: &self.manifest,
            principal: &Principal::Local,
            client: &self.profile,
            log: Arc::new(StderrLog),
        };
        for _ in 0..MAX_LOGINS {
            match self.connector.connect(&target).await {
                Err(error) if error.fault == ServiceFault::Unauthorized => self.log_in().await?,
                connected => return Ok(connected?),
            }
        }
        Ok(self.connector.connect(&target).await?)
    }

    /// Logs in as a person would, by opening the address; the suite's server agrees at once.
    async fn log_in(&self) -> Outcome {
        let text = |name: &str| self.context[name].as_str().map(ToOwned::to_owned);
        let mut request = LoginRequest::new(REDIRECT_URI);
        request.client_metadata_url = Some(CLIENT_DOCUMENT.into());
        request.client_id = text("client_id");
        request.client_secret = text("client_secret").map(Secret::from);
        let login =
            self.connector.begin_login(&self.service, &self.manifest.spec.origin, &Principal::Local, request).await?;
        let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
        let page = browser.get(login.url()).send().await?;
        let location = page.headers().get("location").ok_or("the authorization server did not redirect")?;
        Ok(login.finish(location.to_str()?).await?)
    }

    async fn use_everything(&self, upstream: &dyn Upstream) -> Outcome {
        let tools = self.list(upstream, "tools").await?;
        let calls: Vec<(String, Value)> = match self.context["toolCalls"].as_array() {
            Some(calls) => calls.iter().map(|call| (name_of(call), call["arguments"].clone())).collect(),
            None => tools.iter().map(|tool| (name_of(tool), arguments(&tool["inputSchema"]))).collect(),
        };
        let called = calls.into_iter().map(|(name, arguments)| {
            self.call(upstream, "tools/call", json!({ "name": name, "arguments": arguments }))
        });
        join_all(called).await.into_iter().collect::<Outcome<Vec<_>>>()?;
        for prompt in self.list(upstream, "prompts").await? {
            self.call(upstream, "prompts/get", json!({ "name": name_of(&prompt) })).await?;
        }
        for resource in self.list(upstream, "resources").await? {
            self.call(upstream, "resources/read", json!({ "uri": resource["uri"] })).await?;
        }
        Ok(())
    }

    async fn list(&self, upstream: &dyn Upstream, kind: &str) -> Outcome<Vec<Value>> {
        if !upstream.profile().capabilities.contains_key(kind) {
            return Ok(Vec::new());
        }
        let listed = self.call(upstream, &format!("{kind}/list"), json!({})).await?;
        Ok(listed[kind].as_array().cloned().unwrap_or_default())
    }

    /// Calls a method, and answers what the server asks before it answers.
    async fn call(&self, upstream: &dyn Upstream, method: &str, params: Value) -> Outcome<Value> {
        let mut round = params.clone();
        for _ in 0..MAX_ROUNDS {
            let result = self.call_with_login(upstream, method, &round).await?;
            if result["resultType"] != "input_required" {
                return Ok(result);
            }
            round = params.clone();
            let asked = result["inputRequests"].as_object().cloned().unwrap_or_default();
            let answers = asked.iter().map(|(key, question)| {
                (key.clone(), answer(question["method"].as_str().unwrap_or_default(), &question["params"]))
            });
            round["inputResponses"] = Value::Object(answers.collect());
            if let Some(state) = result.get("requestState") {
                round["requestState"] = state.clone();
            }
        }
        Err("the server asks forever".into())
    }

    /// Calls a method, and logs in again if the server wants more rights for it.
    async fn call_with_login(&self, upstream: &dyn Upstream, method: &str, params: &Value) -> Outcome<Value> {
        for _ in 0..MAX_LOGINS {
            match self.call_once(upstream, method, params).await {
                Err(UpstreamError::Failed(ServiceFault::Unauthorized, _)) => self.log_in().await?,
                answer => return answer?.map_err(|error| format!("{method}: {error}").into()),
            }
        }
        Err("the server wants ever more rights".into())
    }

    async fn call_once(
        &self,
        upstream: &dyn Upstream,
        method: &str,
        params: &Value,
    ) -> Result<Result<Value, Box<RawValue>>, UpstreamError> {
        let (sender, mut interjections) = mpsc::channel(16);
        let broken = |error: serde_json::Error| UpstreamError::Failed(ServiceFault::Broken, error.to_string().into());
        let params = to_raw_value(params).map_err(broken)?;
        let (client, interject) = (&self.profile, Some(sender));
        let request =
            UpstreamRequest { method, params: Some(&params), client, patience: PATIENCE, interjections: interject };
        let listening = async {
            while let Some(interjection) = interjections.recv().await {
                if let Interjection::Request { method, params, reply } = interjection {
                    let params =
                        params.and_then(|params| serde_json::from_str(params.get()).ok()).unwrap_or(Value::Null);
                    if let Ok(answer) = to_raw_value(&answer(&method, &params)) {
                        // The server may have given up.
                        let _ = reply.send(Ok(answer));
                    }
                }
            }
        };
        let (answer, ()) = tokio::join!(upstream.call(request), listening);
        match answer? {
            Ok(result) => Ok(Ok(serde_json::from_str(result.get()).map_err(broken)?)),
            Err(error) => Ok(Err(error)),
        }
    }
}

/// What this client answers to a server, with the defaults that the server proposes.
fn answer(method: &str, params: &Value) -> Value {
    match method {
        "elicitation/create" => json!({ "action": "accept", "content": arguments(&params["requestedSchema"]) }),
        "sampling/createMessage" => {
            json!({ "role": "assistant", "model": "none", "content": { "type": "text", "text": "hello" } })
        }
        _ => json!({ "roots": [] }),
    }
}

/// A value for each property of a schema: its default, else any of its type.
fn arguments(schema: &Value) -> Value {
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let value = |property: &Value| match (property.get("default"), &property["enum"][0], property["type"].as_str()) {
        (Some(default), ..) => default.clone(),
        (None, Value::Null, Some("integer" | "number")) => json!(1),
        (None, Value::Null, Some("boolean")) => json!(true),
        (None, Value::Null, Some("array")) => json!([]),
        (None, Value::Null, Some("object")) => json!({}),
        (None, Value::Null, _) => json!("text"),
        (None, choice, _) => choice.clone(),
    };
    Value::Object(properties.iter().map(|(name, property)| (name.clone(), value(property))).collect())
}

fn name_of(listed: &Value) -> String {
    listed["name"].as_str().unwrap_or_default().to_owned()
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

struct StderrLog;

impl ServiceLog for StderrLog {
    fn line(&self, _: LogSource, text: &str) {
        eprintln!("{text}");
    }
}

/// One login for the length of a scenario.
#[derive(Default)]
struct MemoryLogins(Mutex<Option<Secret>>);

#[async_trait]
impl LoginStore for MemoryLogins {
    async fn load(&self, _: &LoginKey) -> Result<Option<Secret>, String> {
        Ok(self.0.lock().clone())
    }

    async fn save(&self, _: &LoginKey, login: Secret) -> Result<(), String> {
        *self.0.lock() = Some(login);
        Ok(())
    }

    async fn remove(&self, _: &LoginKey) -> Result<(), String> {
        *self.0.lock() = None;
        Ok(())
    }

    async fn remove_all(&self, _: &ServiceId) -> Result<(), String> {
        *self.0.lock() = None;
        Ok(())
    }
}
