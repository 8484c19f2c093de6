//! Clients that work for the agents of sessions: editors that read and write files, and run terminals.
//!
//! Decisions:
//! * **Only what the policy allowed arrives here**, as requests of the ACP adapter.
//! * **Nothing outside the session's folder** is asked of a client or read from the disk, whatever the policy said: the
//!   client may be on another machine, whose files the policy does not know.
//! * **Terminals run on this machine**, where the workspace is: a client elsewhere is not asked for them.
//! * **A client that may not prompt a session in `yolo`** is not asked anything for it, because what it answers steers the
//!   agent as a prompt would.
//! * **The disk stands in for a client** that has left, fails or does not answer in time, and for texts that do not fit
//!   into one message (about 1 MiB). Of several clients the last one that offered is asked.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use roost_engine::session_client::{
    ClientError, ClientOffer, ClientSite, ClientTerminal, FileRead, SessionClient, method,
};
use roost_model::ids::{SessionId, ToolCallId};
use roost_model::mode::Mode;
use roost_rpc::{ClientRequest, Fault, FaultCode, SHOW_TERMINAL};
use roost_workspace::{Error, RelPath, Root, files};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::blocking::blocking;
use crate::dispatch::MAX_FRAME;

/// Requests that may wait for one client to take them; further ones go to the disk.
const QUEUE: usize = 32;
/// How long a client may take to answer; the end of a command is waited for as long as the client stays.
const ANSWER_WAIT: Duration = Duration::from_secs(20);
/// The longest parameters of a request, in bytes of JSON: what else is in its message has room beside them.
const MAX_PARAMS: usize = MAX_FRAME - (4 << 10);
/// The request without a time limit.
const WAIT_FOR_EXIT: &str = "terminal/wait_for_exit";

/// The clients that work for sessions, by session.
#[derive(Default)]
pub struct SessionClients {
    sessions: Mutex<HashMap<SessionId, Vec<Offer>>>,
    last_connection: AtomicU64,
}

struct Offer {
    connection: Arc<ServingConnection>,
    offer: ClientOffer,
}

/// A client's answer, or why it has none.
type Answer = Result<Value, String>;

/// One connection of a client that works for sessions.
pub(crate) struct ServingConnection {
    key: u64,
    /// It is on this machine.
    is_local: bool,
    may_yolo: bool,
    requests: mpsc::Sender<ClientRequest>,
    queue: tokio::sync::Mutex<mpsc::Receiver<ClientRequest>>,
    last_request: AtomicU64,
    /// Who waits for which answer; `None` once the client has left.
    waiting: Mutex<Option<HashMap<u64, oneshot::Sender<Answer>>>>,
}

impl SessionClients {
    /// A new connection without offers.
    pub(crate) fn join(&self, is_local: bool, may_yolo: bool) -> Arc<ServingConnection> {
        let (requests, queue) = mpsc::channel(QUEUE);
        Arc::new(ServingConnection {
            key: self.last_connection.fetch_add(1, Ordering::Relaxed) + 1,
            is_local,
            may_yolo,
            requests,
            queue: tokio::sync::Mutex::new(queue),
            last_request: AtomicU64::new(0),
            waiting: Mutex::new(Some(HashMap::new())),
        })
    }

    /// Replaces what a connection offers for a session.
    pub(crate) fn offer(&self, connection: &Arc<ServingConnection>, session: SessionId, offer: ClientOffer) {
        let mut sessions = self.sessions.lock();
        let offers = sessions.entry(session.clone()).or_default();
        offers.retain(|other| other.connection.key != connection.key);
        if !offer.is_empty() {
            offers.push(Offer { connection: connection.clone(), offer });
        }
        if offers.is_empty() {
            sessions.remove(&session);
        }
    }

    /// Ends a connection: whoever waits for an answer of it is told.
    pub(crate) fn leave(&self, connection: &ServingConnection) {
        self.sessions.lock().retain(|_, offers| {
            offers.retain(|offer| offer.connection.key != connection.key);
            !offers.is_empty()
        });
        connection.waiting.lock().take();
    }

    /// The client to ask: the last one that offered this and may be asked in the session's mode.
    fn find(&self, site: &ClientSite, has: impl Fn(&Offer) -> bool) -> Option<Arc<ServingConnection>> {
        let sessions = self.sessions.lock();
        let may = |offer: &&Offer| site.mode != Mode::Yolo || offer.connection.may_yolo;
        let found = sessions.get(&site.session)?.iter().rev().filter(may).find(|offer| has(offer))?;
        Some(found.connection.clone())
    }
}

impl ServingConnection {
    /// Waits for the next request to this client.
    pub(crate) async fn next(&self) -> Result<ClientRequest, Fault> {
        let next = self.queue.lock().await.recv().await;
        next.ok_or_else(|| Fault::new(FaultCode::InternalError, "the connection is closing"))
    }

    /// Passes an answer to whoever waits for it; false if nobody does.
    pub(crate) fn answer(&self, request: u64, answer: Answer) -> bool {
        let waiting = self.waiting.lock().as_mut().and_then(|waiting| waiting.remove(&request));
        waiting.is_some_and(|waiting| waiting.send(answer).is_ok())
    }

    /// Asks the client and waits for its answer.
    async fn ask(&self, site: &ClientSite, method: &str, mut params: Value) -> Answer {
        let left = || "the editor has left".to_owned();
        params["sessionId"] = json!(site.session);
        if params.to_string().len() > MAX_PARAMS {
            return Err("the request does not fit into a message".into());
        }
        let request_id = self.last_request.fetch_add(1, Ordering::Relaxed) + 1;
        let (answer, answered) = oneshot::channel();
        self.waiting.lock().as_mut().ok_or_else(left)?.insert(request_id, answer);
        let _guard = WaitingRequest { connection: self, request_id };
        let session_id = site.session.to_string();
        let request = ClientRequest { request_id, session_id, method: method.to_owned(), params };
        self.requests.try_send(request).map_err(|_| "the editor does not take requests".to_owned())?;
        let answered = async { answered.await.unwrap_or_else(|_| Err(left())) };
        match method {
            WAIT_FOR_EXIT => answered.await,
            _ => timeout(ANSWER_WAIT, answered).await.unwrap_or_else(|_| Err("the editor did not answer".into())),
        }
    }
}

/// Removes a request when its answer is no longer waited for.
struct WaitingRequest<'a> {
    connection: &'a ServingConnection,
    request_id: u64,
}

impl Drop for WaitingRequest<'_> {
    fn drop(&mut self) {
        self.connection.waiting.lock().as_mut().map(|waiting| waiting.remove(&self.request_id));
    }
}

#[async_trait]
impl SessionClient for SessionClients {
    fn offer(&self, session: &SessionId) -> ClientOffer {
        let sessions = self.sessions.lock();
        let offers = sessions.get(session).into_iter().flatten();
        let usable = |offer: &Offer| ClientOffer {
            terminals: offer.offer.terminals && offer.connection.is_local,
            ..offer.offer
        };
        offers.fold(ClientOffer::default(), |all, offer| all.or(usable(offer)))
    }

    async fn read_file(&self, site: &ClientSite, request: &FileRead) -> Result<String, ClientError> {
        let path = inside(site, &request.path)?;
        if let Some(client) = self.find(site, |offer| offer.offer.read_files) {
            let mut params = json!({ "path": request.path });
            if let Some(line) = request.line {
                params["line"] = json!(line);
            }
            if let Some(limit) = request.limit {
                params["limit"] = json!(limit);
            }
            match client.ask(site, method::READ_FILE, params).await {
                Ok(Value::Object(mut answer)) => {
                    if let Some(Value::String(content)) = answer.remove("content") {
                        return Ok(content);
                    }
                }
                Ok(_) => {}
                Err(error) => tracing::debug!(error, "A file is read from the disk, not by the editor."),
            }
        }
        let FileRead { line, limit, .. } = *request;
        on_disk(site, path, move |root, path| files::read_text(root, path, line, limit)).await
    }

    async fn write_file(&self, site: &ClientSite, path: &Path, content: &str) -> Result<(), ClientError> {
        let relative = inside(site, path)?;
        if let Some(client) = self.find(site, |offer| offer.offer.write_files) {
            match client.ask(site, method::WRITE_FILE, json!({ "path": path, "content": content })).await {
                Ok(_) => return Ok(()),
                Err(error) => tracing::debug!(error, "A file is written to the disk, not by the editor."),
            }
        }
        let content = content.to_owned();
        on_disk(site, relative, move |root, path| files::write_text(root, path, &content)).await
    }

    async fn create_terminal(&self, site: &ClientSite, params: Value) -> Option<Result<ClientTerminal, ClientError>> {
        let client = self.find(site, |offer| offer.offer.terminals && offer.connection.is_local)?;
        let created = client.ask(site, method::CREATE_TERMINAL, params).await;
        let id = created.and_then(|created| {
            let id = created.get("terminalId").and_then(Value::as_str).map(ToOwned::to_owned);
            id.ok_or_else(|| "the editor made a terminal without an id".to_owned())
        });
        Some(id.map(|id| ClientTerminal { connection: client.key, id }).map_err(ClientError::Failed))
    }

    async fn terminal(&self, site: &ClientSite, terminal: &ClientTerminal, method: &str) -> Result<Value, ClientError> {
        let client = self.find(site, |offer| offer.connection.key == terminal.connection);
        let left = || ClientError::Failed("the editor that ran this terminal has left".into());
        let params = json!({ "terminalId": terminal.id });
        client.ok_or_else(left)?.ask(site, method, params).await.map_err(ClientError::Failed)
    }

    async fn show_terminal(&self, site: &ClientSite, terminal: &ClientTerminal, call: &ToolCallId) {
        let client = self.find(site, |offer| offer.connection.key == terminal.connection);
        let Some(client) = client else { return };
        let params = json!({ "toolCallId": call, "terminalId": terminal.id });
        if let Err(error) = client.ask(site, SHOW_TERMINAL, params).await {
            tracing::debug!(error, "A terminal is not shown inside its call.");
        }
    }
}

/// The path beneath the session's folder; an error for any other.
fn inside(site: &ClientSite, path: &Path) -> Result<RelPath, ClientError> {
    let beneath = path.strip_prefix(&site.folder).ok().and_then(Path::to_str);
    let parsed = beneath.and_then(|path| RelPath::parse(path).ok()).filter(|path| !path.is_root());
    parsed.ok_or_else(|| {
        let (path, folder) = (path.display(), site.folder.display());
        ClientError::Failed(format!("{path} is not in the session's folder, {folder}; only files in it can be used"))
    })
}

/// Works on a file beneath the session's folder.
async fn on_disk<T: Send + 'static>(
    site: &ClientSite,
    path: RelPath,
    work: impl FnOnce(&Root, &RelPath) -> Result<T, Error> + Send + 'static,
) -> Result<T, ClientError> {
    let (folder, named) = (site.folder.clone(), site.folder.join(path.to_path()));
    let done = blocking(move || Root::open(&folder).and_then(|root| work(&root, &path))).await;
    done.map_err(|fault| ClientError::Failed(fault.message))?.map_err(|error| match error {
        Error::NotFound { .. } => ClientError::NotFound(named.display().to_string()),
        error => ClientError::Failed(error.to_string()),
    })
}
