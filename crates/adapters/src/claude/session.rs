//! An open session of Claude Code: the handshake, its tasks, and the way back into them.

use async_trait::async_trait;
use roost_engine::Images;
use roost_engine::adapter::{
    AdapterError, Answer, DRAFT_QUEUE, OpenSession, RuntimeSession, RuntimeTask, SentInput, StartedTask, TaskControl,
    TaskInput,
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

use super::connection::{Command, Decision, Prompt};
use super::content;
use super::launch::{Conversation, permission_mode, servers};
use super::sources::Places;
use super::talk::{CallResult, Talk};
use crate::host::locks::Lock;
use crate::host::{Connection, Handle, Process, Writer, start};

/// The hook that makes the CLI ask about every tool call.
const HOOK: &str = "roost_pre_tool_use";

/// A process that was started for a session.
pub(super) struct ClaudeSession {
    native: String,
    open: OpenSession,
    places: Places,
    handle: Handle<Talk>,
    pump: JoinHandle<()>,
    /// The model that the CLI was told to use.
    model: Option<String>,
    /// The settings that it was given.
    settings: Map<String, Value>,
    /// The host's tools that the CLI knows of.
    tools: ToolManifest,
    /// What came up before there was a task to tell it in.
    notices: Vec<String>,
}

impl ClaudeSession {
    /// Takes over a process and introduces us to it; a process that does not answer is ended. The lock is held until
    /// nothing of the process is left.
    pub(super) async fn begin(
        (process, stdin): (Process, Stdin),
        lock: Lock,
        conversation: &Conversation,
        open: OpenSession,
        places: Places,
        settings: Map<String, Value>,
    ) -> Result<Self, AdapterError> {
        let writer = Writer::to_stdin(stdin, "Claude Code does not read its input");
        let mut talk = Talk::new(writer, permission_mode(open.mode));
        talk.known_as = conversation.known_as().map(Into::into);
        let (handle, pump) = start(talk, Some(process), lock);
        let native = conversation.id().to_owned();
        let (tools, notices) = (ToolManifest::default(), Vec::new());
        let model = open.input.model.clone();
        let mut session = Self { native, open, places, handle, pump, model, settings, tools, notices };
        match session.shake_hands().await {
            Ok(()) => Ok(session),
            Err(error) => {
                Box::new(session).close().await;
                Err(error)
            }
        }
    }

    async fn shake_hands(&mut self) -> Result<(), AdapterError> {
        let hooks = json!({ "PreToolUse": [{ "matcher": null, "hookCallbackIds": [HOOK] }] });
        self.must(json!({ "subtype": "initialize", "hooks": hooks })).await?;
        if !self.settings.is_empty() {
            self.must(json!({ "subtype": "apply_flag_settings", "settings": self.settings })).await?;
        }
        if !self.open.mcp_servers.is_empty() {
            self.connect(false).await?;
        }
        Ok(())
    }

    /// Tells the CLI which tool servers to use; one that cannot be reached is no reason to fail.
    async fn connect(&mut self, with_host: bool) -> Result<(), AdapterError> {
        let servers = servers(&self.open, with_host);
        let told = self.must(json!({ "subtype": "mcp_set_servers", "servers": servers })).await?;
        let errors = told.get("errors").and_then(Value::as_object).into_iter().flatten();
        self.notices.extend(errors.map(|(server, error)| {
            let error = error.as_str().map_or_else(|| error.to_string(), ToOwned::to_owned);
            format!("the tool server {server} cannot be reached: {error}")
        }));
        Ok(())
    }

    /// Offers the host's tools; the CLI asks for the list again only when the server is a new one.
    async fn offer(&mut self, tools: ToolManifest) -> Result<(), AdapterError> {
        if tools == self.tools {
            return Ok(());
        }
        self.handle.tell(Command::Offer { tools: tools.clone() }).await?;
        if !self.tools.tools.is_empty() {
            self.connect(false).await?;
        }
        if !tools.tools.is_empty() {
            self.connect(true).await?;
        }
        self.tools = tools;
        Ok(())
    }

    /// Puts the CLI into a permission mode of its own; a task does not begin in another one than it was given for.
    async fn switch_to(&self, mode: &str) -> Result<(), AdapterError> {
        if self.handle.ask(|to| Command::Mode { to }).await? == mode {
            return Ok(());
        }
        let told = self.must(json!({ "subtype": "set_permission_mode", "mode": mode })).await?;
        match told.get("mode").and_then(Value::as_str).filter(|now| *now != mode) {
            None => Ok(()),
            Some(now) => {
                let message = format!("Claude Code is in its mode {now} and not, as it was told, in {mode}");
                Err(AdapterError::Runtime { message, raw: Some(told.clone()) })
            }
        }
    }

    async fn must(&self, request: Value) -> Result<Value, AdapterError> {
        let subtype = request["subtype"].as_str().unwrap_or_default().to_owned();
        let answered = self.handle.shake::<CallResult>(&subtype, |to| Command::Call { request, to }).await?;
        answered.map_err(|error| {
            let message = format!("{} refused {subtype}: {error}", Talk::NAME);
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

    async fn start_task(&mut self, input: TaskInput) -> Result<StartedTask, AdapterError> {
        self.offer(input.tool_manifest.clone().unwrap_or_default()).await?;
        if input.model.is_some() && input.model != self.model {
            self.must(json!({ "subtype": "set_model", "model": input.model })).await?;
            self.model.clone_from(&input.model);
        }
        let mode = permission_mode(input.mode);
        self.switch_to(mode).await?;
        let places = self.places.clone();
        let sources = tokio::task::spawn_blocking(move || places.read());
        let (drafts, receiver) = mpsc::channel(DRAFT_QUEUE);
        let notices = std::mem::take(&mut self.notices);
        let prompt = Prompt { content: content::prompt(&input), notices };
        self.handle.ask(|to| Command::Prompt { prompt, drafts, to }).await?;
        let task = RuntimeTask { drafts: receiver, control: Box::new(ClaudeTask(self.handle.clone())) };
        let sources = sources.await.unwrap_or_else(|_| ImplicitSources::disabled("they could not be read"));
        let mut sent = SentInput::of(&input, sources);
        sent.input["runtime_config"] =
            json!({ "model": self.model, "permission_mode": mode, "settings": self.settings });
        Ok(StartedTask { input: sent, task })
    }

    async fn exited(&mut self) {
        self.handle.exited().await;
    }

    async fn close(self: Box<Self>) {
        let Self { handle, pump, .. } = *self;
        handle.close().await;
        // Then the session may be opened again.
        let _ = pump.await;
    }
}

/// The way back into a running task.
struct ClaudeTask(Handle<Talk>);

impl ClaudeTask {
    async fn decide(&self, call: &ToolCallIdentity, decision: Decision) -> Result<(), AdapterError> {
        let call = call.clone();
        self.0.ask(|to| Command::Decide { call, decision, to }).await
    }
}

#[async_trait]
impl TaskControl for ClaudeTask {
    async fn send_tool_result(&self, call: &ToolCallIdentity, result: Value) -> Result<(), AdapterError> {
        let call = call.clone();
        self.0.ask(|to| Command::Result { call, result, to }).await
    }

    async fn send_tool_approved(&self, call: &ToolCallIdentity) -> Result<(), AdapterError> {
        self.decide(call, Decision::Allow).await
    }

    fn takes_edited_input(&self) -> bool {
        true
    }

    async fn send_tool_edited(&self, call: &ToolCallIdentity, input: Value) -> Result<(), AdapterError> {
        self.decide(call, Decision::AllowEdited(input)).await
    }

    async fn send_tool_denied(&self, call: &ToolCallIdentity, reason: &str) -> Result<(), AdapterError> {
        self.decide(call, Decision::Deny(reason.into())).await
    }

    async fn send_answer(&self, question: &QuestionId, answer: Answer) -> Result<(), AdapterError> {
        let question = question.clone();
        self.0.ask(|to| Command::Answer { question, answer, to }).await
    }

    async fn steer(&self, message: TranscriptMessage) -> Result<(), AdapterError> {
        let content = content::blocks(&message, &Images::new());
        self.0.ask(|to| Command::Steer { content, to }).await
    }

    async fn stop(&self) -> Result<(), AdapterError> {
        self.0.ask(|to| Command::Cancel { to }).await
    }
}
