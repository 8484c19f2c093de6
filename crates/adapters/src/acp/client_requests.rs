//! Requests of an agent to its client: files and terminals.
//!
//! Each is a tool call that asks: the policy judges it, the log has it, and only then is it done, by an editor that has
//! the session open, else by Roost itself. A terminal that was allowed can be read, waited for and ended without asking.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent_client_protocol_schema::v1 as acp;
use parking_lot::Mutex;
use roost_engine::adapter::{OpenSession, ToolOutcome};
use roost_engine::session_client::{
    ClientError, ClientOffer, ClientSite, ClientTerminal, FileRead, SessionClient, method,
};
use roost_model::ids::ToolCallId;
use roost_model::mode::Mode;
use roost_model::payload::{ToolCallRequestedPayload, ToolKind};
use roost_model::tool::ToolCallIdentity;
use roost_process::Holder;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::terminals::{HostTerminal, TerminalHost};
use crate::host::json_rpc::{CallResult, RpcError, RpcId};

/// Terminals of one agent that may exist at once, released ones not counted.
const MAX_TERMINALS: usize = 16;
/// Requests that run at once; an agent that sends more is refused.
const MAX_RUNNING: usize = 64;

const INVALID_PARAMS: i64 = -32602;
const INTERNAL: i64 = -32603;
const NOT_FOUND: i64 = -32002;

/// A request that waits for a decision.
pub(super) struct PendingClientRequest {
    pub(super) id: RpcId,
    request: ClientRequest,
}

enum ClientRequest {
    Read(FileRead),
    Write {
        path: PathBuf,
        content: String,
    },
    CreateTerminal {
        request: acp::CreateTerminalRequest,
        /// The shell line that was judged.
        line: String,
    },
}

/// A piece of work that is done: the answer to the agent's request, and the end of the tool call that it belongs to.
pub(super) struct ClientWork {
    pub(super) answer: Option<(RpcId, CallResult)>,
    pub(super) completed: Option<ToolOutcome>,
}

/// What one agent has of its client.
pub(crate) struct AgentClient {
    shared: Arc<SharedClient>,
    offer: ClientOffer,
    mode: Mode,
    running: JoinSet<ClientWork>,
}

struct SharedClient {
    client: Arc<dyn SessionClient>,
    session: roost_model::ids::SessionId,
    folder: PathBuf,
    host: TerminalHost,
    terminals: Mutex<HashMap<String, Arc<Terminal>>>,
}

struct Terminal {
    /// The call that created it; taken when its end is reported, which happens once.
    call: Mutex<Option<ToolCallId>>,
    place: TerminalPlace,
}

enum TerminalPlace {
    Client(ClientTerminal),
    Host(HostTerminal),
}

impl AgentClient {
    /// The client of a session's agent; `None` if nobody offers anything for the session now.
    pub(super) fn new(client: &Arc<dyn SessionClient>, holder: &Holder, open: &OpenSession) -> Option<Self> {
        let offer = client.offer(&open.session_id);
        let shared = SharedClient {
            client: client.clone(),
            session: open.session_id.clone(),
            folder: open.env.cwd.clone().into(),
            host: TerminalHost::new(holder, open),
            terminals: Mutex::default(),
        };
        let (shared, running) = (Arc::new(shared), JoinSet::new());
        (!offer.is_empty()).then_some(Self { shared, offer, mode: open.mode, running })
    }

    /// What the agent is told in `initialize`.
    pub(super) fn capabilities(&self) -> (acp::FileSystemCapabilities, bool) {
        let ClientOffer { read_files, write_files, terminals } = self.offer;
        (acp::FileSystemCapabilities::new().read_text_file(read_files).write_text_file(write_files), terminals)
    }

    /// Sets the mode of the task that begins.
    pub(super) fn begin_task(&mut self, mode: Mode) {
        self.mode = mode;
    }

    /// Reads a request that must be judged; `None` if it is another method or was not offered.
    pub(super) fn read(
        &self,
        id: &RpcId,
        name: &str,
        params: &str,
    ) -> Option<Result<(ToolCallRequestedPayload, PendingClientRequest), RpcError>> {
        let pending = |request| PendingClientRequest { id: id.clone(), request };
        let read = match name {
            method::READ_FILE if self.offer.read_files => {
                parse(params).and_then(|request: acp::ReadTextFileRequest| {
                    let acp::ReadTextFileRequest { path, line, limit, .. } = request;
                    let input = json!({ "path": absolute(&path)?, "line": line, "limit": limit });
                    let request = ClientRequest::Read(FileRead { path, line, limit });
                    Ok((call(name, ToolKind::Read, input), pending(request)))
                })
            }
            method::WRITE_FILE if self.offer.write_files => {
                parse(params).and_then(|acp::WriteTextFileRequest { path, content, .. }| {
                    let input = json!({ "path": absolute(&path)?, "content": content });
                    let request = ClientRequest::Write { path, content };
                    Ok((call(name, ToolKind::Edit, input), pending(request)))
                })
            }
            method::CREATE_TERMINAL if self.offer.terminals => {
                parse(params).and_then(|request| self.terminal(request)).map(|(call, request)| (call, pending(request)))
            }
            _ => return None,
        };
        Some(read)
    }

    /// The call that a terminal is. Its input has the whole command as one shell line, because that is what runs.
    fn terminal(
        &self,
        request: acp::CreateTerminalRequest,
    ) -> Result<(ToolCallRequestedPayload, ClientRequest), RpcError> {
        let line = match request.args.is_empty() {
            true => request.command.clone(),
            false => {
                let words = std::iter::once(&request.command).chain(&request.args).map(String::as_str);
                shlex::try_join(words).map_err(|error| invalid(error.to_string()))?
            }
        };
        if line.trim().is_empty() || line.contains('\0') {
            return Err(invalid("a terminal needs a command without NUL"));
        }
        let mut input = json!({ "command": line });
        if let Some(cwd) = &request.cwd {
            input["cwd"] = json!(absolute(cwd)?);
        }
        if !request.env.is_empty() {
            let env: serde_json::Map<_, _> =
                request.env.iter().map(|variable| (variable.name.clone(), json!(variable.value))).collect();
            input["env"] = Value::Object(env);
        }
        let call = call(method::CREATE_TERMINAL, ToolKind::Execute, input);
        Ok((call, ClientRequest::CreateTerminal { request, line }))
    }

    /// Does what was allowed.
    pub(super) fn run(&mut self, call: &ToolCallIdentity, pending: PendingClientRequest) {
        let (shared, call, site) = (self.shared.clone(), call.tool_call_id.clone(), self.site());
        let PendingClientRequest { id, request } = pending;
        self.running.spawn(async move {
            let (answer, completed) = match request {
                ClientRequest::Read(request) => {
                    let read = shared.client.read_file(&site, &request).await;
                    finished(call, read.map(acp::ReadTextFileResponse::new), |response| json!(response.content))
                }
                ClientRequest::Write { path, content } => {
                    let written = shared.client.write_file(&site, &path, &content).await;
                    finished(call, written.map(|()| acp::WriteTextFileResponse::new()), |_| Value::Null)
                }
                ClientRequest::CreateTerminal { request, line } => {
                    match shared.create_terminal(&site, call.clone(), request, &line).await {
                        Ok(id) => (encode(acp::CreateTerminalResponse::new(id)), None),
                        Err(error) => finished(call, Err::<(), _>(error), |()| Value::Null),
                    }
                }
            };
            ClientWork { answer: Some((id, answer)), completed }
        });
    }

    /// Begins a request about a terminal that exists. `None` if it is another method.
    pub(super) fn on_terminal_request(&mut self, id: &RpcId, name: &str, params: &str) -> Option<Result<(), RpcError>> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct TerminalParams {
            terminal_id: String,
        }
        let request = TerminalRequest::from_name(name).filter(|_| self.offer.terminals)?;
        let found = parse::<TerminalParams>(params).and_then(|TerminalParams { terminal_id }| {
            let mut terminals = self.shared.terminals.lock();
            let found = match request {
                TerminalRequest::Release => terminals.remove(&terminal_id),
                _ => terminals.get(&terminal_id).cloned(),
            };
            let missing = format!("there is no terminal {terminal_id}");
            found.ok_or(RpcError { code: NOT_FOUND, message: missing, data: None })
        });
        Some(found.and_then(|terminal| {
            if self.running.len() >= MAX_RUNNING {
                return Err(RpcError { code: INTERNAL, message: "too many requests at once".into(), data: None });
            }
            let (shared, site, id) = (self.shared.clone(), self.site(), id.clone());
            self.running.spawn(async move {
                let (answer, completed) = shared.on_terminal(&site, &terminal, request).await;
                ClientWork { answer: Some((id, answer)), completed }
            });
            Ok(())
        }))
    }

    /// Shows a terminal inside another call that the agent says it belongs to, at the client that runs it.
    pub(super) fn show_terminal(&mut self, call: ToolCallId, terminal: &str) {
        let known = self.shared.terminals.lock().get(terminal).cloned();
        let Some(terminal) = known.filter(|_| !self.is_full()) else { return };
        let (shared, site) = (self.shared.clone(), self.site());
        self.running.spawn(async move {
            if let TerminalPlace::Client(terminal) = &terminal.place {
                shared.client.show_terminal(&site, terminal, &call).await;
            }
            ClientWork { answer: None, completed: None }
        });
    }

    /// Whether no further request can be begun.
    pub(super) fn is_full(&self) -> bool {
        self.running.len() >= MAX_RUNNING
    }

    /// Waits for the next piece of work to be done; for ever if there is none. Cancel safe.
    pub(super) async fn next_done(&mut self) -> ClientWork {
        loop {
            match self.running.join_next().await {
                Some(Ok(done)) => return done,
                Some(Err(error)) => tracing::error!(%error, "A request to a client broke down."),
                None => std::future::pending().await,
            }
        }
    }

    fn site(&self) -> ClientSite {
        let SharedClient { session, folder, .. } = &*self.shared;
        ClientSite { session: session.clone(), folder: folder.clone(), mode: self.mode }
    }
}

impl Drop for AgentClient {
    /// The agent is gone: terminals that an editor runs for it are given back. Those of Roost end when they are dropped.
    fn drop(&mut self) {
        let (site, client) = (self.site(), self.shared.client.clone());
        let left: Vec<_> = self.shared.terminals.lock().drain().map(|(_, terminal)| terminal).collect();
        let left: Vec<_> =
            left.into_iter().filter(|terminal| matches!(terminal.place, TerminalPlace::Client(_))).collect();
        // At the end of the daemon there is nothing left that could carry it.
        let Ok(runtime) = Handle::try_current() else { return };
        if left.is_empty() {
            return;
        }
        // Ends by itself: the client's answers are waited for only so long, and none are awaited from one that left.
        runtime.spawn(async move {
            for terminal in left {
                if let TerminalPlace::Client(terminal) = &terminal.place {
                    let _ = client.terminal(&site, terminal, TerminalRequest::Release.name()).await;
                }
            }
        });
    }
}

/// What an agent may ask about a terminal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TerminalRequest {
    Output,
    WaitForExit,
    Kill,
    Release,
}

impl TerminalRequest {
    const ALL: [Self; 4] = [Self::Output, Self::WaitForExit, Self::Kill, Self::Release];

    fn name(self) -> &'static str {
        match self {
            Self::Output => "terminal/output",
            Self::WaitForExit => "terminal/wait_for_exit",
            Self::Kill => "terminal/kill",
            Self::Release => "terminal/release",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|request| request.name() == name)
    }
}

impl SharedClient {
    /// Runs a command at an editor, else here, and returns the id by which the agent knows the terminal.
    async fn create_terminal(
        &self,
        site: &ClientSite,
        call: ToolCallId,
        request: acp::CreateTerminalRequest,
        line: &str,
    ) -> Result<String, ClientError> {
        if self.terminals.lock().len() >= MAX_TERMINALS {
            return Err(ClientError::Failed(format!(
                "{MAX_TERMINALS} terminals are open, which is the limit; release one"
            )));
        }
        let params = serde_json::to_value(&request).map_err(|error| ClientError::Failed(error.to_string()))?;
        let place = match self.client.create_terminal(site, params).await {
            Some(created) => {
                let terminal = created?;
                self.client.show_terminal(site, &terminal, &call).await;
                TerminalPlace::Client(terminal)
            }
            None => {
                let cwd = request.cwd.as_deref().unwrap_or(&self.folder);
                let run = self.host.run(line, cwd, &request.env, request.output_byte_limit).await;
                TerminalPlace::Host(run.map_err(ClientError::Failed)?)
            }
        };
        let id = format!("term_{}", Uuid::now_v7().simple());
        let terminal = Terminal { call: Mutex::new(Some(call)), place };
        self.terminals.lock().insert(id.clone(), Arc::new(terminal));
        Ok(id)
    }

    async fn on_terminal(
        &self,
        site: &ClientSite,
        terminal: &Terminal,
        request: TerminalRequest,
    ) -> (CallResult, Option<ToolOutcome>) {
        let is_end = matches!(request, TerminalRequest::WaitForExit | TerminalRequest::Release);
        match &terminal.place {
            TerminalPlace::Host(host) => {
                let answer = match request {
                    TerminalRequest::Output => encode(host.output(host.exit_now().await)),
                    TerminalRequest::WaitForExit => encode(acp::WaitForTerminalExitResponse::new(host.exit().await)),
                    TerminalRequest::Kill | TerminalRequest::Release => {
                        host.kill().await;
                        Ok(json!({}))
                    }
                };
                let output = host.output(host.exit_now().await);
                let is_over = is_end || output.exit_status.is_some();
                (answer, is_over.then(|| terminal.complete(encode(output))).flatten())
            }
            TerminalPlace::Client(client) => {
                let send = |request: TerminalRequest| self.client.terminal(site, client, request.name());
                // A released terminal has no output any more, so that is asked for first.
                let before = match request {
                    TerminalRequest::Release => Some(send(TerminalRequest::Output).await),
                    _ => None,
                };
                let answer = send(request).await;
                let output = match request {
                    TerminalRequest::WaitForExit => Some(send(TerminalRequest::Output).await),
                    TerminalRequest::Output if answer.as_ref().is_ok_and(has_ended) => Some(answer.clone()),
                    _ => before,
                };
                let completed = output.and_then(|output| terminal.complete(output.map_err(to_rpc)));
                (answer.map_err(to_rpc), completed)
            }
        }
    }
}

fn has_ended(output: &Value) -> bool {
    output.get("exitStatus").is_some_and(|status| !status.is_null())
}

impl Terminal {
    /// The end of the tool call that created the terminal, with its last output; `None` if it was reported already.
    fn complete(&self, output: CallResult) -> Option<ToolOutcome> {
        let call = self.call.lock().take()?;
        let failed = |output: &Value| {
            output.pointer("/exitStatus/exitCode").and_then(Value::as_u64).is_some_and(|code| code != 0)
        };
        Some(match output {
            Ok(output) => {
                let is_error = failed(&output);
                ToolOutcome::of_host(call, Some(output), is_error)
            }
            Err(error) => ToolOutcome::of_host(call, Some(error.message.into()), true),
        })
    }
}

fn finished<T: Serialize>(
    call: ToolCallId,
    result: Result<T, ClientError>,
    recorded: impl FnOnce(&T) -> Value,
) -> (CallResult, Option<ToolOutcome>) {
    match result {
        Ok(answer) => {
            let outcome = ToolOutcome::of_host(call, Some(recorded(&answer)), false);
            (encode(answer), Some(outcome))
        }
        Err(error) => {
            let outcome = ToolOutcome::of_host(call, Some(error.to_string().into()), true);
            (Err(to_rpc(error)), Some(outcome))
        }
    }
}

fn call(name: &str, kind: ToolKind, input: Value) -> ToolCallRequestedPayload {
    let identity = ToolCallIdentity::first(None, &input);
    ToolCallRequestedPayload { identity, name: name.into(), input, input_ref: None, title: None, kind: Some(kind) }
}

fn parse<T: serde::de::DeserializeOwned>(params: &str) -> Result<T, RpcError> {
    serde_json::from_str(params).map_err(|error| invalid(error.to_string()))
}

fn absolute(path: &Path) -> Result<&str, RpcError> {
    let text = path.to_str().filter(|_| path.is_absolute());
    text.ok_or_else(|| invalid(format!("a path must be absolute, not \"{}\"", path.display())))
}

fn invalid(message: impl Into<String>) -> RpcError {
    RpcError { code: INVALID_PARAMS, message: message.into(), data: None }
}

fn encode(answer: impl Serialize) -> CallResult {
    serde_json::to_value(answer).map_err(|error| RpcError { code: INTERNAL, message: error.to_string(), data: None })
}

fn to_rpc(error: ClientError) -> RpcError {
    let message = error.to_string();
    match error {
        ClientError::NotFound(path) => {
            RpcError { code: NOT_FOUND, message, data: Some(json!({ "uri": format!("file://{path}") })) }
        }
        ClientError::Failed(_) => RpcError { code: INTERNAL, message, data: None },
    }
}
