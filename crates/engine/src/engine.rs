//! The engine: finds or revives the actor of a session and sends commands to it.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use parking_lot::{Mutex, MutexGuard};
use roost_log::{DatedRule, Log};
use roost_model::approval::Answerer;
use roost_model::canonical;
use roost_model::event::{NewEvent, RuntimeRef, Trace};
use roost_model::ids::{PromptId, SessionId};
use roost_model::mode::PermissionMode;
use roost_model::payload::{RuleRemovedPayload, SessionCreatedPayload, SessionUpdatedPayload};
use roost_model::registry::RuntimeRegistry;
use roost_model::session::{SessionRecord, TaskOutcome};
use roost_model::time::Timestamp;
use tokio::sync::{mpsc, oneshot, watch};

use crate::actor::{Actor, InitialState};
use crate::adapter::RuntimeAdapter;
use crate::artifacts::Artifacts;
use crate::availability::AvailabilityCache;
use crate::command::{Accepted, Amendment, Command, Prompt, Reply, Response};
use crate::config::{Config, NewSession};
use crate::environment::Homes;
use crate::error::Error;
use crate::native_history::NativeHistory;
use crate::policy_context::{Approver, Judge};
use crate::recovery::{self, Survivor};
use crate::registry::Runtimes;
use crate::runtime::{Profile, Runtime};
use crate::session_secrets::SessionSecrets;
use crate::session_tokens::SessionTokens;
use crate::slots::Slots;
use crate::task::{Phase, Task};

/// The version of seed 001's contract, recorded in every new session.
pub(crate) const CONTRACT_VERSION: &str = "1";
/// Commands that may wait in a session's inbox; if it is full, senders wait.
const INBOX: usize = 64;
/// How much older than the oldest event an artifact must be to be removed, because it is stored before its event.
const COLLECTOR_MARGIN: Duration = Duration::from_secs(60 * 60);
/// How long [`Engine::shutdown`] waits for sessions to end.
const SHUTDOWN: Duration = Duration::from_secs(5);

/// What the engine and all its actors share.
pub(crate) struct Shared {
    pub(crate) log: Arc<dyn Log>,
    pub(crate) config: Config,
    pub(crate) slots: Arc<Slots>,
    pub(crate) judge: Judge,
    pub(crate) artifacts: Artifacts,
    /// The tokens by which runtimes use the MCP gateway.
    pub(crate) tokens: SessionTokens,
}

impl Shared {
    /// The record of a session, found by Roost's id or by the runtime's.
    pub(crate) async fn record(&self, session: &str) -> Result<SessionRecord, Error> {
        let found = self.log.session(session).await?;
        found.ok_or_else(|| Error::UnknownSession(session.into()))
    }
}

/// The engine's handle to a session's actor.
#[derive(Clone)]
struct ActorHandle {
    inbox: mpsc::Sender<Command>,
    /// Closes when the actor's task has ended, because the task owns the sender.
    ended: watch::Receiver<()>,
}

impl ActorHandle {
    /// Sends a command and waits for its answer; `None` if the actor ended before it took the command.
    async fn send<T>(&self, id: &SessionId, command: impl FnOnce(Reply<T>) -> Command) -> Option<Result<T, Error>> {
        let (reply, answer) = oneshot::channel();
        self.inbox.send(command(reply)).await.ok()?;
        answer.await.unwrap_or_else(|_| Some(Err(Error::SessionFailed(id.clone()))))
    }

    fn is_gone(&self) -> bool {
        self.ended.has_changed().is_err()
    }

    /// Returns when the actor's task has ended and its runtime is gone.
    async fn wait_until_gone(mut self) {
        while self.ended.changed().await.is_ok() {}
    }
}

/// Hosts all sessions. There is one per daemon.
pub struct Engine {
    pub(crate) shared: Arc<Shared>,
    runtimes: Runtimes,
    availability: AvailabilityCache,
    pub(crate) native_history: NativeHistory,
    /// Held while a session is adopted, so that two requests for one conversation make one session.
    pub(crate) adopting: tokio::sync::Mutex<()>,
    /// The sessions that have an actor. `None` after shutdown, when no new actor may start.
    live: Mutex<Option<HashMap<SessionId, ActorHandle>>>,
}

impl Engine {
    /// Starts the engine: closes the sessions that an earlier process left open, and ends or takes over its runtimes.
    pub async fn start(log: Arc<dyn Log>, runtimes: Runtimes, config: Config) -> Result<Self, Error> {
        let slots = Arc::new(Slots::new(config.max_sessions, config.when_full));
        let remembered = log.remembered().await?.into_iter().map(|dated| dated.rule).collect();
        let judge = Judge::new(config.rules.clone(), runtimes.control_files(), remembered);
        let shared = Arc::new(Shared {
            artifacts: Artifacts::new(&config.artifacts),
            log,
            config,
            slots,
            judge,
            tokens: SessionTokens::default(),
        });
        let survivors = recovery::recover(&shared, &runtimes).await?;
        let config = &shared.config;
        let native_history =
            NativeHistory::new(runtimes.clone(), config.environments.clone(), config.isolation.clone());
        let live = Mutex::new(Some(HashMap::new()));
        let engine = Self {
            shared,
            runtimes,
            availability: AvailabilityCache::default(),
            native_history,
            adopting: tokio::sync::Mutex::default(),
            live,
        };
        for survivor in survivors {
            engine.resume_survivor(survivor).await?;
        }
        engine.shared.tokens.forget_dead(&*engine.shared.log).await?;
        Ok(engine)
    }

    /// The store for everything that is too big for an event.
    pub fn artifacts(&self) -> &Artifacts {
        &self.shared.artifacts
    }

    /// The remembered answer of this id, and when it was given.
    pub async fn remembered_rule(&self, id: &str) -> Result<DatedRule, Error> {
        let remembered = self.shared.log.remembered().await?;
        remembered.into_iter().find(|dated| dated.rule.id() == id).ok_or_else(|| Error::UnknownRule(id.to_owned()))
    }

    /// Removes a remembered answer: from now on, calls like it are asked about again in every session.
    pub async fn remove_rule(&self, id: &str, by: Answerer) -> Result<(), Error> {
        let DatedRule { at, rule } = self.remembered_rule(id).await?;
        let removed = RuleRemovedPayload { rule_id: id.to_owned(), rule, removed_by: by };
        // The later event counts, whatever happened to the clock in between.
        let time = Timestamp::now().max(Timestamp::from_millis(at.as_millis() + 1));
        self.shared.log.keep(Vec::new(), vec![NewEvent::for_host(time, removed)]).await?;
        self.shared.judge.forget(id);
        Ok(())
    }

    /// Removes the artifacts that no stored event can refer to any more, and returns how many. To be called after
    /// events were removed.
    pub async fn collect_artifacts(&self) -> Result<u64, Error> {
        let oldest = self.shared.log.oldest().await?.unwrap_or_else(Timestamp::now);
        let margin = i64::try_from(COLLECTOR_MARGIN.as_millis()).unwrap_or(i64::MAX);
        let before = Timestamp::from_millis(oldest.as_millis().saturating_sub(margin));
        Ok(self.shared.artifacts.collect(before).await?)
    }

    /// All registered runtimes, whether installed or not.
    pub fn runtimes(&self) -> &Runtimes {
        &self.runtimes
    }

    /// The registered runtimes with their availability on this machine, which is cached for a while.
    pub async fn registry(&self) -> RuntimeRegistry {
        let Config { environments, isolation, .. } = &self.shared.config;
        self.availability.registry(&self.runtimes, &Homes { environments, isolation }).await
    }

    /// The conversations that runtimes store by themselves.
    pub fn native_history(&self) -> &NativeHistory {
        &self.native_history
    }

    /// Creates a session. Its runtime starts with the first prompt.
    pub async fn create_session(&self, mut new: NewSession) -> Result<SessionId, Error> {
        let id = match new.runtime {
            Some(id) => id,
            None => self.registry().await.default_runtime,
        };
        new.input.model = new.input.model.or_else(|| self.shared.config.models.get(&id).cloned());
        let adapter = self.runtimes.usable(&id)?;
        let cwd = directory(&new.cwd).await?;
        let session_id = SessionId::new();
        let secrets = SessionSecrets {
            env: new.env,
            runtime_config: new.input.runtime_config.clone(),
            mcp_servers: new.mcp_servers,
        };
        secrets.check()?;
        secrets.store(&*self.shared.log, &session_id).await?;
        new.input.variables = secrets.env.keys().cloned().collect();
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
            env: secrets.env.keys().cloned().collect(),
            mcp_servers: secrets.mcp_servers.iter().map(|server| server.name.clone()).collect(),
            runtime_config: secrets.runtime_config.as_ref().map(roost_policy::redact_settings),
            runtime_config_hash: secrets.runtime_config.as_ref().map(|config| canonical::hash(&config.clone().into())),
            adopted: None,
            forked: None,
        };
        self.begin(&session_id, adapter, created, secrets).await?;
        Ok(session_id)
    }

    /// Writes a session's first event and starts its actor.
    pub(crate) async fn begin(
        &self,
        session_id: &SessionId,
        adapter: Arc<dyn RuntimeAdapter>,
        created: SessionCreatedPayload,
        secrets: SessionSecrets,
    ) -> Result<(), Error> {
        let event = NewEvent {
            time: Timestamp::now(),
            trace: Trace::session(session_id.clone()),
            runtime: RuntimeRef::new(adapter.name()),
            body: created.into(),
        };
        self.shared.log.append(&session_id.into(), vec![event]).await?.await?;
        let record = self.shared.record(session_id.as_str()).await?;
        let profile = Profile::from_record(&record, adapter, secrets);
        let initial = InitialState { profile, record, runtime: None, task: None };
        self.spawn(self.live().as_mut(), session_id, async { Ok(initial) })?;
        Ok(())
    }

    /// [`Error::NoImages`] if the runtime takes no images.
    pub fn check_images(&self, runtime: &str) -> Result<(), Error> {
        match self.runtimes.usable(runtime)?.takes_images() {
            true => Ok(()),
            false => Err(Error::NoImages(runtime.into())),
        }
    }

    /// Sends a prompt to a session, whether it has an actor or not.
    pub async fn prompt(&self, session: &str, prompt: Prompt) -> Result<Accepted, Error> {
        if prompt.message.images().next().is_some() {
            self.check_images(self.shared.record(session).await?.runtime.id())?;
        }
        self.send_to_actor(session, |reply| Command::Prompt { prompt: prompt.clone(), reply }).await
    }

    /// Changes a session's title, model or mode from its next task on, whether it has an actor or not.
    pub async fn amend(&self, session: &str, amendment: Amendment) -> Result<(), Error> {
        self.send_to_actor(session, |reply| Command::Amend { amendment: amendment.clone(), reply }).await
    }

    /// Sends a command to a session's actor, which is revived if it has ended.
    pub(crate) async fn send_to_actor<T>(
        &self,
        session: &str,
        command: impl Fn(Reply<T>) -> Command,
    ) -> Result<T, Error> {
        loop {
            let (id, actor) = match self.find_running(session) {
                Some(running) => running,
                None => {
                    let record = self.shared.record(session).await?;
                    let actor = self.find_or_revive(&record)?;
                    (record.session_id, actor)
                }
            };
            // An actor that ended before it took the command did nothing about it: its successor takes it.
            if let Some(answer) = actor.send(&id, &command).await {
                return answer;
            }
        }
    }

    /// Sends a command to a session's actor; `None` if it has none or that ended before it took the command.
    pub(crate) async fn send_to_live_actor<T>(
        &self,
        session: &SessionId,
        command: impl Fn(Reply<T>) -> Command,
    ) -> Option<Result<T, Error>> {
        self.find(session)?.send(session, command).await
    }

    /// Stops the running task and returns its outcome once its end is in the log.
    pub async fn stop(&self, session: &str, reason: &str) -> Result<TaskOutcome, Error> {
        self.stop_by(session, reason, None).await
    }

    /// The same for a client, which the record names.
    pub async fn stop_by(&self, session: &str, reason: &str, by: Option<Answerer>) -> Result<TaskOutcome, Error> {
        let id = self.resolve(session).await?;
        let answer = match self.find(&id) {
            Some(actor) => {
                actor.send(&id, |reply| Command::Stop { reason: reason.into(), by: by.clone(), reply }).await
            }
            None => None,
        };
        answer.unwrap_or(Err(Error::NothingToStop(id)))
    }

    /// Takes a prompt out of the session's queue; the running task goes on.
    pub async fn remove_queued(&self, session: &str, prompt: &PromptId) -> Result<(), Error> {
        self.send_to_actor(session, |reply| Command::RemoveQueued { prompt: prompt.clone(), reply }).await
    }

    /// Answers a tool call or a question that waits. Returns when the runtime has taken the answer.
    pub async fn respond(&self, session: &str, response: Response) -> Result<(), Error> {
        let id = self.resolve(session).await?;
        let answer = match self.find(&id) {
            Some(actor) => actor.send(&id, |reply| Command::Respond { response: response.clone(), reply }).await,
            None => None,
        };
        answer.unwrap_or_else(|| Err(Error::NotPending(response.to.id().to_owned())))
    }

    /// Closes a session. When this returns, its task is stopped and its runtime is gone.
    pub async fn close(&self, session: &str, reason: &str) -> Result<(), Error> {
        let id = self.resolve(session).await?;
        let Some(actor) = self.find(&id) else { return Ok(()) };
        let answer = actor.send(&id, |reply| Command::Close { reason: reason.into(), reply }).await;
        actor.wait_until_gone().await;
        answer.unwrap_or(Ok(()))
    }

    /// Closes a session, takes it off the lists and deletes its secret variables, settings and MCP servers. Its events
    /// stay in the log.
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
        SessionSecrets::forget(&*self.shared.log, &record.session_id).await
    }

    /// Closes all sessions, within 5 seconds. Runtimes that take longer are ended by their holders.
    pub async fn shutdown(&self, reason: &str) {
        let Some(live) = self.live().take() else { return };
        let ends = live.into_iter().map(|(id, actor)| async move {
            // Its runtime is gone afterwards even if the log could not be written.
            let _ = actor.send(&id, |reply| Command::Close { reason: reason.into(), reply }).await;
            actor.wait_until_gone().await;
        });
        let all = async {
            futures::future::join_all(ends).await;
            roost_process::records::wait_for_holders(&self.shared.config.records).await;
        };
        if tokio::time::timeout(SHUTDOWN, all).await.is_err() {
            tracing::error!("Some sessions did not end in time; their holders end them.");
        }
    }

    /// Starts an actor for a session whose runtime outlived the earlier daemon; it continues with the running task.
    async fn resume_survivor(&self, survivor: Survivor) -> Result<(), Error> {
        let Survivor { record, reattached, ledger, ephemeral } = survivor;
        let task = reattached.task.zip(ledger).zip(record.open_task.clone()).map(|((running, ledger), open)| {
            let pending = ledger.pending();
            let mut task = Task::new(open.task_id, record.mode, Approver::Present, ledger, Phase::Running(running));
            // Nobody could answer while Roost was down, so the time to do so begins anew.
            pending.into_iter().for_each(|asked| task.wait(asked, self.shared.config.approval_timeout));
            task
        });
        let token = self.shared.tokens.restore(&*self.shared.log, &record.session_id).await?;
        let runtime = Some(Runtime::adopted(reattached.session, self.shared.slots.adopt(), ephemeral, token));
        let secrets = SessionSecrets::load(&*self.shared.log, &record).await?;
        let profile = Profile::from_record(&record, self.runtimes.usable_by_name(&record.runtime)?, secrets);
        let id = record.session_id.clone();
        let initial = InitialState { profile, record, runtime, task };
        self.spawn(self.live().as_mut(), &id, async { Ok(initial) })?;
        Ok(())
    }

    /// The id of a session, given Roost's id or the runtime's. Reads the log only if no actor has the id.
    async fn resolve(&self, session: &str) -> Result<SessionId, Error> {
        let id = SessionId::from(session);
        match self.find(&id) {
            Some(_) => Ok(id),
            None => Ok(self.shared.record(session).await?.session_id),
        }
    }

    /// The session's actor, if it still takes commands.
    fn find_running(&self, session: &str) -> Option<(SessionId, ActorHandle)> {
        let id = SessionId::from(session);
        let actor = self.find(&id).filter(|actor| !actor.inbox.is_closed())?;
        Some((id, actor))
    }

    /// The session's actor, which may be about to end.
    fn find(&self, id: &SessionId) -> Option<ActorHandle> {
        self.live().as_ref().and_then(|live| live.get(id).cloned())
    }

    /// The session's actor. If it has ended, a new one takes its place and begins once the old one is gone.
    fn find_or_revive(&self, record: &SessionRecord) -> Result<ActorHandle, Error> {
        let mut live = self.live();
        let id = record.session_id.clone();
        let ended = match live.as_ref().and_then(|live| live.get(&id)) {
            Some(found) if !found.inbox.is_closed() => return Ok(found.clone()),
            ended => ended.cloned(),
        };
        let adapter = self.adapter(&record.runtime)?;
        let shared = self.shared.clone();
        let initial = async move {
            if let Some(ended) = ended {
                ended.wait_until_gone().await;
            }
            // Only now does the log hold everything that the successor must know.
            let record = shared.record(id.as_str()).await?;
            let secrets = SessionSecrets::load(&*shared.log, &record).await?;
            Ok(InitialState {
                profile: Profile::from_record(&record, adapter, secrets),
                record,
                runtime: None,
                task: None,
            })
        };
        self.spawn(live.as_mut(), &record.session_id, initial)
    }

    fn spawn(
        &self,
        live: Option<&mut HashMap<SessionId, ActorHandle>>,
        id: &SessionId,
        initial: impl Future<Output = Result<InitialState, Error>> + Send + 'static,
    ) -> Result<ActorHandle, Error> {
        let live = live.ok_or(Error::ShuttingDown)?;
        let (inbox, commands) = mpsc::channel(INBOX);
        let (alive, ended) = watch::channel(());
        let run = run_actor(self.shared.clone(), id.clone(), initial, commands);
        tokio::spawn(async move {
            run.await;
            drop(alive);
        });
        live.retain(|_, other| !other.is_gone());
        let actor = ActorHandle { inbox, ended };
        live.insert(id.clone(), actor.clone());
        Ok(actor)
    }

    fn live(&self) -> MutexGuard<'_, Option<HashMap<SessionId, ActorHandle>>> {
        self.live.lock()
    }
}

/// Runs an actor to its end. If it fails or panics, its open task is closed in the log, as far as the log can be
/// written.
async fn run_actor(
    shared: Arc<Shared>,
    id: SessionId,
    initial: impl Future<Output = Result<InitialState, Error>>,
    commands: mpsc::Receiver<Command>,
) {
    let run = async { Actor::new(shared.clone(), initial.await?, commands).run().await };
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
