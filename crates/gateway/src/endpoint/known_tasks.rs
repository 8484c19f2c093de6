//! The tasks that calls became: only the principal that made the call can ask about its task.
//!
//! The permit of the call is kept with the task, so that the record says how the task ended, once somebody sees that.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use roost_model::ids::ServiceId;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::refusal::{INTERNAL_ERROR, McpRefusal};
use super::running_call::OpenTicket;
use super::task_ids::TASK_ID;
use crate::fair_share::{Admission, FairShare, Occupant};
use crate::principal::Principal;
use crate::raw_object::RawObject;

/// Tasks that are remembered; beyond it the one that was asked about longest ago is forgotten.
const SHARE: FairShare = FairShare { of_all: 4096, of_one: 256 };
/// A task that nobody asked about for so long is forgotten.
const LIFETIME: Duration = Duration::from_hours(24);

/// A task of one principal at one service, by the service's own id.
pub(super) type TaskKey = (Principal, ServiceId, String);

/// The tasks that are remembered.
#[derive(Default)]
pub(super) struct KnownTasks(Mutex<HashMap<TaskKey, KnownTask>>);

struct KnownTask {
    last_used: Instant,
    /// The permit of its call, until its end was seen.
    ticket: Option<OpenTicket>,
}

/// How a task ended.
pub(super) enum TaskEnd {
    Completed,
    Failed(McpRefusal),
}

impl KnownTasks {
    /// Remembers the task that a call became.
    pub(super) fn begin(&self, key: TaskKey, mut ticket: Option<OpenTicket>) {
        if let Some(ticket) = &mut ticket {
            ticket.unless_finished = "the end of its task was not seen";
        }
        let mut all = self.0.lock();
        let occupants = all.iter();
        let occupants =
            occupants.map(|(key, task)| Occupant { key: key.clone(), owner: &key.0, since: Some(task.last_used) });
        if let Admission::Evict(oldest) = SHARE.admit(&key.0, occupants) {
            all.remove(&oldest);
        }
        all.insert(key, KnownTask { last_used: Instant::now(), ticket });
    }

    /// Whether this task belongs to a call of this principal.
    pub(super) fn has(&self, key: &TaskKey) -> bool {
        let mut all = self.0.lock();
        let task = all.get_mut(key);
        task.map(|task| task.last_used = Instant::now()).is_some()
    }

    /// The permit of a task whose end is seen for the first time.
    pub(super) fn end(&self, key: &TaskKey) -> Option<OpenTicket> {
        self.0.lock().get_mut(key)?.ticket.take()
    }

    /// Forgets the tasks that nobody asks about any more.
    pub(super) fn forget_expired(&self) {
        self.0.lock().retain(|_, task| task.last_used.elapsed() < LIFETIME);
    }

    /// Forgets all tasks.
    pub(super) fn clear(&self) {
        self.0.lock().clear();
    }
}

/// The id of the task that a call became, if it did: an answer of a legacy service has it in `task`, that of a modern one
/// is the task.
pub(super) fn begun_task(result: &RawValue) -> Option<String> {
    // Most results have none, and need not be read.
    if !result.get().contains(TASK_ID) {
        return None;
    }
    let members = RawObject::parse(result)?;
    match members.object("task") {
        Some(task) => task.text(TASK_ID),
        None => members.text(TASK_ID).filter(|_| members.text("resultType").as_deref() == Some("task")),
    }
}

/// How a task ended, as the service tells its state; `None` if it goes on.
pub(super) fn task_end(state: &RawValue) -> Option<TaskEnd> {
    #[derive(Deserialize)]
    struct State {
        status: String,
    }
    let State { status } = serde_json::from_str(state.get()).ok()?;
    let failed = |why: &str| TaskEnd::Failed(McpRefusal::new(INTERNAL_ERROR, why));
    match status.as_str() {
        "completed" => Some(TaskEnd::Completed),
        "failed" => Some(failed("the task failed")),
        "cancelled" => Some(failed("the task was cancelled")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.into()).unwrap()
    }

    #[test]
    fn a_call_became_a_task_only_if_its_answer_says_so_itself() {
        for (result, id) in [
            (r#"{"task":{"taskId":"a","status":"working"}}"#, Some("a")),
            (r#"{"resultType":"task","taskId":"a"}"#, Some("a")),
            (r#"{"taskId":"a"}"#, None),
            (r#"{"structuredContent":{"taskId":"a"}}"#, None),
            (r#"{"content":[]}"#, None),
        ] {
            assert_eq!(begun_task(&raw(result)).as_deref(), id, "{result}");
        }
    }

    #[test]
    fn a_principal_with_too_many_tasks_loses_its_own_oldest() {
        let (tasks, mine) = (KnownTasks::default(), |id: usize| (Principal::Local, "svc".into(), id.to_string()));
        let other = (Principal::Session("a".into()), "svc".into(), "0".to_owned());
        tasks.begin(other.clone(), None);
        (0..=SHARE.of_one).for_each(|id| tasks.begin(mine(id), None));
        assert_eq!((tasks.has(&mine(0)), tasks.has(&mine(1)), tasks.has(&other)), (false, true, true));
    }
}
