//! One connection of an editor: reads its messages, runs its requests side by side, and ends when it leaves.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol_schema::v1::{self as acp, RequestId};
use parking_lot::Mutex;
use roost_client::Client;
use roost_model::mode::Mode;
use roost_model::secret::Secret;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use crate::daemon::DaemonLink;
use crate::editor::EditorConnection;
use crate::error;
use crate::evidence::Evidence;
use crate::message::{self, Incoming};
use crate::message_queue::{MAX_MESSAGE, MessageReceiver, MessageRoom, ReceivedMessage};
use crate::profile::{Params, Profile};
use crate::projection::Shows;
use crate::requests::{self, Answered};
use crate::serving::Serving;
use crate::session::{SessionCommand, SessionHandle};
use crate::v2;

/// How long requests may still run after the editor has left; the whole program ends within a second.
const GRACE: Duration = Duration::from_millis(500);
/// Sessions that are open at once; each needs a connection to the daemon.
const MAX_SESSIONS: usize = 128;
/// Requests that run at once; beyond it the editor's next message is not read yet.
const MAX_REQUESTS: usize = 64;

/// How an editor's sessions are made.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The runtime of new sessions; the daemon's default if absent.
    pub runtime: Option<String>,
    /// The model of new sessions; the runtime's default if absent.
    pub model: Option<String>,
    /// The permission mode of new sessions; `ask` if absent.
    pub mode: Option<Mode>,
    /// Variables of new sessions, for their runtime.
    pub env: BTreeMap<String, Secret>,
    /// The audit file, if there is one.
    pub evidence: Evidence,
    /// Which input is accepted.
    pub profile: Profile,
    /// Arguments that, after those of the editor's own command, log in to the agent in a terminal. Offered to editors
    /// that can do so; no login is offered if absent.
    pub terminal_login: Option<Vec<String>>,
    /// Whether an editor that asks for the draft of version 2 gets it; version 1 otherwise.
    pub protocol_v2: bool,
}

/// The two directions of a connection. Both queues are bounded.
pub struct Transport {
    /// Messages of the editor; it ends when the editor leaves.
    pub incoming: MessageReceiver,
    /// Messages to the editor.
    pub outgoing: mpsc::Sender<String>,
}

/// Serves an editor until it leaves. `connect` opens a connection to the daemon; it is called first at once, and again
/// after the daemon has gone.
pub async fn serve<C>(settings: Settings, transport: Transport, connect: impl Fn() -> C)
where
    C: Future<Output = Result<Client, String>>,
{
    let (daemon, mut wanted) = DaemonLink::new();
    let door = Arc::new(Door {
        settings,
        editor: EditorConnection::new(transport.outgoing),
        daemon,
        shows: Mutex::new(None),
        serving: Serving::default(),
        sessions: Mutex::default(),
        opening: tokio::sync::Mutex::default(),
        running: Mutex::default(),
    });
    let connecting = async {
        while let Some(waiting) = wanted.recv().await {
            // Whoever waits no longer does not mind.
            let _ = waiting.send(connect().await);
        }
        std::future::pending().await
    };
    tokio::select! {
        () = door.run(transport.incoming) => {}
        () = connecting => {}
    }
}

/// What the requests of one connection share.
pub(crate) struct Door {
    settings: Settings,
    editor: EditorConnection,
    daemon: DaemonLink,
    /// What the client shows; `None` before `initialize`.
    shows: Mutex<Option<Shows>>,
    serving: Serving,
    /// The sessions that are open here.
    sessions: Mutex<HashMap<String, SessionHandle>>,
    /// Held while a session is opened, so that none is opened twice.
    opening: tokio::sync::Mutex<()>,
    /// Requests that are not answered yet. Whoever takes one out answers it.
    running: Mutex<HashMap<RequestId, AbortHandle>>,
}

impl Door {
    async fn run(self: Arc<Self>, mut incoming: MessageReceiver) {
        let mut requests = JoinSet::new();
        // A daemon that has to be started first is ready the sooner.
        let door = self.clone();
        requests.spawn(async move { drop(door.daemon.client().await) });
        loop {
            tokio::select! {
                message = incoming.recv(), if requests.len() < MAX_REQUESTS => match message {
                    Some((message, room)) => self.on_message(message, room, &mut requests).await,
                    None => break,
                },
                Some(_) = requests.join_next(), if !requests.is_empty() => {}
                () = self.editor.closed() => return,
            }
        }
        // Requests that came in one go with the end of the input are still answered.
        let _ = timeout(GRACE, async { while requests.join_next().await.is_some() {} }).await;
        self.sessions.lock().clear();
    }

    async fn on_message(self: &Arc<Self>, message: ReceivedMessage, room: MessageRoom, requests: &mut JoinSet<()>) {
        let parsed = match &message {
            ReceivedMessage::Text(bytes) => message::parse(bytes),
            ReceivedMessage::TooLong => {
                let why = format!("a message may have at most {MAX_MESSAGE} bytes");
                Incoming::Refused { id: RequestId::Null, error: error::invalid_request(why) }
            }
        };
        match parsed {
            Incoming::Request { id, method, params } => {
                let is_v2 = match method.as_str() {
                    "initialize" => self.settings.protocol_v2 && v2::is_asked_for(&params),
                    _ => self.shows().v2,
                };
                if !is_v2 {
                    let params = Params::new(self.settings.profile, &method, params);
                    return self.on_request(id, method, params, room, requests).await;
                }
                match v2::request(method, params) {
                    Ok((method, params)) => {
                        let params = Params::new(Profile::Strict, &method, params);
                        self.on_request(id, method, params, room, requests).await;
                    }
                    Err(error) => self.editor.reply(&id, Err::<(), _>(error)).await,
                }
            }
            Incoming::Notification { method, params } => {
                self.on_notification(&method, Params::new(self.settings.profile, &method, params)).await;
            }
            Incoming::Response { id, answer } => self.editor.on_response(&id, answer),
            Incoming::Refused { id, error } => self.editor.reply(&id, Err::<(), _>(error)).await,
        }
    }

    async fn on_request(
        self: &Arc<Self>,
        id: RequestId,
        method: String,
        params: Params,
        room: MessageRoom,
        requests: &mut JoinSet<()>,
    ) {
        if method == "initialize" {
            // At once, because the requests that follow in one go count on it.
            let answer = self.answer(&method, params).await.map(|answered| self.in_version(&method, answered.result));
            return self.editor.reply(&id, answer).await;
        }
        let door = self.clone();
        if method != "session/prompt" {
            let request = id.clone();
            // Locked until the request is known, because its task may be done before that.
            let mut running = self.running.lock();
            let task = requests.spawn(async move {
                let answer = door.answer(&method, params).await;
                drop(room);
                if door.running.lock().remove(&request).is_none() {
                    return;
                }
                let (answer, opened) = match answer {
                    Ok(Answered { result, opened }) => (Ok(door.in_version(&method, result)), opened),
                    Err(error) => (Err(error), None),
                };
                door.editor.reply(&request, answer).await;
                if let Some(opened) = opened {
                    let _ = opened.send(SessionCommand::Announce).await;
                }
            });
            running.insert(id, task);
            return;
        }
        let checked = requests::prompt(&params).and_then(|prompt| self.ready().map(|()| prompt));
        let prompt = match checked {
            Ok(prompt) => Box::new(prompt),
            Err(error) => return self.editor.reply(&id, Err::<(), _>(error)).await,
        };
        let session = prompt.session_id.clone().unwrap_or_default();
        let mut command = SessionCommand::Prompt { request: id.clone(), params: prompt, room };
        if let Some(commands) = self.commands(&session) {
            // In the order of the messages, so that a cancellation that follows finds the prompt.
            match commands.send(command).await {
                Ok(()) => return,
                Err(unsent) => command = unsent.0,
            }
        }
        requests.spawn(async move {
            let sent = match door.open(&session, params.is_legacy).await {
                Ok((commands, _)) => commands.send(command).await.map_err(|_| error::gone()),
                Err(error) => Err(error),
            };
            if let Err(error) = sent {
                door.editor.reply(&id, Err::<(), _>(error)).await;
            }
        });
    }

    /// A result in the version of the protocol that the connection speaks.
    fn in_version(&self, method: &str, result: Value) -> Value {
        if self.shows().v2 { v2::result(method, result) } else { result }
    }

    /// Notifications are never answered; those that make no sense are ignored.
    async fn on_notification(&self, method: &str, params: Params) {
        match method {
            "session/cancel" => {
                let session = params.read::<acp::CancelNotification>().map(|cancel| cancel.session_id);
                if let Some(commands) = session.ok().and_then(|session| self.commands(&session.0)) {
                    let _ = commands.send(SessionCommand::Cancel).await;
                }
            }
            "$/cancel_request" => {
                if let Ok(cancel) = params.read::<acp::CancelRequestNotification>() {
                    self.cancel_request(cancel.request_id).await;
                }
            }
            _ => tracing::debug!(method, "A notification that is not known; ignored."),
        }
    }

    async fn cancel_request(&self, id: RequestId) {
        let running = self.running.lock().remove(&id);
        if let Some(request) = running {
            request.abort();
            return self.editor.reply(&id, Err::<(), _>(error::cancelled())).await;
        }
        let all: Vec<_> = self.sessions.lock().values().filter_map(SessionHandle::commands).collect();
        for commands in all {
            let _ = commands.send(SessionCommand::CancelRequest(id.clone())).await;
        }
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn editor(&self) -> &EditorConnection {
        &self.editor
    }

    pub(crate) fn daemon(&self) -> &DaemonLink {
        &self.daemon
    }

    pub(crate) fn opening(&self) -> &tokio::sync::Mutex<()> {
        &self.opening
    }

    pub(crate) fn set_client(&self, shows: Shows) {
        *self.shows.lock() = Some(shows);
    }

    pub(crate) fn serving(&self) -> &Serving {
        &self.serving
    }

    pub(crate) fn shows(&self) -> Shows {
        self.shows.lock().unwrap_or_default()
    }

    /// An error before `initialize`.
    pub(crate) fn ready(&self) -> Result<(), acp::Error> {
        match *self.shows.lock() {
            Some(_) => Ok(()),
            None => Err(error::invalid_request("initialize comes first")),
        }
    }

    /// The way to a session that is open here.
    pub(crate) fn commands(&self, id: &str) -> Option<mpsc::Sender<SessionCommand>> {
        self.sessions.lock().get(id)?.commands()
    }

    pub(crate) fn remember(&self, id: &str, session: SessionHandle) {
        self.sessions.lock().insert(id.to_owned(), session);
    }

    /// An error if no further session can be opened here.
    pub(crate) fn has_room(&self) -> Result<(), acp::Error> {
        let mut sessions = self.sessions.lock();
        sessions.retain(|_, session| session.commands().is_some());
        match sessions.len() < MAX_SESSIONS {
            true => Ok(()),
            false => Err(error::internal(format!("{MAX_SESSIONS} sessions are open, which is the limit; close one"))),
        }
    }

    pub(crate) fn forget(&self, id: &str) {
        self.sessions.lock().remove(id);
    }
}
