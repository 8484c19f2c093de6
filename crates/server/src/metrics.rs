//! Metrics for Prometheus. The values come from following the log.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use roost_log::{Filter, Start};
use roost_model::event::{EventBody, NormalizedEvent, NormalizedEventType as Type};
use roost_model::ids::TaskId;
use roost_model::time::Timestamp;

use crate::host::Host;

/// Things that were refused or left out, by reason.
pub(crate) const DROPS: &str = "roost_backpressure_drops_total";
const ACTIVE_TASKS: &str = "roost_active_tasks";
const ACTIVE_SESSIONS: &str = "roost_active_sessions";
const QUEUE: &str = "roost_task_queue_depth";
const STARTED: &str = "roost_tasks_started_total";
const FINISHED: &str = "roost_tasks_finished_total";
const TOOLS: &str = "roost_tool_executions_total";
const TASK_SECONDS: &str = "roost_task_duration_seconds";
const CLIENTS: &str = "roost_connected_clients";
const PENDING: &str = "roost_pending_requests";

const BUCKETS: [f64; 9] = [0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0];

/// The number of running tasks, kept up to date by [`count`].
#[derive(Default)]
pub(crate) struct RunningTasks(AtomicUsize);

impl RunningTasks {
    /// Whether any task runs now, as heartbeats report it.
    pub(crate) fn is_busy(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

/// The recorder of this process; several doors in one process share it.
fn recorder() -> Option<&'static PrometheusHandle> {
    static HANDLE: OnceLock<Option<PrometheusHandle>> = OnceLock::new();
    let install = || {
        let builder = PrometheusBuilder::new().set_buckets_for_metric(Matcher::Full(TASK_SECONDS.into()), &BUCKETS);
        // Where somebody else records the process's metrics, ours are theirs.
        builder.ok()?.install_recorder().ok()
    };
    HANDLE.get_or_init(install).as_ref()
}

/// All metrics in Prometheus' text format.
pub(crate) async fn render(host: &Host) -> String {
    metrics::gauge!(CLIENTS).set(host.presence.count() as f64);
    if let Ok(pending) = host.sessions.log.pending(None).await {
        metrics::gauge!(PENDING).set(pending.len() as f64);
    }
    if let Ok(sessions) = host.sessions.log.unclosed().await {
        metrics::gauge!(ACTIVE_SESSIONS).set(sessions.len() as f64);
        metrics::gauge!(QUEUE).set(sessions.iter().map(|record| record.queue.len()).sum::<usize>() as f64);
    }
    recorder().map(PrometheusHandle::render).unwrap_or_default()
}

/// Follows the log and updates the metrics, until the log or the server ends.
pub(crate) async fn count(host: Arc<Host>) {
    recorder();
    let types = [Type::TaskStarted, Type::TaskCompleted, Type::TaskFailed, Type::TaskStopped, Type::ToolCallCompleted];
    let Ok(mut follower) = host.sessions.log.follow(Filter::all().types(types), Start::Now).await else { return };
    // Known by their ids, so that one that begins while they are read is not counted twice.
    let open =
        host.sessions.log.open_tasks().await.unwrap_or_default().into_iter().filter_map(|record| record.open_task);
    let mut running: HashMap<_, _> = open.map(|task| (task.task_id, task.started_at)).collect();
    loop {
        host.daemon.running_tasks.0.store(running.len(), Ordering::Relaxed);
        metrics::gauge!(ACTIVE_TASKS).set(running.len() as f64);
        let next = tokio::select! {
            next = follower.next() => next,
            () = host.daemon.closing.cancelled() => return,
        };
        let batch = match next {
            Ok(batch) => batch,
            Err(roost_log::Error::Truncated { .. }) => continue,
            Err(_) => return,
        };
        for event in batch.iter().filter_map(|entry| entry.event().ok()) {
            observe(&mut running, event);
        }
    }
}

fn observe(running: &mut HashMap<TaskId, Timestamp>, event: &NormalizedEvent) {
    let runtime = event.runtime.name.id().to_owned();
    let status = match &event.body {
        EventBody::TaskStarted(_) => {
            metrics::counter!(STARTED, "runtime" => runtime).increment(1);
            running.extend(event.trace.task_id.clone().map(|task| (task, event.time)));
            return;
        }
        EventBody::ToolCallCompleted(call) => {
            let status = if call.is_error == Some(true) { "error" } else { "ok" };
            let tool = call.name.clone();
            metrics::counter!(TOOLS, "runtime" => runtime, "tool" => tool, "status" => status).increment(1);
            return;
        }
        EventBody::TaskCompleted(_) => "completed",
        EventBody::TaskFailed(_) => "failed",
        EventBody::TaskStopped(_) => "stopped",
        _ => return,
    };
    metrics::counter!(FINISHED, "runtime" => runtime, "status" => status).increment(1);
    if let Some(started) = event.trace.task_id.as_ref().and_then(|task| running.remove(task)) {
        let millis = event.time.as_millis() - started.as_millis();
        metrics::histogram!(TASK_SECONDS).record(millis as f64 / 1000.0);
    }
}
