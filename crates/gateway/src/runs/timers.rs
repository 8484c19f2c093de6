//! The timers of agent services: while a service runs, each of its schedules begins runs of it.
//!
//! One task watches the services and one looks after each agent with a timer. A firing is a run like any other: its events
//! are `agent.run_created`, `agent.run_started`, `agent.tool_called` and how it ended.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use parking_lot::Mutex;
use roost_model::ids::{RunId, ServiceId};
use roost_model::run::{AgentEvent, Trigger};
use roost_model::service::Lifecycle;
use roost_model::time::Timestamp;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::agent_calls::{AgentCalls, find_tool, fitting_arguments};
use super::agent_descriptor::{AgentDescriptor, AgentTimer, Schedule};
use super::{Runs, RunsError};
use crate::endpoint::Backend;
use crate::services::{ServiceView, Services};

/// The tools that handle a firing unless the manifest names another.
const HANDLERS: [&str; 2] = ["fn__on_timer", "on_timer"];
/// What the ids of such runs begin with.
const RUN_PREFIX: &str = "timer_";
/// Runs of one agent at once, if it allows several; a firing beyond that is left out.
const AT_ONCE: usize = 8;
/// Runs that are looked through for some that a daemon left unfinished.
const UNFINISHED: usize = 1000;

/// The task that looks after all timers.
pub struct Timers {
    closing: CancellationToken,
    watching: Mutex<Option<JoinHandle<()>>>,
}

impl Timers {
    /// Begins to look after the timers of these services.
    pub fn start(services: Arc<Services>, runs: Arc<Runs>, calls: AgentCalls) -> Self {
        let closing = CancellationToken::new();
        let watching = tokio::spawn(watch_services(services, runs, calls, closing.clone()));
        Self { closing, watching: Mutex::new(Some(watching)) }
    }

    /// Ends all timers; runs that are under way are recorded as cancelled.
    pub async fn close(&self) {
        self.closing.cancel();
        let watching = self.watching.lock().take();
        if let Some(watching) = watching {
            // A panic was logged where it happened.
            let _ = watching.await;
        }
    }
}

impl Drop for Timers {
    fn drop(&mut self) {
        self.closing.cancel();
    }
}

/// Starts and ends the tasks of agents as their services come and go.
async fn watch_services(services: Arc<Services>, runs: Arc<Runs>, calls: AgentCalls, closing: CancellationToken) {
    if let Err(error) = end_unfinished(&runs).await {
        tracing::warn!(%error, "Runs that an earlier daemon left unfinished could not be ended.");
    }
    let mut changed = services.changed();
    let (mut tasks, mut timer_task_by_service) = (JoinSet::new(), HashMap::new());
    while !closing.is_cancelled() {
        changed.mark_unchanged();
        for view in services.list() {
            let (true, Some(agent)) = (is_running(&view), AgentDescriptor::from_manifest(&view.stored.manifest)) else {
                continue;
            };
            let (Some(timer), Ok(follow)) = (agent.timer(), services.follow(&view.id)) else { continue };
            if timer_task_by_service.contains_key(&view.id) {
                continue;
            }
            let agent = TimedAgent {
                service: view.id.clone(),
                agent: agent.agent_id,
                version: view.stored.version,
                timer,
                runs: runs.clone(),
                calls: calls.clone(),
                last_fired: AtomicI64::new(0),
                closing: closing.clone(),
            };
            let service = view.id.clone();
            let task = tasks.spawn(async move {
                Arc::new(agent).run(follow).await;
                service
            });
            timer_task_by_service.insert(view.id.clone(), task.id());
        }
        tokio::select! {
            () = closing.cancelled() => {}
            // The sender lives as long as the services.
            _ = changed.changed() => {}
            Some(ended) = tasks.join_next_with_id() => {
                let ended = ended.map_or_else(|error| error.id(), |(id, _)| id);
                timer_task_by_service.retain(|_: &ServiceId, id| *id != ended);
            }
        }
    }
    while tasks.join_next().await.is_some() {}
}

/// Ends the runs that nobody will finish, because the daemon in which they ran is gone.
async fn end_unfinished(runs: &Runs) -> Result<(), RunsError> {
    let all = runs.list(UNFINISHED).await?;
    let is_left = |run: &&roost_model::run::RunSummary| {
        run.trigger == Trigger::Timer && run.run_id.as_str().starts_with(RUN_PREFIX) && !run.status.is_terminal()
    };
    let events = all.iter().filter(is_left).map(|run| {
        let data = json!({ "error": "the daemon ended while it ran" });
        event("run_failed", run.service_id.as_ref(), &run.run_id, run.agent.as_deref(), data)
    });
    let events: Vec<_> = events.flatten().collect();
    if events.is_empty() { Ok(()) } else { runs.report(events).await }
}

fn is_running(view: &ServiceView) -> bool {
    view.life.lifecycle == Lifecycle::Running && view.stored.manifest.spec.enabled
}

/// An agent whose schedules fire.
struct TimedAgent {
    service: ServiceId,
    agent: String,
    /// The version of the manifest that says so.
    version: u64,
    timer: AgentTimer,
    runs: Arc<Runs>,
    calls: AgentCalls,
    /// In milliseconds; no two runs have the same.
    last_fired: AtomicI64,
    closing: CancellationToken,
}

impl TimedAgent {
    /// Fires until the service no longer runs or has another manifest.
    async fn run(self: Arc<Self>, mut view: watch::Receiver<Arc<ServiceView>>) {
        let begun = Instant::now();
        let mut due: Vec<_> = self.timer.schedules.iter().map(|schedule| begun + schedule.period).collect();
        let mut running = JoinSet::new();
        // A timer has at least one schedule.
        while let Some((at, next)) = due.iter().copied().enumerate().min_by_key(|(_, next)| *next) {
            tokio::select! {
                () = self.closing.cancelled() => break,
                // It also ends when the service is removed.
                _ = view.wait_for(|view| !is_running(view) || view.stored.version != self.version) => break,
                Some(_) = running.join_next() => continue,
                () = sleep_until(next) => {}
            }
            let schedule = self.timer.schedules[at].clone();
            let firing = self.clone().fire(schedule, view.borrow().clone());
            if self.timer.serial {
                firing.await;
            } else if running.len() < AT_ONCE {
                running.spawn(firing);
            }
            // What came due while a run took its time is left out.
            let (now, period) = (Instant::now(), self.timer.schedules[at].period);
            while due[at] <= now {
                due[at] += period;
            }
        }
        while running.join_next().await.is_some() {}
    }

    /// One run, from its creation to its end.
    async fn fire(self: Arc<Self>, schedule: Schedule, view: Arc<ServiceView>) {
        let fired_at = self.next_moment();
        let run = RunId::from(format!("{RUN_PREFIX}{}_{}_{}", self.service, schedule.id, fired_at.as_millis()));
        let context = json!({
            "scheduleId": schedule.id, "scheduleExpr": schedule.expression, "firedAt": fired_at.to_string(),
        });
        let created = json!({ "trigger": Trigger::Timer.name(), "triggerContext": context });
        if !self.record([self.event("run_created", &run, created), self.event("run_started", &run, json!({}))]).await {
            return;
        }
        let handled = tokio::select! {
            () = self.closing.cancelled() => {
                let why = json!({ "reason": "the daemon ends" });
                self.record([self.event("run_cancelled", &run, why)]).await;
                return;
            }
            handled = self.handle(&run, &context, &view) => handled,
        };
        let (tool, outcome) = handled;
        let called = tool.map(|tool| json!({ "tool": tool, "success": outcome.is_ok() }));
        let called = called.and_then(|called| self.event("tool_called", &run, called));
        let ended = match outcome {
            Ok(_) => self.event("run_completed", &run, json!({})),
            Err(error) => self.event("run_failed", &run, json!({ "error": error })),
        };
        self.record([called, ended]).await;
    }

    /// Calls the tool that handles a firing; returns its name, if it has one, and what came of it.
    async fn handle(
        &self,
        run: &RunId,
        context: &Value,
        view: &ServiceView,
    ) -> (Option<String>, Result<Value, String>) {
        let named: Vec<_> = self.timer.handler_tool.as_deref().into_iter().collect();
        let names = if named.is_empty() { &HANDLERS[..] } else { &named };
        let Some(service) = &view.offered else { return (None, Err("the service offers nothing now".into())) };
        let Some((tool, schema)) = find_tool(service, names) else {
            let why = format!("the service offers no tool {}; a timer needs one", names.join(" or "));
            return (None, Err(why));
        };
        let known = [
            ("runId", json!(run)),
            ("scheduleId", context["scheduleId"].clone()),
            ("scheduleExpr", context["scheduleExpr"].clone()),
            ("firedAt", context["firedAt"].clone()),
        ];
        let outcome = self.calls.call(service, &tool, &fitting_arguments(&tool, &schema, &known), run).await;
        (Some(tool), outcome)
    }

    /// Now, and later than the last time.
    fn next_moment(&self) -> Timestamp {
        let now = Timestamp::now().as_millis();
        let before = self.last_fired.fetch_max(now, Ordering::Relaxed);
        if before < now {
            return Timestamp::from_millis(now);
        }
        Timestamp::from_millis(self.last_fired.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn event(&self, action: &str, run: &RunId, data: Value) -> Option<AgentEvent> {
        event(action, Some(&self.service), run, Some(&self.agent), data)
    }

    /// Records events; whether that worked.
    async fn record(&self, events: impl IntoIterator<Item = Option<AgentEvent>>) -> bool {
        let recorded = self.runs.report(events.into_iter().flatten().collect()).await;
        if let Err(error) = &recorded {
            tracing::error!(service = %self.service, %error, "A run that a timer began could not be recorded.");
        }
        recorded.is_ok()
    }
}

/// An event of a run. `None` never happens for the kinds that are used here, because all that they need is given.
fn event(
    action: &str,
    service: Option<&ServiceId>,
    run: &RunId,
    agent: Option<&str>,
    data: Value,
) -> Option<AgentEvent> {
    let mut document = json!({ "kind": format!("agent.{action}"), "run_id": run, "data": data });
    if let Some(service) = service {
        document["service_id"] = json!(service);
    }
    if let Some(agent) = agent {
        document["agent"] = json!(agent);
    }
    AgentEvent::parse(&document).ok()
}
