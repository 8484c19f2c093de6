//! The engine: finds or revives the actor of a session and passes commands on.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use roost_log::Log;
use roost_process::Isolation;
use roost_proto::event::{NewEvent, RuntimeRef, Trace};
use roost_proto::ids::SessionId;
use roost_proto::mode::{Mode, PermissionMode};
use roost_proto::payload::SessionCreatedPayload;
use roost_proto::runtime::CreateSessionInput;
use roost_proto::session::{SessionRecord, TaskOutcome};
use roost_proto::time::Timestamp;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::actor::Actor;
use crate::adapter::McpServer;
use crate::command::{Accepted, Command, Prompt};
use crate::environment::Environments;
use crate::error::Error;
use crate::recovery::{self, Survivor};
use crate::registry::Runtimes;
use crate::runtime::{Profile, Runtime};
use crate::scribe::Scribe;
use crate::slots::{Slots, WhenFull};
use crate::task::{Phase, Task};

/// The version of seed 001's contract that sessions are made under.
const CONTRACT_VERSION: &str = "1";
/// Commands that may wait at a session; beyond it senders wait.
const INBOX: usize = 64;
/// How long the whole engine may take to stop.
const SHUTDOWN: Duration = Duration::from_secs(5);

/// Names the tool servers of a session; wired in the composition root, so that the engine never sees the gateway.
pub type McpServers = Arc<dyn Fn(&SessionId) -> Vec<McpServer> + Send + Sync>;

/// How the engine is set up; the composition root fills it in.
#[derive(Clone)]
pub struct Config {
    /// How runtimes' environments are made.
    pub environments: Environments,
    /// Where the records of running processes are.
    pub records: PathBuf,
    /// How far single runtimes are kept apart, by their ids, where that is not as for all.
    pub isolation: BTreeMap<String, Isolation>,
    /// Most runtimes alive at once.
    pub max_sessions: usize,
    /// What happens to one too many.
    pub when_full: WhenFull,
    /// How long a runtime is kept without a task.
    pub idle_timeout: Duration,
    /// The tool servers of a session.
    pub mcp_servers: McpServers,
}

impl Config {
    /// The usual limits, with no tool servers.
    pub fn new(environments: Environments, records: PathBuf) -> Self {
        Self {
            environments,
            records,
            isolation: BTreeMap::new(),
            max_sessions: 32,
            when_full: WhenFull::Queue,
            idle_timeout: Duration::from_secs(30 * 60),
            mcp_servers: Arc::new(|_| Vec::new()),
        }
    }
}

/// What every session needs.
pub(crate) struct Shared {
    pub(crate) log: Arc<dyn Log>,
    pub(crate) config: Config,
    pub(crate) slots: Arc<Slots>,
}

/// What a new session is made with.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// The runtime's id; absent means the default.
    pub runtime: Option<String>,
    /// The working directory; absolute.
    pub cwd: PathBuf,
    /// How much it may do unasked.
    pub mode: Mode,
    /// Whose runtime state and credentials it uses.
    pub credential_namespace: String,
    /// Title, model and the runtime's own configuration.
    pub input: CreateSessionInput,
}

struct Live {
    inbox: mpsc::Sender<Command>,
    actor: JoinHandle<()>,
}

/// The engine.
pub struct Engine {
    shared: Arc<Shared>,
    runtimes: Runtimes,
    /// Sessions with an actor. `None` after shutdown, when no new one may start.
    live: Mutex<Option<HashMap<SessionId, Live>>>,
    /// Held while an actor is looked up or revived, so that a session never has two.
    reviving: tokio::sync::Mutex<()>,
}

impl Engine {
    /// Starts the engine: closes what an earlier process left open, ends what it left running.
    pub async fn start(log: Arc<dyn Log>, runtimes: Runtimes, config: Config) -> Result<Self, Error> {
        let slots = Arc::new(Slots::new(config.max_sessions, config.when_full));
        let shared = Arc::new(Shared { log, config, slots });
        let survivors = recovery::recover(&shared, &runtimes).await?;
        let live = Mutex::new(Some(HashMap::new()));
        let engine = Self { shared, runtimes, live, reviving: tokio::sync::Mutex::new(()) };
        for survivor in survivors {
            engine.adopt(survivor).await?;
        }
        Ok(engine)
    }

    /// The registered runtimes.
    pub fn runtimes(&self) -> &Runtimes {
        &self.runtimes
    }

    /// Makes a session. No process runs until it is prompted.
    pub async fn create_session(&self, new: NewSession) -> Result<SessionId, Error> {
        let id = new.runtime.or_else(|| self.runtimes.default_id()).unwrap_or_default();
        let adapter = self.runtimes.usable(&id)?;
        let cwd = directory(&new.cwd).await?;
        let session_id = SessionId::new();
        let created = SessionCreatedPayload {
            contract_version: CONTRACT_VERSION.into(),
            runtime: adapter.name(),
            cwd: cwd.clone(),
            credential_namespace: new.credential_namespace.clone(),
            title: new.input.title.clone(),
            model: new.input.model.clone(),
            permission_mode: PermissionMode::from(new.mode),
            mode: new.mode,
        };
        let event = NewEvent {
            time: Timestamp::now(),
            trace: Trace::session(session_id.clone()),
            runtime: RuntimeRef::new(adapter.name()),
            body: created.into(),
        };
        self.shared.log.append(&(&session_id).into(), vec![event]).await?.await?;
        let profile =
            Profile { id: session_id.clone(), adapter, cwd, namespace: new.credential_namespace, input: new.input };
        let record = self.record(session_id.as_str()).await?;
        self.spawn(profile, &record, None, None)?;
        Ok(session_id)
    }

    /// Says something to a session, live or not.
    pub async fn prompt(&self, session: &str, prompt: Prompt) -> Result<Accepted, Error> {
        self.command(session, |reply| Command::Prompt { prompt: prompt.clone(), reply }).await?
    }

    /// Stops the running task; returns when its end is written.
    pub async fn stop(&self, session: &str, reason: &str) -> Result<TaskOutcome, Error> {
        let record = self.record(session).await?;
        if !self.is_live(&record.session_id) {
            return Err(Error::NothingToStop(record.session_id));
        }
        self.command(session, |reply| Command::Stop { reason: reason.into(), reply }).await?
    }

    /// Closes a session: its task is stopped, its runtime gone when this returns.
    pub async fn close(&self, session: &str, reason: &str) -> Result<(), Error> {
        let record = self.record(session).await?;
        if !self.is_live(&record.session_id) {
            return Ok(());
        }
        self.command(session, |reply| Command::Close { reason: reason.into(), reply }).await
    }

    /// Stops everything; nothing of it is left when this returns.
    pub async fn shutdown(&self, reason: &str) {
        let _reviving = self.reviving.lock().await;
        let Some(live) = self.live().take() else { return };
        let ends = live.into_values().map(|Live { inbox, actor }| async move {
            let (reply, _) = oneshot::channel();
            let _ = inbox.send(Command::Close { reason: reason.into(), reply }).await;
            drop(inbox);
            let _ = actor.await;
        });
        let all = async {
            futures::future::join_all(ends).await;
            roost_process::records::settled(&self.shared.config.records).await;
        };
        if tokio::time::timeout(SHUTDOWN, all).await.is_err() {
            tracing::error!("Some sessions did not end in time; their holders end them.");
        }
    }

    /// Gives a session whose runtime went on without us an actor that goes on with its task.
    async fn adopt(&self, survivor: Survivor) -> Result<(), Error> {
        let Survivor { record, reattached, ledger } = survivor;
        let Some(slot) = self.shared.slots.claim()?.taken().await else { return Err(Error::ShuttingDown) };
        let task = reattached.task.zip(ledger).zip(record.open_task.clone()).map(|((running, ledger), open)| Task {
            id: open.task_id,
            mode: record.mode,
            ledger,
            phase: Phase::Running(running),
            stop: None,
        });
        let runtime = Runtime::adopted(reattached.session, slot);
        self.spawn(self.profile(&record)?, &record, Some(runtime), task)?;
        Ok(())
    }

    /// The session of this id or native id.
    async fn record(&self, session: &str) -> Result<SessionRecord, Error> {
        let found = self.shared.log.session(session).await?;
        found.ok_or_else(|| Error::UnknownSession(session.into()))
    }

    async fn command<T>(&self, session: &str, command: impl Fn(oneshot::Sender<T>) -> Command) -> Result<T, Error> {
        let record = self.record(session).await?;
        loop {
            let inbox = self.actor(&record.session_id).await?;
            let (reply, answer) = oneshot::channel();
            if inbox.send(command(reply)).await.is_ok()
                && let Ok(answer) = answer.await
            {
                return Ok(answer);
            }
            // The actor ended before it took the command, so nothing of it has happened yet.
        }
    }

    /// The inbox of a session's actor, which is revived from the log if it has ended.
    async fn actor(&self, id: &SessionId) -> Result<mpsc::Sender<Command>, Error> {
        let _reviving = self.reviving.lock().await;
        let ended = {
            let mut live = self.live();
            let live = live.as_mut().ok_or(Error::ShuttingDown)?;
            match live.get(id) {
                Some(found) if !found.inbox.is_closed() => return Ok(found.inbox.clone()),
                _ => live.remove(id),
            }
        };
        if let Some(ended) = ended {
            // Its last events must be written before a successor writes any.
            let _ = ended.actor.await;
        }
        let record = self.record(id.as_str()).await?;
        self.spawn(self.profile(&record)?, &record, None, None)
    }

    fn profile(&self, record: &SessionRecord) -> Result<Profile, Error> {
        let input = CreateSessionInput {
            title: record.title.clone(),
            model: record.model.clone(),
            permission_mode: Some(record.mode.into()),
            runtime_config: None,
        };
        Ok(Profile {
            id: record.session_id.clone(),
            adapter: self.runtimes.usable_by_name(&record.runtime)?,
            cwd: record.cwd.clone(),
            namespace: record.credential_namespace.clone(),
            input,
        })
    }

    fn spawn(
        &self,
        profile: Profile,
        record: &SessionRecord,
        open: Option<Runtime>,
        task: Option<Task>,
    ) -> Result<mpsc::Sender<Command>, Error> {
        let (inbox, commands) = mpsc::channel(INBOX);
        let mut runtime = RuntimeRef::new(record.runtime.clone());
        runtime.runtime_session_id.clone_from(&record.runtime_session_id);
        let id = profile.id.clone();
        let mut scribe = Scribe::new(self.shared.log.clone(), &id, runtime);
        scribe.set_task(task.as_ref().map(|task| task.id.clone()));
        let actor = Actor {
            shared: self.shared.clone(),
            scribe,
            profile,
            inbox: commands,
            status: record.status,
            mode: record.mode,
            native: record.runtime_session_id.clone(),
            queue: record.queue.clone(),
            runtime: open,
            task,
            linger: None,
            idle_since: Instant::now(),
        };
        let mut live = self.live();
        let live = live.as_mut().ok_or(Error::ShuttingDown)?;
        live.retain(|_, other| !other.actor.is_finished());
        live.insert(id, Live { inbox: inbox.clone(), actor: tokio::spawn(actor.run()) });
        Ok(inbox)
    }

    fn is_live(&self, id: &SessionId) -> bool {
        self.live().as_ref().is_some_and(|live| live.get(id).is_some_and(|found| !found.inbox.is_closed()))
    }

    fn live(&self) -> MutexGuard<'_, Option<HashMap<SessionId, Live>>> {
        // The map is whole between any two statements, so a panic elsewhere cannot have left it broken.
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn directory(cwd: &Path) -> Result<String, Error> {
    let bad = |reason: &str| Error::BadCwd { cwd: cwd.display().to_string(), reason: reason.into() };
    if !cwd.is_absolute() {
        return Err(bad("the path is not absolute"));
    }
    let metadata = tokio::fs::metadata(cwd).await.map_err(|error| bad(&error.to_string()))?;
    if !metadata.is_dir() {
        return Err(bad("it is not a directory"));
    }
    cwd.to_str().map(Into::into).ok_or_else(|| bad("the path is not UTF-8"))
}
