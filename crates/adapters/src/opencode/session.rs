//! An open OpenCode session: its tasks, and the way back into them.

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

use super::connection::{Command, OpencodeConnection};
use super::family::Family;
use super::home::{self, Folders};
use super::http::{Client, HttpError};
use super::launch::Server;
use super::map;
use super::prompt;
use super::reader::{Errand, Reader};
use crate::host::locks::{Lock, Locks};
use crate::host::{Handle, start};

/// Its title unless it is given one: OpenCode would ask the model for one, beside the first turn.
const TITLE: &str = "Roost session";

/// How long is waited for what the server says to a decision, an answer or a stop.
const PATIENCE: Duration = Duration::from_millis(500);

/// A session with a server that waits for tasks.
pub(super) struct OpencodeSession {
    handle: Handle<OpencodeConnection>,
    client: Client,
    _lock: Lock,
    native: String,
    open: OpenSession,
    /// Where it reads settings and instructions, if the process is ours.
    folders: Option<Folders>,
    settings: Vec<String>,
}

impl OpencodeSession {
    /// A session of this server's: a new one, or one that it knows.
    pub(super) async fn open(
        (server, client): (Option<Server>, Client),
        open: OpenSession,
        folders: Option<Folders>,
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
        let mut reader = Reader { family: Family::of(native.clone()), ..Reader::default() };
        let (mut process, mut kept) = (None, None);
        if let Some(server) = server {
            let early = server.early.into_iter().map(|line| map::noise(NoticeSource::Stdout, line));
            reader.out.early = early.collect();
            kept = Some((server.process.control.clone(), server.stdin));
            process = Some(server.process);
        }
        let connection = OpencodeConnection::new(client.clone(), events, reader, kept);
        let (handle, _) = start(connection, process, ());
        let settings = settings.keys().cloned().collect();
        Ok(Self { handle, client, _lock: lock, native, open, folders, settings })
    }

    /// What OpenCode is told besides messages; of its settings only the names, because values can be secrets.
    fn told(&self) -> Value {
        json!({ "model": self.open.input.model, "settings": self.settings })
    }

    /// What OpenCode reads by itself, as far as that is on this disk.
    async fn sources(&self) -> ImplicitSources {
        match &self.folders {
            Some(folders) => home::sources(folders.clone(), self.open.env.cwd.clone().into()).await,
            None => ImplicitSources::disabled("the server is somebody else's, and what it reads is not known"),
        }
    }

    async fn prompt(&self, input: &TaskInput) -> Result<Value, AdapterError> {
        let mut prompt = json!({ "parts": prompt::parts(input, Path::new(&self.open.env.cwd)).await });
        if let Some(model) = &self.open.input.model {
            let Some((provider, model)) = model.split_once('/') else {
                let message = format!("OpenCode wants a model as `provider/model`, not `{model}`");
                return Err(AdapterError::Runtime { message, raw: None });
            };
            prompt["model"] = json!({ "providerID": provider, "modelID": model });
        }
        Ok(prompt)
    }
}

/// Every call asks, whatever the user's and the project's settings allow: rules of a session come last.
fn rules() -> Value {
    json!([{ "permission": "*", "pattern": "*", "action": "ask" }])
}

async fn create(client: &Client, open: &OpenSession) -> Result<String, AdapterError> {
    let title = open.input.title.as_deref().unwrap_or(TITLE);
    let made = client.post("/session", &json!({ "title": title, "permission": rules() })).await?;
    let id = made.get("id").and_then(Value::as_str).map(str::to_owned);
    id.ok_or_else(|| AdapterError::Runtime { message: "OpenCode made a session without an id".into(), raw: Some(made) })
}

async fn resume(client: &Client, native: &RuntimeSessionId, open: &OpenSession) -> Result<String, AdapterError> {
    let unknown = || AdapterError::UnknownSession(native.clone());
    // Anything else is no id, and is answered with an error that says nothing.
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
    // OpenCode would go on with it in the wrong place.
    let directory = session.get("directory").and_then(Value::as_str).unwrap_or_default();
    if !home::is_same_folder(directory, &open.env.cwd).await {
        return Err(unknown());
    }
    client.patch(&path, &json!({ "permission": rules() })).await?;
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

    async fn start_task(&mut self, input: TaskInput) -> Result<StartedTask, AdapterError> {
        if input.model.is_some() {
            self.open.input.model.clone_from(&input.model);
        }
        let prompt = self.prompt(&input).await?;
        let (sender, drafts) = mpsc::channel(DRAFT_QUEUE);
        self.handle.ask(|to| Command::Begin { drafts: sender, to }).await?;
        if let Err(error) = self.client.post(&format!("/session/{}/prompt_async", self.native), &prompt).await {
            // One that is gone needs not be told.
            let _ = self.handle.tell(Command::Forget).await;
            return Err(error.into());
        }
        // It has no place for the host's tools.
        let told = TaskInput { tool_manifest: None, ..input };
        let mut sent = SentInput::of(&told, self.sources().await);
        sent.input["runtime_config"] = self.told();
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

/// The way back into a running task.
struct OpencodeTask {
    handle: Handle<OpencodeConnection>,
    native: String,
}

impl OpencodeTask {
    async fn decide(&self, call: &ToolCallIdentity, allow: bool, answer: Value) -> Result<(), AdapterError> {
        let call = call.clone();
        let permission = self.handle.ask(|to| Command::Decide { call, allow, to }).await?;
        self.send(format!("/permission/{permission}/reply"), answer).await
    }

    /// Says something to the server. One that is busy answers late; what is on its way then arrives all the same, or
    /// the server is gone and the task ends with it.
    async fn send(&self, path: String, body: Value) -> Result<(), AdapterError> {
        let sent = self.handle.ask(|to| Command::Send { errand: Errand { path, body }, to });
        tokio::time::timeout(PATIENCE, sent).await.unwrap_or(Ok(()))
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
        // Without a message the turn would end.
        let reason = if reason.is_empty() { "refused" } else { reason };
        self.decide(call, false, json!({ "reply": "reject", "message": reason })).await
    }

    async fn send_answer(&self, question: &QuestionId, answer: Answer) -> Result<(), AdapterError> {
        let question = question.clone();
        let (native, said) = self.handle.ask(|to| Command::Answer { question, answer, to }).await?;
        self.send(format!("/question/{native}/reply"), said).await
    }

    async fn steer(&self, _message: TranscriptMessage) -> Result<(), AdapterError> {
        Err(AdapterError::Unsupported("hear more while it works"))
    }

    async fn stop(&self) -> Result<(), AdapterError> {
        self.handle.ask(|to| Command::Cancel { to }).await?;
        let Errand { path, body } = Errand::abort(&self.native);
        self.send(path, body).await
    }
}
