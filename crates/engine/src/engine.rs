//! The engine: finds or revives the actor of a session and passes commands on.

use std::collections::{BTreeMap, HashMap};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use parking_lot::{Mutex, MutexGuard};
use roost_log::Log;
use roost_model::canonical;
use roost_model::event::{NewEvent, RuntimeRef, Trace};
use roost_model::ids::{SessionId, WorkspaceId};
use roost_model::mode::{Mode, PermissionMode};
use roost_model::payload::{SessionCreatedPayload, SessionUpdatedPayload};
use roost_model::registry::RuntimeRegistry;
use roost_model::runtime::CreateSessionInput;
use roost_model::secret::Secret;
use roost_model::session::{SessionRecord, TaskOutcome};
use roost_model::time::Timestamp;
use roost_policy::RuleSet;
use roost_process::Isolation;
use tokio::sync::{mpsc, oneshot, watch};

use crate::actor::{Actor, Origin};
use crate::adapter::{McpServer, RuntimeAdapter};
use crate::artifacts::Artifacts;
use crate::availability::Looks;
use crate::command::{Accepted, Amendment, Command, Prompt, Reply, Response};
use crate::environment::{Environments, Homes, NAMESPACE};
use crate::error::Error;
use crate::host_tools::HostTools;
use crate::native_history::NativeHistory;
use crate::policy_context::{Approver, Judge};
use crate::private::Private;
use crate::recovery::{self, Survivor};
use crate::registry::Runtimes;
use crate::runtime::{Profile, Runtime};
use crate::slots::{Slots, WhenFull};
use crate::task::{Phase, Task};

/// The version of seed 001's contract that sessions are made under.
pub(crate) const CONTRACT_VERSION: &str = "1";
/// Commands that may wait at a session; beyond it senders wait.
const INBOX: usize = 64;
/// How much older than the oldest event an artifact must be: it is stored before the event that refers to it.
const COLLECTOR_MARGIN: Duration = Duration::from_secs(60 * 60);
/// How long the whole engine may take to stop.
const SHUTDOWN: Duration = Duration::from_secs(5);

/// Names the tool servers that the host gives to a session; wired in the composition root, so that the engine never sees
/// the gateway.
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
    /// The models of single runtimes, by their ids, for sessions that name none.
    pub models: BTreeMap<String, String>,
    /// Where artifacts are.
    pub artifacts: PathBuf,
    /// Most characters of a conversation that reach a runtime at once; `None` means any number.
    pub max_context_chars: Option<u64>,
    /// The allow and deny lists.
    pub rules: Arc<RuleSet>,
    /// Most runtimes alive at once.
    pub max_sessions: usize,
    /// What happens to one too many.
    pub when_full: WhenFull,
    /// How long a runtime is kept without a task.
    pub idle_timeout: Duration,
    /// How long somebody may take to answer; `None` means for ever.
    pub approval_timeout: Option<Duration>,
    /// The tool servers that the host gives to every session, asked for each time that a runtime is opened.
    pub mcp_servers: McpServers,
    /// The tools that the host itself runs for runtimes.
    pub host_tools: Option<Arc<dyn HostTools>>,
}

impl Config {
    /// The usual limits, with no tool servers and no tools of the host.
    pub fn new(environments: Environments, records: PathBuf, artifacts: PathBuf) -> Self {
        Self {
            environments,
            records,
            artifacts,
            max_context_chars: None,
            rules: Arc::default(),
            isolation: BTreeMap::new(),
            models: BTreeMap::new(),
            max_sessions: 32,
            when_full: WhenFull::Queue,
            idle_timeout: Duration::from_secs(30 * 60),
            approval_timeout: Some(Duration::from_secs(24 * 60 * 60)),
            mcp_servers: Arc::new(|_| Vec::new()),
            host_tools: None,
        }
    }
}

/// What every session needs.
pub(crate) struct Shared {
    pub(crate) log: Arc<dyn Log>,
    pub(crate) config: Config,
    pub(crate) slots: Arc<Slots>,
    pub(crate) judge: Judge,
    pub(crate) artifacts: Artifacts,
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
    /// How much of the user's home its runtime shares; absent means as configured.
    pub isolation: Option<Isolation>,
    /// Variables that its runtime gets on top of its environment.
    pub env: BTreeMap<String, Secret>,
    /// The tool servers of its own. One of the same name replaces the host's.
    pub mcp_servers: Vec<McpServer>,
    /// Title, model and the runtime's own configuration.
    pub input: CreateSessionInput,
    /// The workspace it belongs to, if it is made in one.
    pub workspace_id: Option<WorkspaceId>,
}

impl NewSession {
    /// A session in this folder that is as usual in everything else.
    pub fn within(cwd: impl Into<PathBuf>) -> Self {
        Self {
            runtime: None,
            cwd: cwd.into(),
            mode: Mode::default(),
            credential_namespace: NAMESPACE.into(),
            isolation: None,
            env: BTreeMap::new(),
            mcp_servers: Vec::new(),
            input: CreateSessionInput::default(),
            workspace_id: None,
        }
    }
}

impl Shared {
    /// The session of this id or native id.
    pub(crate) async fn record(&self, session: &str) -> Result<SessionRecord, Error> {
        let found = self.log.session(session).await?;
        found.ok_or_else(|| Error::UnknownSession(session.into()))
    }
}

/// An actor as the engine holds it.
#[derive(Clone)]
struct Live {
    inbox: mpsc::Sender<Command>,
    /// Its sender goes with the actor.
    ended: watch::Receiver<()>,
}

impl Live {
    /// Passes a command on; `None` if the actor ended before it took it.
    async fn tell<T>(&self, id: &SessionId, command: impl FnOnce(Reply<T>) -> Command) -> Option<Result<T, Error>> {
        let (reply, answer) = oneshot::channel();
        self.inbox.send(command(reply)).await.ok()?;
        answer.await.unwrap_or_else(|_| Some(Err(Error::SessionFailed(id.clone()))))
    }

    fn is_gone(&self) -> bool {
        self.ended.has_changed().is_err()
    }

    /// Returns when nothing of the actor is left.
    async fn gone(mut self) {
        while self.ended.changed().await.is_ok() {}
    }
}

/// The engine.
pub struct Engine {
    pub(crate) shared: Arc<Shared>,
    runtimes: Runtimes,
    looks: Looks,
    pub(crate) native_history: NativeHistory,
    /// Held while a conversation that its runtime keeps becomes a session.
    pub(crate) adopting: tokio::sync::Mutex<()>,
    /// Sessions with an actor. `None` after shutdown, when no new one may start.
    live: Mutex<Option<HashMap<SessionId, Live>>>,
}

impl Engine {
    /// Starts the engine: closes what an earlier process left open, ends what it left running.
    pub async fn start(log: Arc<dyn Log>, runtimes: Runtimes, config: Config) -> Result<Self, Error> {
        let slots = Arc::new(Slots::new(config.max_sessions, config.when_full));
        let judge = Judge::new(config.rules.clone(), runtimes.control_files(), log.remembered().await?);
        let shared = Arc::new(Shared { artifacts: Artifacts::new(&config.artifacts), log, config, slots, judge });
        let survivors = recovery::recover(&shared, &runtimes).await?;
        let config = &shared.config;
        let native_history =
            NativeHistory::new(runtimes.clone(), config.environments.clone(), config.isolation.clone());
        let live = Mutex::new(Some(HashMap::new()));
        let engine = Self {
            shared,
            runtimes,
            looks: Looks::default(),
            native_history,
            adopting: tokio::sync::Mutex::default(),
            live,
        };
        for survivor in survivors {
            engine.go_on(survivor).await?;
        }
        Ok(engine)
    }

    /// The store of what is too big for an event.
    pub fn artifacts(&self) -> &Artifacts {
        &self.shared.artifacts
    }

    /// Removes the artifacts that no stored event can refer to any more; to be called when events were removed.
    pub async fn collect_artifacts(&self) -> Result<u64, Error> {
        let oldest = self.shared.log.oldest().await?.unwrap_or_else(Timestamp::now);
        let margin = i64::try_from(COLLECTOR_MARGIN.as_millis()).unwrap_or(i64::MAX);
        let before = Timestamp::from_millis(oldest.as_millis().saturating_sub(margin));
        Ok(self.shared.artifacts.collect(before).await?)
    }

    /// The registered runtimes.
    pub fn runtimes(&self) -> &Runtimes {
        &self.runtimes
    }

    /// The runtimes with what is known of them on this machine.
    pub async fn registry(&self) -> RuntimeRegistry {
        let Config { environments, isolation, .. } = &self.shared.config;
        self.looks.registry(&self.runtimes, &Homes { environments, isolation }).await
    }

    /// What runtimes keep by themselves.
    pub fn native_history(&self) -> &NativeHistory {
        &self.native_history
    }

    /// Makes a session. No process runs until it is prompted.
    pub async fn create_session(&self, mut new: NewSession) -> Result<SessionId, Error> {
        let id = match new.runtime {
            Some(id) => id,
            None => self.registry().await.default_runtime,
        };
        new.input.model = new.input.model.or_else(|| self.shared.config.models.get(&id).cloned());
        let adapter = self.runtimes.usable(&id)?;
        let cwd = directory(&new.cwd).await?;
        let session_id = SessionId::new();
        let private =
            Private { env: new.env, runtime_config: new.input.runtime_config.clone(), mcp_servers: new.mcp_servers };
        private.check()?;
        private.store(&*self.shared.log, &session_id).await?;
        new.input.variables = private.env.keys().cloned().collect();
        let created = SessionCreatedPayload {
            contract_version: CONTRACT_VERSION.into(),
            runtime: adapter.name(),
            cwd,
            credential_namespace: new.credential_namespace,
            title: new.input.title,
            model: new.input.model,
            permission_mode: PermissionMode::from(new.mode),
            mode: new.mode,
            workspace_id: new.workspace_id,
            isolation: new.isolation,
            env: private.env.keys().cloned().collect(),
            runtime_config: private.runtime_config.as_ref().map(roost_policy::redact_settings),
            runtime_config_hash: private.runtime_config.as_ref().map(|config| canonical::hash(&config.clone().into())),
            adopted: None,
            forked: None,
        };
        self.begin(&session_id, adapter, created, private).await?;
        Ok(session_id)
    }

    /// Writes a session's first event and gives it an actor.
    pub(crate) async fn begin(
        &self,
        session_id: &SessionId,
        adapter: Arc<dyn RuntimeAdapter>,
        created: SessionCreatedPayload,
        private: Private,
    ) -> Result<(), Error> {
        let event = NewEvent {
            time: Timestamp::now(),
            trace: Trace::session(session_id.clone()),
            runtime: RuntimeRef::new(adapter.name()),
            body: created.into(),
        };
        self.shared.log.append(&session_id.into(), vec![event]).await?.await?;
        let record = self.shared.record(session_id.as_str()).await?;
        let profile = Profile::of(&record, adapter, private);
        let origin = Origin { profile, record, runtime: None, task: None };
        self.spawn(self.live().as_mut(), session_id, async { Ok(origin) })?;
        Ok(())
    }

    /// Refuses images for a runtime that takes none.
    pub fn check_images(&self, runtime: &str) -> Result<(), Error> {
        match self.runtimes.usable(runtime)?.takes_images() {
            true => Ok(()),
            false => Err(Error::NoImages(runtime.into())),
        }
    }

    /// Says something to a session, live or not.
    pub async fn prompt(&self, session: &str, prompt: Prompt) -> Result<Accepted, Error> {
        if prompt.message.images().next().is_some() {
            self.check_images(self.shared.record(session).await?.runtime.id())?;
        }
        self.tell_actor(session, |reply| Command::Prompt { prompt: prompt.clone(), reply }).await
    }

    /// Changes what a session is from its next task on, live or not.
    pub async fn amend(&self, session: &str, amendment: Amendment) -> Result<(), Error> {
        self.tell_actor(session, |reply| Command::Amend { amendment: amendment.clone(), reply }).await
    }

    /// Passes a command on to a session's actor, which is revived if it has ended.
    async fn tell_actor<T>(&self, session: &str, command: impl Fn(Reply<T>) -> Command) -> Result<T, Error> {
        loop {
            let (id, actor) = match self.running(session) {
                Some(running) => running,
                None => {
                    let record = self.shared.record(session).await?;
                    let actor = self.actor(&record)?;
                    (record.session_id, actor)
                }
            };
            // An actor that ended before it took the command did nothing about it: its successor takes it.
            if let Some(answer) = actor.tell(&id, &command).await {
                return answer;
            }
        }
    }

    /// Stops the running task; returns when its end is written.
    pub async fn stop(&self, session: &str, reason: &str) -> Result<TaskOutcome, Error> {
        let id = self.resolve(session).await?;
        let told = match self.find(&id) {
            Some(actor) => actor.tell(&id, |reply| Command::Stop { reason: reason.into(), reply }).await,
            None => None,
        };
        told.unwrap_or(Err(Error::NothingToStop(id)))
    }

    /// Answers something that waits; returns when the runtime's side has taken it.
    pub async fn respond(&self, session: &str, response: Response) -> Result<(), Error> {
        let id = self.resolve(session).await?;
        let told = match self.find(&id) {
            Some(actor) => actor.tell(&id, |reply| Command::Respond { response: response.clone(), reply }).await,
            None => None,
        };
        told.unwrap_or_else(|| Err(Error::NotPending(response.to.id().to_owned())))
    }

    /// Closes a session: its task is stopped, its runtime gone when this returns.
    pub async fn close(&self, session: &str, reason: &str) -> Result<(), Error> {
        let id = self.resolve(session).await?;
        let Some(actor) = self.find(&id) else { return Ok(()) };
        let told = actor.tell(&id, |reply| Command::Close { reason: reason.into(), reply }).await;
        actor.gone().await;
        told.unwrap_or(Ok(()))
    }

    /// Takes a session off the lists: it is closed first, and its variables, settings and tool servers are forgotten.
    /// What happened stays in the log.
    pub async fn hide(&self, session: &str) -> Result<(), Error> {
        self.close(session, "deleted").await?;
        let record = self.shared.record(session).await?;
        let hidden = SessionUpdatedPayload { hidden: Some(true), ..SessionUpdatedPayload::default() };
        let event = NewEvent {
            time: Timestamp::now(),
            trace: Trace::session(record.session_id.clone()),
            runtime: RuntimeRef::new(record.runtime),
            body: hidden.into(),
        };
        self.shared.log.append(&(&record.session_id).into(), vec![event]).await?.await?;
        Private::forget(&*self.shared.log, &record.session_id).await
    }

    /// Stops everything; nothing of it is left when this returns.
    pub async fn shutdown(&self, reason: &str) {
        let Some(live) = self.live().take() else { return };
        let ends = live.into_iter().map(|(id, actor)| async move {
            // Whether or not it could say so in the log, it is gone afterwards.
            let _ = actor.tell(&id, |reply| Command::Close { reason: reason.into(), reply }).await;
            actor.gone().await;
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
    async fn go_on(&self, survivor: Survivor) -> Result<(), Error> {
        let Survivor { record, reattached, ledger, ephemeral } = survivor;
        let task = reattached.task.zip(ledger).zip(record.open_task.clone()).map(|((running, ledger), open)| {
            let pending = ledger.pending();
            let mut task = Task::new(open.task_id, record.mode, Approver::Present, ledger, Phase::Running(running));
            // Nobody could answer while Roost was down, so the time to do so begins anew.
            pending.into_iter().for_each(|asked| task.wait(asked, self.shared.config.approval_timeout));
            task
        });
        let runtime = Some(Runtime::adopted(reattached.session, self.shared.slots.adopt(), ephemeral));
        let private = Private::of(&*self.shared.log, &record).await?;
        let profile = Profile::of(&record, self.runtimes.usable_by_name(&record.runtime)?, private);
        let id = record.session_id.clone();
        let origin = Origin { profile, record, runtime, task };
        self.spawn(self.live().as_mut(), &id, async { Ok(origin) })?;
        Ok(())
    }

    /// The id of the session of this id or native id; the log is asked only if no actor has this id.
    async fn resolve(&self, session: &str) -> Result<SessionId, Error> {
        let id = SessionId::from(session);
        match self.find(&id) {
            Some(_) => Ok(id),
            None => Ok(self.shared.record(session).await?.session_id),
        }
    }

    /// The actor that takes commands for the session of this id.
    fn running(&self, session: &str) -> Option<(SessionId, Live)> {
        let id = SessionId::from(session);
        let actor = self.find(&id).filter(|actor| !actor.inbox.is_closed())?;
        Some((id, actor))
    }

    /// A session's actor, if it has one.
    fn find(&self, id: &SessionId) -> Option<Live> {
        self.live().as_ref().and_then(|live| live.get(id).cloned())
    }

    /// A session's actor. One that has ended gets a successor, which begins when nothing of it is left.
    fn actor(&self, record: &SessionRecord) -> Result<Live, Error> {
        let mut live = self.live();
        let id = record.session_id.clone();
        let ended = match live.as_ref().and_then(|live| live.get(&id)) {
            Some(found) if !found.inbox.is_closed() => return Ok(found.clone()),
            ended => ended.cloned(),
        };
        let adapter = self.runtimes.usable_by_name(&record.runtime)?;
        let shared = self.shared.clone();
        let origin = async move {
            if let Some(ended) = ended {
                ended.gone().await;
            }
            // Only now does the log hold everything that the successor must know.
            let record = shared.record(id.as_str()).await?;
            let private = Private::of(&*shared.log, &record).await?;
            Ok(Origin { profile: Profile::of(&record, adapter, private), record, runtime: None, task: None })
        };
        self.spawn(live.as_mut(), &record.session_id, origin)
    }

    fn spawn(
        &self,
        live: Option<&mut HashMap<SessionId, Live>>,
        id: &SessionId,
        origin: impl Future<Output = Result<Origin, Error>> + Send + 'static,
    ) -> Result<Live, Error> {
        let live = live.ok_or(Error::ShuttingDown)?;
        let (inbox, commands) = mpsc::channel(INBOX);
        let (alive, ended) = watch::channel(());
        let life = life(self.shared.clone(), id.clone(), origin, commands);
        tokio::spawn(async move {
            life.await;
            drop(alive);
        });
        live.retain(|_, other| !other.is_gone());
        let actor = Live { inbox, ended };
        live.insert(id.clone(), actor.clone());
        Ok(actor)
    }

    fn live(&self) -> MutexGuard<'_, Option<HashMap<SessionId, Live>>> {
        self.live.lock()
    }
}

/// An actor from its beginning to its end. One that fails leaves no open task, as far as the log lets it.
async fn life(
    shared: Arc<Shared>,
    id: SessionId,
    origin: impl Future<Output = Result<Origin, Error>>,
    commands: mpsc::Receiver<Command>,
) {
    let run = async { Actor::new(shared.clone(), origin.await?, commands).run().await };
    let failure = match AssertUnwindSafe(run).catch_unwind().await {
        Ok(Ok(())) => return,
        Ok(Err(error)) => error.to_string(),
        Err(_) => "it panicked".to_owned(),
    };
    tracing::error!(session = %id, error = failure, "A session failed.");
    if let Err(error) = recovery::close_failed(&shared, &id).await {
        tracing::error!(session = %id, %error, "The failed session could not be closed; the next start does it.");
    }
}

pub(crate) async fn directory(cwd: &Path) -> Result<String, Error> {
    let bad = |reason: &str| Error::BadCwd { cwd: cwd.display().to_string(), reason: reason.into() };
    if !cwd.is_absolute() {
        return Err(bad("the path is not absolute"));
    }
    // Links are resolved once and for all: where a path leads is judged from here.
    let real = tokio::fs::canonicalize(cwd).await.map_err(|error| bad(&error.to_string()))?;
    let metadata = tokio::fs::metadata(&real).await.map_err(|error| bad(&error.to_string()))?;
    if !metadata.is_dir() {
        return Err(bad("it is not a directory"));
    }
    real.to_str().map(Into::into).ok_or_else(|| bad("the path is not UTF-8"))
}
