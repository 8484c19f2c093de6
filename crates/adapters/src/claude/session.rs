//! An open session of Claude Code: the handshake, the start of tasks, and the control of a running task.

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use roost_engine::Images;
use roost_engine::adapter::{
    AdapterError, Answer, DRAFT_QUEUE, OpenSession, RuntimePermissions, RuntimeSession, RuntimeTask, SentInput,
    StartedTask, TaskControl, TaskInput,
};
use roost_model::content::TranscriptMessage;
use roost_model::ids::{QuestionId, RuntimeSessionId};
use roost_model::sources::ImplicitSources;
use roost_model::tool::ToolCallIdentity;
use roost_model::tool::ToolManifest;
use roost_process::Stdin;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::connection::{CallResult, ClaudeConnection};
use super::connection::{ClaudeCommand, Prompt, ToolDecision};
use super::content;
use super::launch::{Conversation, permission_mode, servers};
use super::permissions::read_permissions;
use super::project_servers::ProjectServers;
use super::sources::SourcePaths;
use crate::host::locks::Lock;
use crate::host::{Connection, Handle, Process, Writer, start};

/// The callback id of the hook that makes the CLI ask about every tool call.
const HOOK: &str = "roost_pre_tool_use";

/// An open session and the process that serves it.
pub(super) struct ClaudeSession {
    native: String,
    open: OpenSession,
    files: Arc<SessionFiles>,
    handle: Handle<ClaudeConnection>,
    pump: JoinHandle<()>,
    /// The model that was set last; `None` leaves the CLI's default.
    model: Option<String>,
    /// The rules of the CLI's settings, read when the last task started.
    permissions: Arc<RuntimePermissions>,
    /// The host's tools that were offered last.
    tools: ToolManifest,
    /// Warnings that the next task reports.
    notices: Vec<String>,
    /// What was said about the CLI's files, which is not repeated.
    said_of_files: HashSet<String>,
}

/// The files and settings that a session was opened with.
pub(super) struct SessionFiles {
    pub(super) source_paths: SourcePaths,
    pub(super) project_servers: ProjectServers,
    /// The settings document that is applied at the start.
    pub(super) settings: Map<String, Value>,
    /// The tool servers that stood in the settings, in the CLI's JSON.
    pub(super) configured_servers: Map<String, Value>,
    /// What people should know of the project's files that are not used.
    pub(super) notices: Vec<String>,
}

impl ClaudeSession {
    /// Initialises a started process; if that fails, stops it. The lock is held until the whole process tree is gone.
    pub(super) async fn begin(
        (process, stdin): (Process, Stdin),
        lock: Lock,
        conversation: &Conversation,
        open: OpenSession,
        files: SessionFiles,
    ) -> Result<Self, AdapterError> {
        let writer = Writer::to_stdin(stdin, "Claude Code does not read its input");
        let mut connection = ClaudeConnection::new(writer, permission_mode(open.mode));
        connection.known_as = conversation.known_as().map(Into::into);
        let (handle, pump) = start(connection, Some(process), lock);
        let native = conversation.id().to_owned();
        let (tools, permissions, said_of_files) = Default::default();
        let (model, notices) = (open.input.model.clone(), files.notices.clone());
        let files = Arc::new(files);
        let mut session = Self { native, open, files, handle, pump, model, permissions, tools, notices, said_of_files };
        match session.initialize().await {
            Ok(()) => Ok(session),
            Err(error) => {
                Box::new(session).close().await;
                Err(error)
            }
        }
    }

    async fn initialize(&mut self) -> Result<(), AdapterError> {
        let hooks = json!({ "PreToolUse": [{ "matcher": null, "hookCallbackIds": [HOOK] }] });
        self.request(json!({ "subtype": "initialize", "hooks": hooks })).await?;
        let SessionFiles { settings, configured_servers, .. } = &*self.files;
        if !settings.is_empty() {
            self.request(json!({ "subtype": "apply_flag_settings", "settings": settings })).await?;
        }
        if !self.open.mcp_servers.is_empty() || !configured_servers.is_empty() {
            self.set_mcp_servers(false).await?;
        }
        Ok(())
    }

    /// Sets the CLI's tool servers; a server that cannot be reached becomes a warning.
    async fn set_mcp_servers(&mut self, with_host: bool) -> Result<(), AdapterError> {
        let servers = servers(&self.files.configured_servers, &self.open, with_host);
        let answered = self.request(json!({ "subtype": "mcp_set_servers", "servers": servers })).await?;
        let errors = answered.get("errors").and_then(Value::as_object).into_iter().flatten();
        self.notices.extend(errors.map(|(server, error)| {
            let error = error.as_str().map_or_else(|| error.to_string(), ToOwned::to_owned);
            format!("the tool server {server} cannot be reached: {error}")
        }));
        Ok(())
    }

    /// Offers the host's tools. The CLI lists a server's tools once, so the host's server is removed and added again.
    async fn offer_tools(&mut self, tools: ToolManifest) -> Result<(), AdapterError> {
        if tools == self.tools {
            return Ok(());
        }
        self.handle.send(ClaudeCommand::Offer { tools: tools.clone() }).await?;
        if !self.tools.tools.is_empty() {
            self.set_mcp_servers(false).await?;
        }
        if !tools.tools.is_empty() {
            self.set_mcp_servers(true).await?;
        }
        self.tools = tools;
        Ok(())
    }

    /// Switches the CLI's permission mode. If the CLI reports another, that is an error and the task does not begin.
    async fn switch_mode(&self, mode: &str) -> Result<(), AdapterError> {
        if self.handle.ask(|to| ClaudeCommand::Mode { to }).await? == mode {
            return Ok(());
        }
        let answered = self.request(json!({ "subtype": "set_permission_mode", "mode": mode })).await?;
        match answered.get("mode").and_then(Value::as_str).filter(|now| *now != mode) {
            None => Ok(()),
            Some(now) => {
                let message = format!("Claude Code is in its mode {now} and not, as it was told, in {mode}");
                Err(AdapterError::Runtime { message, raw: Some(answered.clone()) })
            }
        }
    }

    /// The names of the tool servers that the CLI has, its own among them, and where each is configured. Empty if it does
    /// not say.
    async fn tool_servers(&self) -> Vec<Value> {
        let answered = self.request(json!({ "subtype": "mcp_status" })).await.unwrap_or_default();
        let servers = answered.get("mcpServers").and_then(Value::as_array).into_iter().flatten();
        servers.map(|server| json!({ "name": server["name"], "scope": server["scope"] })).collect()
    }

    /// Reads the CLI's files for the next task: what it will read by itself, and the rules of its settings.
    async fn read_files(&mut self) -> ImplicitSources {
        let files = self.files.clone();
        let read = tokio::task::spawn_blocking(move || {
            let SessionFiles { source_paths, project_servers, settings, .. } = &*files;
            (source_paths.read(project_servers), read_permissions(source_paths, settings))
        });
        let Ok((sources, (permissions, notices))) = read.await else {
            return ImplicitSources::disabled("they could not be read");
        };
        self.permissions = permissions;
        self.notices.extend(notices.into_iter().filter(|notice| self.said_of_files.insert(notice.clone())));
        sources
    }

    /// Sends a control request with the handshake's time limit; a refusal is an error.
    async fn request(&self, request: Value) -> Result<Value, AdapterError> {
        let subtype = request["subtype"].as_str().unwrap_or_default().to_owned();
        let answered =
            self.handle.ask_with_timeout::<CallResult>(&subtype, |to| ClaudeCommand::Call { request, to }).await?;
        answered.map_err(|error| {
            let message = format!("{} refused {subtype}: {error}", ClaudeConnection::NAME);
            AdapterError::Runtime { message, raw: None }
        })
    }
}

#[async_trait]
impl RuntimeSession for ClaudeSession {
    fn native_id(&self) -> Option<RuntimeSessionId> {
        Some(self.native.as_str().into())
    }

    fn switches_model(&self) -> bool {
        true
    }

    fn permissions(&self) -> Arc<RuntimePermissions> {
        self.permissions.clone()
    }

    async fn start_task(&mut self, input: TaskInput) -> Result<StartedTask, AdapterError> {
        self.offer_tools(input.tool_manifest.clone().unwrap_or_default()).await?;
        if input.model.is_some() && input.model != self.model {
            self.request(json!({ "subtype": "set_model", "model": input.model })).await?;
            self.model.clone_from(&input.model);
        }
        let mode = permission_mode(input.mode);
        self.switch_mode(mode).await?;
        let sources = self.read_files().await;
        let tool_servers = self.tool_servers().await;
        let (drafts, receiver) = mpsc::channel(DRAFT_QUEUE);
        let notices = std::mem::take(&mut self.notices);
        let prompt = Prompt { content: content::prompt(&input), notices };
        self.handle.ask(|to| ClaudeCommand::Prompt { prompt, drafts, to }).await?;
        let task = RuntimeTask { drafts: receiver, control: Box::new(ClaudeTask(self.handle.clone())) };
        let mut sent = SentInput::from_task(&input, sources);
        sent.input["runtime_config"] = json!({
            "model": self.model, "permission_mode": mode, "settings": self.files.settings, "tool_servers": tool_servers,
        });
        Ok(StartedTask { input: sent, task })
    }

    async fn exited(&mut self) {
        self.handle.exited().await;
    }

    async fn close(self: Box<Self>) {
        let Self { handle, pump, .. } = *self;
        handle.close().await;
        // The lock is released when the pump has ended; then the session can be opened again.
        let _ = pump.await;
    }
}

/// Controls a running task through the connection's commands.
struct ClaudeTask(Handle<ClaudeConnection>);

impl ClaudeTask {
    async fn decide(&self, call: &ToolCallIdentity, decision: ToolDecision) -> Result<(), AdapterError> {
        let call = call.clone();
        self.0.ask(|to| ClaudeCommand::Decide { call, decision, to }).await
    }
}

#[async_trait]
impl TaskControl for ClaudeTask {
    async fn send_tool_result(&self, call: &ToolCallIdentity, result: Value) -> Result<(), AdapterError> {
        let call = call.clone();
        self.0.ask(|to| ClaudeCommand::Result { call, result, to }).await
    }

    async fn send_tool_approved(&self, call: &ToolCallIdentity) -> Result<(), AdapterError> {
        self.decide(call, ToolDecision::Allow).await
    }

    fn takes_edited_input(&self) -> bool {
        true
    }

    async fn send_tool_edited(&self, call: &ToolCallIdentity, input: Value) -> Result<(), AdapterError> {
        self.decide(call, ToolDecision::AllowEdited(input)).await
    }

    async fn send_tool_denied(&self, call: &ToolCallIdentity, reason: &str) -> Result<(), AdapterError> {
        self.decide(call, ToolDecision::Deny(reason.into())).await
    }

    async fn send_answer(&self, question: &QuestionId, answer: Answer) -> Result<(), AdapterError> {
        let question = question.clone();
        self.0.ask(|to| ClaudeCommand::Answer { question, answer, to }).await
    }

    async fn steer(&self, message: TranscriptMessage) -> Result<(), AdapterError> {
        let content = content::blocks(&message, &Images::new());
        self.0.ask(|to| ClaudeCommand::Steer { content, to }).await
    }

    async fn prompt_waiting(&self) -> Result<(), AdapterError> {
        self.0.ask(|to| ClaudeCommand::PromptWaiting { to }).await
    }

    async fn stop(&self) -> Result<(), AdapterError> {
        self.0.ask(|to| ClaudeCommand::Cancel { to }).await
    }
}
