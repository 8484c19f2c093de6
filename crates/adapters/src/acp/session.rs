//! An open ACP session: the handshake, the start of tasks, and the control of a running task.

use std::path::PathBuf;
use std::sync::Arc;

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1 as acp;
use async_trait::async_trait;
use parking_lot::Mutex;
use roost_engine::adapter::{
    AdapterError, Answer, DRAFT_QUEUE, Draft, McpServerTransport, OpenSession, RuntimeSession, RuntimeTask, SentInput,
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

use super::client_requests::AgentClient;
use super::connection::{AcpCommand, AcpConnection, ToolDecision};
use super::failure::rejected;
use super::models::Models;
use super::presets::AgentProfile;
use super::prompt;
use crate::host::json_rpc::CallResult;
use crate::host::{Handle, Process, Writer, start};

/// A started agent that has answered `initialize` and has no session yet.
pub(crate) struct AcpAgent {
    handle: Handle<AcpConnection>,
    profile: AgentProfile,
    pub(super) handshake: acp::InitializeResponse,
}

impl AcpAgent {
    /// Sends `initialize` and checks that the agent speaks version 1 of the protocol.
    pub(crate) async fn initialize(
        (process, stdin): (Process, Stdin),
        profile: AgentProfile,
        client: Option<AgentClient>,
    ) -> Result<Self, AdapterError> {
        let writer = Writer::to_stdin(stdin, "the agent does not read its input");
        let (files, terminals) = client.as_ref().map(AgentClient::capabilities).unwrap_or_default();
        let (handle, _) = start(AcpConnection::new(writer, profile, client), Some(process), ());
        let elicitation = acp::ElicitationCapabilities::new().form(acp::ElicitationFormCapabilities::new());
        let capabilities = acp::ClientCapabilities::new().fs(files).terminal(terminals).elicitation(elicitation);
        let request = acp::InitializeRequest::new(ProtocolVersion::V1)
            .client_capabilities(capabilities)
            .client_info(acp::Implementation::new("roost", env!("CARGO_PKG_VERSION")).title("Roost"));
        let answered = call(&handle, "initialize", &request).await?.map_err(rejected)?;
        let handshake: acp::InitializeResponse = serde_json::from_value(answered).map_err(|error| {
            let message = format!("the agent's answer to initialize makes no sense: {error}");
            AdapterError::Runtime { message, raw: None }
        })?;
        if handshake.protocol_version != ProtocolVersion::V1 {
            let message = format!("the agent speaks ACP version {}, Roost speaks 1", json!(handshake.protocol_version));
            return Err(AdapterError::Runtime { message, raw: None });
        }
        Ok(Self { handle, profile, handshake })
    }

    /// The version of the agent, if its handshake names one.
    pub(crate) fn version(&self) -> Option<&str> {
        self.handshake.agent_info.as_ref().map(|info| info.version.as_str())
    }

    /// Creates a session with `session/new`.
    pub(crate) async fn new_session(self, open: &OpenSession) -> Result<AcpSession, AdapterError> {
        let request = acp::NewSessionRequest::new(&open.env.cwd).mcp_servers(mcp_servers(open));
        let answered = call(&self.handle, "session/new", &request).await?.map_err(rejected)?;
        let Some(native) = answered.get("sessionId").and_then(Value::as_str) else {
            let message = "the agent made a session without an id".into();
            return Err(AdapterError::Runtime { message, raw: Some(answered) });
        };
        self.bind(open, native.to_owned(), &answered, true).await
    }

    /// Opens a session of an earlier process with `session/resume`, else `session/load`;
    /// [`AdapterError::UnknownSession`] if the agent supports neither or does not know the id.
    pub(crate) async fn resume(
        self,
        open: &OpenSession,
        native: &RuntimeSessionId,
    ) -> Result<AcpSession, AdapterError> {
        let capabilities = &self.handshake.agent_capabilities;
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
            // Agents use different codes for a session that they do not know.
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
        let Self { handle, profile, handshake } = self;
        handle.send(AcpCommand::Bind { native: native.clone(), is_new }).await?;
        let takes_images = handshake.agent_capabilities.prompt_capabilities.image;
        let (cwd, models) = (open.env.cwd.clone().into(), Models::from_answer(answered));
        Ok(AcpSession { native, cwd, takes_images, profile, models, chosen: None, handle })
    }
}

/// An open session with an agent.
pub(crate) struct AcpSession {
    native: String,
    cwd: PathBuf,
    takes_images: bool,
    profile: AgentProfile,
    models: Models,
    /// The model that was chosen last. The outer `None` means that tasks cannot choose, as with Gemini, whose model is
    /// an argument of its command.
    chosen: Option<Option<String>>,
    handle: Handle<AcpConnection>,
}

impl AcpSession {
    /// Chooses this model, or leaves the agent's default, and lets every task choose another.
    pub(crate) async fn with_model(mut self, model: Option<String>) -> Result<Self, AdapterError> {
        self.chosen = Some(None);
        self.choose_model(model).await?;
        Ok(self)
    }

    async fn choose_model(&mut self, model: Option<String>) -> Result<(), AdapterError> {
        let (Some(chosen), Some(wanted)) = (&mut self.chosen, model) else { return Ok(()) };
        if chosen.as_ref() != Some(&wanted) {
            let (method, params) = self.models.request(&self.native, &wanted)?;
            self.models.check_answer(&wanted, call(&self.handle, method, &params).await?)?;
            *chosen = Some(wanted);
        }
        Ok(())
    }

    /// Reports notices in the next task.
    pub(crate) async fn tell(&self, notices: Vec<Draft>) -> Result<(), AdapterError> {
        if notices.is_empty() {
            return Ok(());
        }
        self.handle.send(AcpCommand::Tell { notices }).await
    }

    /// Sets one of the agent's own modes. When this returns, everything that the agent sent before has been read.
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
        self.choose_model(input.model.clone()).await?;
        let (drafts, receiver) = mpsc::channel(DRAFT_QUEUE);
        if !input.images.is_empty() && !self.takes_images {
            return Err(AdapterError::Unsupported("take images"));
        }
        let params = json!({ "sessionId": self.native, "prompt": prompt::prompt(&input, &self.cwd, self.profile) });
        let mode = input.mode;
        self.handle.ask(|to| AcpCommand::Prompt { params, mode, drafts, to }).await?;
        let sources = ImplicitSources::disabled("the agent does not tell what it reads by itself");
        let task = RuntimeTask { drafts: receiver, control: Box::new(AcpTask(self.handle.clone())) };
        // The protocol has no place for the host's tools, so they are not recorded as sent.
        let sent = TaskInput { tool_manifest: None, ..input };
        Ok(StartedTask { input: SentInput::from_task(&sent, sources), task })
    }

    async fn exited(&mut self) {
        self.handle.exited().await;
    }

    async fn close(self: Box<Self>) {
        self.handle.close().await;
    }
}

/// Controls a running task through the connection's commands.
struct AcpTask(Handle<AcpConnection>);

#[async_trait]
impl TaskControl for AcpTask {
    async fn send_tool_result(&self, _: &ToolCallIdentity, _: Value) -> Result<(), AdapterError> {
        Err(AdapterError::Unsupported("take results of tools that the host runs"))
    }

    async fn send_tool_approved(&self, call: &ToolCallIdentity) -> Result<(), AdapterError> {
        let call = call.clone();
        self.0.ask(|to| AcpCommand::Decide { call, decision: ToolDecision::Allow, to }).await
    }

    async fn send_tool_denied(&self, call: &ToolCallIdentity, reason: &str) -> Result<(), AdapterError> {
        let (call, decision) = (call.clone(), ToolDecision::Deny { reason: reason.into() });
        self.0.ask(|to| AcpCommand::Decide { call, decision, to }).await
    }

    async fn send_answer(&self, question: &QuestionId, answer: Answer) -> Result<(), AdapterError> {
        let question = question.clone();
        self.0.ask(|to| AcpCommand::Answer { question, answer, to }).await
    }

    async fn steer(&self, _: TranscriptMessage) -> Result<(), AdapterError> {
        Err(AdapterError::Unsupported("be steered while it works"))
    }

    async fn stop(&self) -> Result<(), AdapterError> {
        self.0.ask(|to| AcpCommand::Cancel { to }).await
    }
}

async fn call(
    handle: &Handle<AcpConnection>,
    method: &'static str,
    params: &impl Serialize,
) -> Result<CallResult, AdapterError> {
    // Requests of the schema have string keys and finite numbers only, so they always serialise.
    let params = serde_json::to_value(params).unwrap_or_default();
    handle.ask_with_timeout(method, |to| AcpCommand::Call { method, params, to }).await
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

/// The agent's last answer to `initialize`, shared by the adapter and its sessions; `None` until an agent has started.
pub(super) type SharedHandshake = Arc<Mutex<Option<acp::InitializeResponse>>>;
