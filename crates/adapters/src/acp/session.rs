//! An open ACP session: the handshake, its tasks, and the way back into them.

use std::path::PathBuf;
use std::sync::Arc;

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1 as acp;
use async_trait::async_trait;
use parking_lot::Mutex;
use roost_engine::adapter::{
    AdapterError, Answer, DRAFT_QUEUE, McpServerTransport, OpenSession, RuntimeSession, RuntimeTask, SentInput,
    StartedTask, TaskControl, TaskInput,
};
use roost_model::content::TranscriptMessage;
use roost_model::ids::{QuestionId, RuntimeSessionId};
use roost_model::sources::ImplicitSources;
use roost_model::tool::ToolCallIdentity;
use roost_process::Stdin;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::connection::{AcpConnection, Command, Decision};
use super::failure::rejected;
use super::models::Models;
use super::presets::Observed;
use super::prompt;
use crate::host::json_rpc::CallResult;
use crate::host::{Handle, Process, Writer, start};

/// A started agent before it has a session.
pub(crate) struct Agent {
    handle: Handle<AcpConnection>,
    observed: Observed,
    pub(super) about: acp::InitializeResponse,
}

impl Agent {
    /// Introduces us to the agent.
    pub(crate) async fn initialize(
        (process, stdin): (Process, Stdin),
        observed: Observed,
    ) -> Result<Self, AdapterError> {
        let writer = Writer::to_stdin(stdin, "the agent does not read its input");
        let (handle, _) = start(AcpConnection::new(writer, observed), Some(process), ());
        let elicitation = acp::ElicitationCapabilities::new().form(acp::ElicitationFormCapabilities::new());
        let capabilities = acp::ClientCapabilities::new().elicitation(elicitation);
        let request = acp::InitializeRequest::new(ProtocolVersion::V1)
            .client_capabilities(capabilities)
            .client_info(acp::Implementation::new("roost", env!("CARGO_PKG_VERSION")).title("Roost"));
        let answered = call(&handle, "initialize", &request).await?.map_err(rejected)?;
        let about: acp::InitializeResponse = serde_json::from_value(answered).map_err(|error| {
            let message = format!("the agent's answer to initialize makes no sense: {error}");
            AdapterError::Runtime { message, raw: None }
        })?;
        if about.protocol_version != ProtocolVersion::V1 {
            let message = format!("the agent speaks ACP version {}, Roost speaks 1", json!(about.protocol_version));
            return Err(AdapterError::Runtime { message, raw: None });
        }
        Ok(Self { handle, observed, about })
    }

    /// The version that the agent tells.
    pub(crate) fn version(&self) -> Option<&str> {
        self.about.agent_info.as_ref().map(|info| info.version.as_str())
    }

    /// Makes a new session.
    pub(crate) async fn new_session(self, open: &OpenSession) -> Result<AcpSession, AdapterError> {
        let request = acp::NewSessionRequest::new(&open.env.cwd).mcp_servers(mcp_servers(open));
        let answered = call(&self.handle, "session/new", &request).await?.map_err(rejected)?;
        let Some(native) = answered.get("sessionId").and_then(Value::as_str) else {
            let message = "the agent made a session without an id".into();
            return Err(AdapterError::Runtime { message, raw: Some(answered) });
        };
        self.bind(open, native.to_owned(), &answered, true).await
    }

    /// Opens a session that the agent knows, if it can.
    pub(crate) async fn resume(
        self,
        open: &OpenSession,
        native: &RuntimeSessionId,
    ) -> Result<AcpSession, AdapterError> {
        let capabilities = &self.about.agent_capabilities;
        let (id, cwd, servers) = (native.as_str().to_owned(), &open.env.cwd, mcp_servers(open));
        let answered = if capabilities.session_capabilities.resume.is_some() {
            let request = acp::ResumeSessionRequest::new(id, cwd).mcp_servers(servers);
            call(&self.handle, "session/resume", &request).await?
        } else if capabilities.load_session {
            let request = acp::LoadSessionRequest::new(id, cwd).mcp_servers(servers);
            call(&self.handle, "session/load", &request).await?
        } else {
            return Err(AdapterError::UnknownSession(native.clone()));
        };
        match answered {
            Ok(answered) => self.bind(open, native.as_str().to_owned(), &answered, false).await,
            // Agents disagree about the code for a session that they do not know.
            Err(error) if matches!(error.code, -32602 | -32002 | -32603) => {
                Err(AdapterError::UnknownSession(native.clone()))
            }
            Err(error) => Err(rejected(error)),
        }
    }

    async fn bind(
        self,
        open: &OpenSession,
        native: String,
        answered: &Value,
        is_new: bool,
    ) -> Result<AcpSession, AdapterError> {
        let Self { handle, observed, about } = self;
        handle.tell(Command::Bind { native: native.clone(), is_new }).await?;
        let takes_images = about.agent_capabilities.prompt_capabilities.image;
        let (cwd, models) = (open.env.cwd.clone().into(), Models::offered_in(answered));
        Ok(AcpSession { native, cwd, takes_images, observed, models, chosen: None, handle })
    }
}

/// A session with an agent that waits for tasks.
pub(crate) struct AcpSession {
    native: String,
    cwd: PathBuf,
    takes_images: bool,
    observed: Observed,
    models: Models,
    /// The model of its tasks, where they may choose one.
    chosen: Option<Option<String>>,
    handle: Handle<AcpConnection>,
}

impl AcpSession {
    /// Begins with this model, else with the agent's own, and lets each task choose another.
    pub(crate) async fn choosing(mut self, model: Option<String>) -> Result<Self, AdapterError> {
        self.chosen = Some(None);
        self.choose(model).await?;
        Ok(self)
    }

    async fn choose(&mut self, model: Option<String>) -> Result<(), AdapterError> {
        let (Some(chosen), Some(wanted)) = (&mut self.chosen, model) else { return Ok(()) };
        if chosen.as_ref() != Some(&wanted) {
            let (method, params) = self.models.request(&self.native, &wanted)?;
            self.models.taken(&wanted, call(&self.handle, method, &params).await?)?;
            *chosen = Some(wanted);
        }
        Ok(())
    }

    /// Chooses one of the agent's own modes. Whatever the agent had to say before is said when this returns.
    pub(crate) async fn set_mode(&self, mode: &str) -> Result<(), AdapterError> {
        let request = acp::SetSessionModeRequest::new(self.native.clone(), mode.to_owned());
        call(&self.handle, "session/set_mode", &request).await?.map_err(rejected)?;
        Ok(())
    }
}

#[async_trait]
impl RuntimeSession for AcpSession {
    fn native_id(&self) -> Option<RuntimeSessionId> {
        Some(self.native.as_str().into())
    }

    fn switches_model(&self) -> bool {
        self.chosen.is_some()
    }

    async fn start_task(&mut self, input: TaskInput) -> Result<StartedTask, AdapterError> {
        self.choose(input.model.clone()).await?;
        let (drafts, receiver) = mpsc::channel(DRAFT_QUEUE);
        if !input.images.is_empty() && !self.takes_images {
            return Err(AdapterError::Unsupported("take images"));
        }
        let params = json!({ "sessionId": self.native, "prompt": prompt::prompt(&input, &self.cwd, self.observed) });
        self.handle.ask(|to| Command::Prompt { params, drafts, to }).await?;
        let sources = ImplicitSources::disabled("the agent does not tell what it reads by itself");
        let task = RuntimeTask { drafts: receiver, control: Box::new(AcpTask(self.handle.clone())) };
        // The protocol has no place for the host's tools, so they are not part of what the agent was told.
        let told = TaskInput { tool_manifest: None, ..input };
        Ok(StartedTask { input: SentInput::of(&told, sources), task })
    }

    async fn exited(&mut self) {
        self.handle.exited().await;
    }

    async fn close(self: Box<Self>) {
        self.handle.close().await;
    }
}

/// The way back into a running task.
struct AcpTask(Handle<AcpConnection>);

#[async_trait]
impl TaskControl for AcpTask {
    async fn send_tool_result(&self, _: &ToolCallIdentity, _: Value) -> Result<(), AdapterError> {
        Err(AdapterError::Unsupported("take results of tools that the host runs"))
    }

    async fn send_tool_approved(&self, call: &ToolCallIdentity) -> Result<(), AdapterError> {
        let call = call.clone();
        self.0.ask(|to| Command::Decide { call, decision: Decision::Allow, to }).await
    }

    async fn send_tool_denied(&self, call: &ToolCallIdentity, reason: &str) -> Result<(), AdapterError> {
        let (call, decision) = (call.clone(), Decision::Deny { reason: reason.into() });
        self.0.ask(|to| Command::Decide { call, decision, to }).await
    }

    async fn send_answer(&self, question: &QuestionId, answer: Answer) -> Result<(), AdapterError> {
        let question = question.clone();
        self.0.ask(|to| Command::Answer { question, answer, to }).await
    }

    async fn steer(&self, _: TranscriptMessage) -> Result<(), AdapterError> {
        Err(AdapterError::Unsupported("be steered while it works"))
    }

    async fn stop(&self) -> Result<(), AdapterError> {
        self.0.ask(|to| Command::Cancel { to }).await
    }
}

async fn call(
    handle: &Handle<AcpConnection>,
    method: &'static str,
    params: &impl Serialize,
) -> Result<CallResult, AdapterError> {
    // Requests of the schema have string keys and finite numbers only, so they always serialise.
    let params = serde_json::to_value(params).unwrap_or_default();
    handle.shake(method, |to| Command::Call { method, params, to }).await
}

fn mcp_servers(open: &OpenSession) -> Vec<acp::McpServer> {
    let servers = open.mcp_servers.iter().map(|server| match &server.transport {
        McpServerTransport::Http { url, headers } => {
            let headers = headers.iter().map(|(name, value)| acp::HttpHeader::new(name, value)).collect();
            acp::McpServer::Http(acp::McpServerHttp::new(&server.name, url).headers(headers))
        }
        McpServerTransport::Stdio { command, args, env } => {
            let env = env.iter().map(|(name, value)| acp::EnvVariable::new(name, value)).collect();
            acp::McpServer::Stdio(acp::McpServerStdio::new(&server.name, command).args(args.clone()).env(env))
        }
    });
    servers.collect()
}

/// What an agent told about itself, shared by the adapter's sessions.
pub(super) type About = Arc<Mutex<Option<acp::InitializeResponse>>>;
