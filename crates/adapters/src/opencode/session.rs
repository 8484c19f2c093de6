//! An open OpenCode session: its tasks, and how a running task is controlled.

use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use roost_engine::adapter::{
    AdapterError, Answer, DRAFT_QUEUE, OpenSession, RuntimeSession, RuntimeTask, SentInput, StartedTask, TaskControl,
    TaskInput,
};
use roost_model::content::TranscriptMessage;
use roost_model::ids::{QuestionId, RuntimeSessionId};
use roost_model::payload::NoticeSource;
use roost_model::sources::ImplicitSources;
use roost_model::tool::ToolCallIdentity;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::commands::{self, CommandChoice};
use super::connection::{OpencodeCommand, OpencodeConnection};
use super::home::{self, OpencodeFolders};
use super::http::{Client, HttpError};
use super::launch::Server;
use super::prompt;
use super::reader::{OutgoingRequest, Reader};
use super::session_tree::SessionTree;
use crate::host::locks::{Lock, Locks};
use crate::host::{Handle, noise, start};

/// The title of a session that is given none: OpenCode would ask the model for one during the first turn.
const DEFAULT_TITLE: &str = "Roost session";

/// How long a decision, an answer or a stop waits for the server's response.
const REPLY_TIMEOUT: Duration = Duration::from_millis(500);

/// A session whose server waits for tasks.
pub(super) struct OpencodeSession {
    handle: Handle<OpencodeConnection>,
    client: Client,
    _lock: Lock,
    native: String,
    open: OpenSession,
    /// The folders that the server reads settings from; `None` for a server that somebody else runs.
    folders: Option<OpencodeFolders>,
    /// The names of the settings that the server was started with.
    settings: Vec<String>,
}

impl OpencodeSession {
    /// Opens a session on this server: a new one, or `known`. If that fails, a server of ours is stopped.
    pub(super) async fn open(
        (server, client): (Option<Server>, Client),
        open: OpenSession,
        folders: Option<OpencodeFolders>,
        settings: &Map<String, Value>,
        (known, locks): (Option<&RuntimeSessionId>, &Locks),
    ) -> Result<Self, AdapterError> {
        let begun = async {
            let events = client.events().await?;
            let native = match known {
                None => create(&client, &open).await?,
                Some(native) => resume(&client, native, &open).await?,
            };
            let lock = locks.take(&native).await?;
            Ok((events, native, lock))
        };
        let (events, native, lock) = match begun.await {
            Ok(begun) => begun,
            Err(error) => {
                if let Some(server) = server {
                    server.process.control.stop().await;
                }
                return Err(error);
            }
        };
        let mut reader = Reader { tree: SessionTree::new(native.clone()), ..Reader::default() };
        let (mut process, mut control_and_stdin) = (None, None);
        if let Some(server) = server {
            let early = server.early.into_iter().map(|line| noise(NoticeSource::Stdout, line));
            reader.out.early = early.collect();
            control_and_stdin = Some((server.process.control.clone(), server.stdin));
            process = Some(server.process);
        }
        let connection = OpencodeConnection::new(client.clone(), events, reader, control_and_stdin);
        let (handle, _) = start(connection, process, ());
        let settings = settings.keys().cloned().collect();
        Ok(Self { handle, client, _lock: lock, native, open, folders, settings })
    }

    /// The configuration that is recorded with a task: the model, and the names of the settings without their values,
    /// which can be secrets.
    fn runtime_config(&self) -> Value {
        json!({ "model": self.open.input.model, "settings": self.settings })
    }

    /// The files that OpenCode reads by itself; unknown for a server that somebody else runs.
    async fn sources(&self) -> ImplicitSources {
        match &self.folders {
            Some(folders) => home::sources(folders.clone(), self.open.env.cwd.clone().into()).await,
            None => ImplicitSources::disabled("the server is somebody else's, and what it reads is not known"),
        }
    }

    /// The body of a prompt request, with this model or the session's; an error if the model is not `provider/model`.
    async fn prompt(&self, input: &TaskInput, model: Option<String>) -> Result<Value, AdapterError> {
        let mut prompt = json!({ "parts": prompt::parts(input, Path::new(&self.open.env.cwd)).await });
        if let Some(model) = model.as_ref().or(self.open.input.model.as_ref()) {
            let Some((provider, model)) = model.split_once('/') else {
                let message = format!("OpenCode wants a model as `provider/model`, not `{model}`");
                return Err(AdapterError::Runtime { message, raw: None });
            };
            prompt["model"] = json!({ "providerID": provider, "modelID": model });
        }
        Ok(prompt)
    }
}

/// The rules of a session: request a permission for every call. They come after, and so override, the user's and the
/// project's settings.
fn ask_rules() -> Value {
    json!([{ "permission": "*", "pattern": "*", "action": "ask" }])
}

async fn create(client: &Client, open: &OpenSession) -> Result<String, AdapterError> {
    let title = open.input.title.as_deref().unwrap_or(DEFAULT_TITLE);
    let made = client.post("/session", &json!({ "title": title, "permission": ask_rules() })).await?;
    let id = made.get("id").and_then(Value::as_str).map(str::to_owned);
    id.ok_or_else(|| AdapterError::Runtime { message: "OpenCode made a session without an id".into(), raw: Some(made) })
}

/// Checks that the session exists and belongs to this working directory, and sets its rules.
async fn resume(client: &Client, native: &RuntimeSessionId, open: &OpenSession) -> Result<String, AdapterError> {
    let unknown = || AdapterError::UnknownSession(native.clone());
    // OpenCode answers other ids with an error that does not say why.
    if !native.as_str().starts_with("ses_")
        || !native.as_str().bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    {
        return Err(unknown());
    }
    let path = format!("/session/{native}");
    let session = match client.get(&path).await {
        Ok(session) => session,
        Err(HttpError::Refused { status, .. }) if status == 404 => return Err(unknown()),
        Err(error) => return Err(error.into()),
    };
    // OpenCode would resume it in the wrong directory.
    let directory = session.get("directory").and_then(Value::as_str).unwrap_or_default();
    if !home::is_same_folder(directory, &open.env.cwd).await {
        return Err(unknown());
    }
    client.patch(&path, &json!({ "permission": ask_rules() })).await?;
    Ok(native.to_string())
}

#[async_trait]
impl RuntimeSession for OpencodeSession {
    fn native_id(&self) -> Option<RuntimeSessionId> {
        Some(self.native.as_str().into())
    }

    fn switches_model(&self) -> bool {
        true
    }

    async fn start_task(&mut self, mut input: TaskInput) -> Result<StartedTask, AdapterError> {
        if input.model.is_some() {
            self.open.input.model.clone_from(&input.model);
        }
        let cwd = Path::new(&self.open.env.cwd);
        let CommandChoice { agent, model, notice } = commands::expand(&mut input, &self.client, cwd).await?;
        let mut prompt = self.prompt(&input, model).await?;
        if let Some(agent) = agent {
            prompt["agent"] = agent.into();
        }
        let (sender, drafts) = mpsc::channel(DRAFT_QUEUE);
        let notices = notice.into_iter().collect();
        self.handle.ask(|to| OpencodeCommand::Begin { drafts: sender, notices, to }).await?;
        if let Err(error) = self.client.post(&format!("/session/{}/prompt_async", self.native), &prompt).await {
            // A connection that is gone has no turn to drop.
            let _ = self.handle.send(OpencodeCommand::Forget).await;
            return Err(error.into());
        }
        // OpenCode gets the host's tools by MCP only.
        let sent_input = TaskInput { tool_manifest: None, ..input };
        let mut sent = SentInput::from_task(&sent_input, self.sources().await);
        sent.input["runtime_config"] = self.runtime_config();
        let control = Box::new(OpencodeTask { handle: self.handle.clone(), native: self.native.clone() });
        Ok(StartedTask { input: sent, task: RuntimeTask { drafts, control } })
    }

    async fn exited(&mut self) {
        self.handle.exited().await;
    }

    async fn close(self: Box<Self>) {
        let Self { handle, _lock, .. } = *self;
        handle.close().await;
    }
}

/// Controls a running task.
struct OpencodeTask {
    handle: Handle<OpencodeConnection>,
    native: String,
}

impl OpencodeTask {
    async fn decide(&self, call: &ToolCallIdentity, allow: bool, answer: Value) -> Result<(), AdapterError> {
        let call = call.clone();
        let permission = self.handle.ask(|to| OpencodeCommand::Decide { call, allow, to }).await?;
        self.send(format!("/permission/{permission}/reply"), answer).await
    }

    /// Sends a request and waits at most [`REPLY_TIMEOUT`] for the response. A busy server answers late, which is no
    /// error: the request still arrives, or the server is gone and the task ends with it.
    async fn send(&self, path: String, body: Value) -> Result<(), AdapterError> {
        let sent = self.handle.ask(|to| OpencodeCommand::Send { request: OutgoingRequest { path, body }, to });
        tokio::time::timeout(REPLY_TIMEOUT, sent).await.unwrap_or(Ok(()))
    }
}

#[async_trait]
impl TaskControl for OpencodeTask {
    async fn send_tool_result(&self, _call: &ToolCallIdentity, _result: Value) -> Result<(), AdapterError> {
        Err(AdapterError::Unsupported("take the result of a tool that the host ran"))
    }

    async fn send_tool_approved(&self, call: &ToolCallIdentity) -> Result<(), AdapterError> {
        self.decide(call, true, json!({ "reply": "once" })).await
    }

    async fn send_tool_denied(&self, call: &ToolCallIdentity, reason: &str) -> Result<(), AdapterError> {
        // A refusal without a message would end the turn.
        let reason = if reason.is_empty() { "refused" } else { reason };
        self.decide(call, false, json!({ "reply": "reject", "message": reason })).await
    }

    async fn send_answer(&self, question: &QuestionId, answer: Answer) -> Result<(), AdapterError> {
        let question = question.clone();
        let (native, body) = self.handle.ask(|to| OpencodeCommand::Answer { question, answer, to }).await?;
        self.send(format!("/question/{native}/reply"), body).await
    }

    async fn steer(&self, _message: TranscriptMessage) -> Result<(), AdapterError> {
        Err(AdapterError::Unsupported("hear more while it works"))
    }

    async fn stop(&self) -> Result<(), AdapterError> {
        self.handle.ask(|to| OpencodeCommand::Cancel { to }).await?;
        let OutgoingRequest { path, body } = OutgoingRequest::abort(&self.native);
        self.send(path, body).await
    }
}
