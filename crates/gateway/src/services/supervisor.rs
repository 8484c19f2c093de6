//! The one task that looks after a service: it feeds [`ServiceLife`] what happened and carries out what it says.
//!
//! The task never waits for the service itself: connecting, listing, probing and closing are futures that it polls beside
//! its commands, so a service that hangs can be stopped at any time, and ends nobody else's wait.

mod declaring;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use roost_log::RowChange;
use roost_model::event::{EventBody, NewEvent};
use roost_model::payload::ServiceStateChangedPayload;
use roost_model::service::manifest::Manifest;
use roost_model::service::{Health, Lifecycle};
use roost_model::time::Timestamp;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Interval, MissedTickBehavior, interval, timeout};

use super::ServiceError;
use super::handle::ServiceHandle;
use super::interface::{self, Interface};
use super::pool::{START_LIMIT, not_ready};
use super::registry::Shared;
use super::review::ToolApproval;
use super::stored::StoredService;
use super::view::ServiceView;
use crate::lifecycle::{ServiceFault, ServiceSignal, SupervisorAction};
use crate::upstream::{ConnectError, Upstream, UpstreamEnd};

/// How long a probe may take.
const PROBE_LIMIT: Duration = Duration::from_secs(10);
/// How many probes in a row may find no way to a running service before it counts as lost.
const MAX_UNREACHABLE: u32 = 3;
/// How long a service may take to let go of its connections.
const CLOSE_LIMIT: Duration = Duration::from_secs(3);
/// Between two lists that a service asked for by saying that something changed.
const LIST_PAUSE: Duration = Duration::from_secs(1);
/// The bytes of an error that are recorded.
const MAX_ERROR: usize = 2048;

pub(super) type CommandReply = oneshot::Sender<Result<(), ServiceError>>;

/// What somebody wants of a service.
pub(super) enum Command {
    Start(CommandReply),
    Stop(CommandReply),
    Restart(CommandReply),
    /// List the interface again.
    Introspect(CommandReply),
    Unquarantine(CommandReply),
    /// Offer tools as they are now.
    Approve(ToolApproval, CommandReply),
    /// Go on with another manifest.
    Apply(Box<Manifest>, CommandReply),
    /// Stop it and forget it.
    Remove(CommandReply),
    /// Most recent calls failed through its own fault.
    BreakerTripped,
}

/// What has come of something that was begun.
enum StepOutcome {
    Started(Result<(Arc<dyn Upstream>, Interface), ConnectError>),
    Listed(Result<Interface, ConnectError>),
    Probed(Result<(), ConnectError>),
    Closed,
}

pub(super) struct Supervisor {
    shared: Arc<Shared>,
    handle: Arc<ServiceHandle>,
    view: ServiceView,
    connection: Option<Arc<dyn Upstream>>,
    work: FuturesUnordered<BoxFuture<'static, StepOutcome>>,
    lists_changed: watch::Receiver<()>,
    progress: watch::Receiver<String>,
    /// Answered when the service is neither starting nor stopping.
    waiting_to_settle: Vec<CommandReply>,
    /// Answered when the interface has been listed.
    waiting_for_list: Vec<CommandReply>,
    is_listing: bool,
    is_probing: bool,
    /// Most of its recent calls failed. A probe finds out whether that is the service's fault or only that of the calls.
    is_breaker_tripped: bool,
    /// The probes in a row that found no way to the service.
    unreachable: u32,
    /// The service said that something changed while it was being listed.
    lists_again: bool,
    starts_after_stop: bool,
    removed: Option<CommandReply>,
}

/// What wakes the supervisor.
enum Wake {
    Command(Command),
    /// The daemon ends.
    Closing,
    StepOutcome(Box<StepOutcome>),
    WaitOver,
    Ended(UpstreamEnd),
    ListChanged,
    /// A start has come further.
    Progress,
    Tick,
}

impl Supervisor {
    pub(super) fn new(shared: Arc<Shared>, handle: Arc<ServiceHandle>) -> Self {
        let (view, lists_changed) = (handle.view(), handle.pool.lists_changed());
        let progress = handle.log.follow_progress();
        Self {
            shared,
            handle,
            view: (*view).clone(),
            connection: None,
            work: FuturesUnordered::new(),
            lists_changed,
            progress,
            waiting_to_settle: Vec::new(),
            waiting_for_list: Vec::new(),
            is_listing: false,
            is_probing: false,
            is_breaker_tripped: false,
            unreachable: 0,
            lists_again: false,
            starts_after_stop: false,
            removed: None,
        }
    }

    /// Runs until the service is removed or the daemon ends.
    pub(super) async fn run(mut self, mut commands: mpsc::Receiver<Command>, autostart: bool) {
        let mut ticks = interval(self.shared.options.probe_interval);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.reset();
        if autostart {
            // A quarantined service stays where it is.
            self.feed(ServiceSignal::Start).await;
        }
        loop {
            match self.next(&mut commands, &mut ticks).await {
                Wake::Closing => break,
                Wake::Command(command) => self.on_command(command).await,
                Wake::StepOutcome(outcome) => self.on_outcome(*outcome).await,
                Wake::WaitOver => self.feed(ServiceSignal::WaitOver).await,
                Wake::Ended(end) => self.on_end(end).await,
                Wake::ListChanged => self.list(),
                Wake::Progress => self.on_progress(),
                Wake::Tick => self.on_tick(),
            }
            self.settle().await;
            if let Some(reply) = self.removed.take_if(|_| self.view.life.lifecycle == Lifecycle::Stopped) {
                // Whoever asked may be gone.
                let _ = reply.send(self.forget().await);
                break;
            }
        }
        let _ = timeout(CLOSE_LIMIT, self.handle.pool.close()).await;
    }

    async fn next(&mut self, commands: &mut mpsc::Receiver<Command>, ticks: &mut Interval) -> Wake {
        let next_attempt = self.view.life.next_attempt;
        let wait = async {
            match next_attempt {
                Some(at) => tokio::time::sleep(until(at)).await,
                None => std::future::pending().await,
            }
        };
        let ended = async {
            match &self.connection {
                Some(connection) => connection.ended().await,
                None => std::future::pending().await,
            }
        };
        let outcome = async {
            match self.work.next().await {
                Some(outcome) => outcome,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.shared.closing.cancelled() => Wake::Closing,
            Some(command) = commands.recv() => Wake::Command(command),
            outcome = outcome => Wake::StepOutcome(Box::new(outcome)),
            () = wait => Wake::WaitOver,
            end = ended => Wake::Ended(end),
            // The sender lives as long as the pool.
            Ok(()) = self.lists_changed.changed() => Wake::ListChanged,
            Ok(()) = self.progress.changed() => Wake::Progress,
            _ = ticks.tick() => Wake::Tick,
        }
    }

    async fn on_command(&mut self, command: Command) {
        let (signal, reply) = match command {
            Command::Start(reply) if !self.view.stored.manifest.spec.enabled => {
                let _ = reply.send(Err(ServiceError::Disabled(self.view.id.clone())));
                return;
            }
            Command::Start(reply) => (ServiceSignal::Start, reply),
            Command::Stop(reply) => {
                self.starts_after_stop = false;
                (ServiceSignal::Stop, reply)
            }
            Command::Restart(reply) => {
                let is_up = matches!(self.view.life.lifecycle, Lifecycle::Starting | Lifecycle::Running);
                self.starts_after_stop = is_up && self.view.stored.manifest.spec.enabled;
                (if is_up { ServiceSignal::Stop } else { ServiceSignal::Start }, reply)
            }
            Command::Unquarantine(reply) => (ServiceSignal::Unquarantine, reply),
            Command::Introspect(reply) => return self.introspect(reply),
            Command::Approve(approval, reply) => {
                let _ = reply.send(self.approve(approval).await);
                return;
            }
            Command::Apply(manifest, reply) => return self.apply(*manifest, reply).await,
            Command::Remove(reply) => return self.remove(reply).await,
            Command::BreakerTripped => {
                self.is_breaker_tripped = true;
                return self.probe();
            }
        };
        match self.signal(signal).await {
            Ok(()) => self.waiting_to_settle.push(reply),
            // Whoever asked may be gone.
            Err(error) => drop(reply.send(Err(error))),
        }
    }

    async fn on_outcome(&mut self, outcome: StepOutcome) {
        match outcome {
            StepOutcome::Started(Ok((connection, interface))) => {
                self.connection = Some(connection.clone());
                let ready = interface.unread.clone().map_or(ServiceSignal::Ready, ServiceSignal::ReadyInPart);
                self.accept(interface).await;
                connection.list_reviewed();
                self.view.running_since = Some(Timestamp::now());
                self.feed(ready).await;
            }
            StepOutcome::Started(Err(error)) => self.feed(ServiceSignal::Failed(error.fault, error.message)).await,
            StepOutcome::Listed(listed) => {
                self.is_listing = false;
                let answer = match listed {
                    Ok(interface) => {
                        let found = interface.unread.clone().map_or(Ok(()), |why| Err((ServiceFault::Broken, why)));
                        self.accept(interface).await;
                        self.publish();
                        // Not before others see what is held back by now.
                        self.connection.iter().for_each(|connection| connection.list_reviewed());
                        self.feed(ServiceSignal::Probed(found)).await;
                        Ok(())
                    }
                    Err(error) => {
                        let failed = ServiceError::Upstream(error.message.clone());
                        self.feed(ServiceSignal::Probed(Err((error.fault, error.message)))).await;
                        Err(failed)
                    }
                };
                self.waiting_for_list.drain(..).for_each(|reply| drop(reply.send(answer.clone())));
                if std::mem::take(&mut self.lists_again) {
                    self.list();
                }
            }
            StepOutcome::Probed(found) => {
                self.is_probing = false;
                match std::mem::take(&mut self.is_breaker_tripped) {
                    true => self.on_breaker_probe(found).await,
                    false => self.on_probe(found).await,
                }
            }
            StepOutcome::Closed => {
                self.feed(ServiceSignal::Stopped).await;
                if std::mem::take(&mut self.starts_after_stop) {
                    self.feed(ServiceSignal::Start).await;
                }
            }
        }
    }

    /// Takes the service out of use unless it answers a probe: then its calls failed because of what was asked in them.
    async fn on_breaker_probe(&mut self, found: Result<(), ConnectError>) {
        match &found {
            Err(error) if error.fault != ServiceFault::Unauthorized => {
                self.feed(ServiceSignal::BreakerTripped).await;
            }
            _ => {
                self.handle.log.write("most of its recent calls failed, but it answers a probe");
                self.handle.forget_outcomes();
                self.on_probe(found).await;
            }
        }
    }

    async fn on_probe(&mut self, found: Result<(), ConnectError>) {
        match found {
            Err(ConnectError { fault: ServiceFault::Unreachable, message }) => {
                self.unreachable += 1;
                if self.unreachable < MAX_UNREACHABLE {
                    self.feed(ServiceSignal::Probed(Err((ServiceFault::Unreachable, message)))).await;
                    return;
                }
                self.let_go();
                // The connections of others lead nowhere, either.
                let closing = timeout(CLOSE_LIMIT, self.handle.pool.close());
                self.shared.tasks.spawn(async move { drop(closing.await) });
                self.feed(ServiceSignal::Failed(ServiceFault::Unreachable, message)).await;
            }
            Err(error) => {
                self.unreachable = 0;
                self.feed(ServiceSignal::Probed(Err((error.fault, error.message)))).await;
            }
            Ok(()) => {
                self.unreachable = 0;
                self.view.last_answer = Some(Timestamp::now());
                match self.view.life.health {
                    Health::Healthy => self.feed(ServiceSignal::Probed(Ok(()))).await,
                    // It is healthy when it was listed: it may have come back as another.
                    _ => self.list(),
                }
            }
        }
    }

    async fn on_end(&mut self, end: UpstreamEnd) {
        self.let_go();
        match end {
            UpstreamEnd::Closed => {
                let why = "the connection was closed".to_owned();
                self.feed(ServiceSignal::Failed(ServiceFault::Unreachable, why)).await;
            }
            UpstreamEnd::Exited => self.feed(ServiceSignal::Ended).await,
            UpstreamEnd::Failed(fault, why) => self.feed(ServiceSignal::Failed(fault, why.to_string())).await,
        }
    }

    fn on_progress(&mut self) {
        let text = self.progress.borrow_and_update().clone();
        if self.view.life.lifecycle == Lifecycle::Starting {
            self.view.progress = Some(text);
            self.publish();
        }
    }

    fn on_tick(&mut self) {
        let pool = self.handle.pool.clone();
        self.shared.tasks.spawn(async move { pool.close_idle().await });
        if self.view.life.lifecycle != Lifecycle::Running {
            return;
        }
        if !self.is_listing && self.view.interface.as_ref().is_some_and(|interface| interface.is_outdated()) {
            self.list();
        }
        self.probe();
    }

    /// Begins to probe the service, unless that is under way.
    fn probe(&mut self) {
        let can_be_probed = self.view.life.lifecycle == Lifecycle::Running && !self.is_probing;
        let Some(connection) = self.connection.clone().filter(|_| can_be_probed) else { return };
        self.is_probing = true;
        let connect = self.shared.connect.clone();
        let probe = async move {
            let message = "the service did not answer a probe".to_owned();
            let silent = || ConnectError { fault: ServiceFault::Timeout, message };
            let probed = timeout(PROBE_LIMIT, connect.probe(&*connection)).await;
            StepOutcome::Probed(probed.unwrap_or_else(|_| Err(silent())))
        };
        self.work.push(probe.boxed());
    }

    fn introspect(&mut self, reply: CommandReply) {
        match self.view.life.lifecycle == Lifecycle::Running {
            true => {
                self.waiting_for_list.push(reply);
                self.list();
            }
            false => drop(reply.send(Err(ServiceError::NotRunning(self.view.id.clone())))),
        }
    }

    /// Begins to list the interface; if that is under way, it is listed once more afterwards.
    fn list(&mut self) {
        let Some(connection) = self.connection.clone().filter(|_| self.view.life.lifecycle == Lifecycle::Running)
        else {
            return;
        };
        if self.is_listing {
            self.lists_again = true;
            return;
        }
        self.is_listing = true;
        // A service that says without end that it changed is not listed without end.
        let since = self.view.interface.as_ref().map_or(0, |interface| interface.listed_at.as_millis());
        let since = Duration::from_millis(u64::try_from(Timestamp::now().as_millis() - since).unwrap_or_default());
        let pause = if self.waiting_for_list.is_empty() { LIST_PAUSE.saturating_sub(since) } else { Duration::ZERO };
        let (shared, patience, before) = (self.shared.clone(), self.patience(), self.view.interface.clone());
        let listing = async move {
            tokio::time::sleep(pause).await;
            StepOutcome::Listed(interface::list(&*connection, &shared.client, patience, before.as_deref()).await)
        };
        self.work.push(listing.boxed());
    }

    fn patience(&self) -> Duration {
        let limits = self.view.stored.manifest.spec.origin.limits();
        limits.and_then(|limits| limits.timeout_ms).map_or(self.shared.options.patience, Duration::from_millis)
    }

    /// Feeds a signal that no lifecycle refuses.
    async fn feed(&mut self, signal: ServiceSignal) {
        if let Err(error) = self.signal(signal).await {
            tracing::debug!(service = %self.view.id, %error, "A signal to a service was refused.");
        }
    }

    async fn signal(&mut self, signal: ServiceSignal) -> Result<(), ServiceError> {
        let (policy, now) = (self.view.stored.manifest.spec.restart_policy, Timestamp::now());
        let (after, action) = self.view.life.clone().after(signal, policy, now, jitter())?;
        let before = std::mem::replace(&mut self.view.life, after);
        if self.view.life != before {
            self.record(before.lifecycle).await;
        }
        match action {
            Some(SupervisorAction::Connect) => self.connect(),
            Some(SupervisorAction::Disconnect) => self.disconnect(),
            Some(SupervisorAction::WaitUntil(_)) => self.let_go(),
            None => {}
        }
        Ok(())
    }

    /// Records a change of state, then lets others see it.
    async fn record(&mut self, before: Lifecycle) {
        let life = self.view.life.clone();
        let error = life.last_error.clone().map(|mut error| {
            let mut end = error.len().min(MAX_ERROR);
            while !error.is_char_boundary(end) {
                end -= 1;
            }
            error.truncate(end);
            error
        });
        let reason = life.last_error.as_deref().map(|error| format!(": {error}")).unwrap_or_default();
        self.handle.log.write(&format!("{:?}, {:?}{reason}", life.lifecycle, life.health).to_lowercase());
        let quarantine = match life.lifecycle {
            Lifecycle::Quarantined => Some(error.clone().unwrap_or_default()),
            _ => None,
        };
        let is_row_changed = self.view.stored.quarantine != quarantine;
        if is_row_changed {
            self.view.stored = Arc::new(StoredService { quarantine, ..(*self.view.stored).clone() });
        }
        let changed = ServiceStateChangedPayload {
            service_id: self.view.id.clone(),
            before,
            lifecycle: life.lifecycle,
            health: life.health,
            error,
            next_attempt: life.next_attempt,
            restart_count: life.restart_count,
        };
        if life.lifecycle != Lifecycle::Running {
            self.view.running_since = None;
        }
        self.view.progress = None;
        let stored = is_row_changed.then(|| self.view.stored.clone());
        self.keep_or_report(stored.as_deref(), vec![changed.into()]).await;
        if before != life.lifecycle {
            self.view.offered = self.view.offer();
        }
        self.publish();
    }

    /// Writes the row and the events in one transaction.
    async fn keep(&mut self, stored: Option<&StoredService>, events: Vec<EventBody>) -> Result<(), ServiceError> {
        let row = stored.map(|stored| stored.to_row(&self.view.id)).transpose();
        let row: Option<RowChange> = row.map_err(|error| ServiceError::Log(error.to_string()))?;
        if row.is_none() && events.is_empty() {
            return Ok(());
        }
        let now = Timestamp::now();
        let events = events.into_iter().map(|body| NewEvent::for_host(now, body)).collect();
        Ok(self.shared.log.keep(row.into_iter().collect(), events).await?)
    }

    /// Writes what happened by itself, so that nobody could be told of a failure; a log that cannot be written is reported
    /// by its own health.
    async fn keep_or_report(&mut self, stored: Option<&StoredService>, events: Vec<EventBody>) {
        if let Err(error) = self.keep(stored, events).await {
            tracing::error!(service = %self.view.id, %error, "What happened to a service could not be recorded.");
        }
    }

    fn publish(&self) {
        self.handle.publish(Arc::new(self.view.clone()));
        self.shared.rebuild_catalog();
    }

    fn connect(&mut self) {
        let (shared, pool) = (self.shared.clone(), self.handle.pool.clone());
        let (stored, patience) = (self.view.stored.clone(), self.patience());
        let start = async move {
            let started = async {
                let connection = pool.supervise(&stored.manifest, &shared.client).await?;
                // It may have come back as another one, so nothing of before counts.
                let interface = interface::list(&*connection, &shared.client, patience, None).await;
                match interface {
                    Ok(interface) => Ok((connection, interface)),
                    Err(error) => {
                        let _ = timeout(CLOSE_LIMIT, connection.close()).await;
                        Err(error)
                    }
                }
            };
            StepOutcome::Started(timeout(START_LIMIT, started).await.unwrap_or_else(|_| Err(not_ready())))
        };
        self.work.push(start.boxed());
    }

    fn disconnect(&mut self) {
        self.let_go();
        self.waiting_for_list
            .drain(..)
            .for_each(|reply| drop(reply.send(Err(ServiceError::NotRunning(self.view.id.clone())))));
        let pool = self.handle.pool.clone();
        let close = async move {
            if timeout(CLOSE_LIMIT, pool.close()).await.is_err() {
                tracing::warn!("A service did not let go of its connections in time.");
            }
            StepOutcome::Closed
        };
        self.work.push(close.boxed());
    }

    /// Forgets the connection and everything that was begun on it.
    fn let_go(&mut self) {
        self.connection = None;
        self.work = FuturesUnordered::new();
        (self.is_listing, self.is_probing, self.lists_again, self.unreachable) = (false, false, false, 0);
        self.is_breaker_tripped = false;
    }

    /// Answers those who wait for the service to be somewhere for good.
    async fn settle(&mut self) {
        let is_on_its_way = matches!(self.view.life.lifecycle, Lifecycle::Starting | Lifecycle::Stopping);
        if !is_on_its_way && !self.starts_after_stop {
            self.waiting_to_settle.drain(..).for_each(|reply| drop(reply.send(Ok(()))));
        }
        if self.view.life.lifecycle != Lifecycle::Running {
            let gone = || ServiceError::NotRunning(self.view.id.clone());
            self.waiting_for_list.drain(..).for_each(|reply| drop(reply.send(Err(gone()))));
        }
    }
}

fn until(at: Timestamp) -> Duration {
    Duration::from_millis(u64::try_from(at.as_millis() - Timestamp::now().as_millis()).unwrap_or_default())
}

/// Spreads restarts, so that services that failed together do not start together.
fn jitter() -> f64 {
    RandomState::new().build_hasher().finish() as f64 / u64::MAX as f64
}
