//! An event as it is stored, wherever it was read.

use std::sync::{Arc, OnceLock};

use roost_log::{Batch, Seq};
use roost_model::event::NormalizedEvent;
use roost_rpc::EventBatch;
use serde_json::value::RawValue;

use crate::error::Error;

/// The beginning, in JSON, of the type of every event that starts or ends a task.
const TASK_TYPE: &str = "\"task.";

/// One event: the text as it is stored, and what it says once somebody asks.
pub(crate) struct EventLine {
    json: Box<str>,
    event: OnceLock<Result<Box<NormalizedEvent>, String>>,
}

/// A batch of events in their order, cheap to clone.
pub(crate) type EventLines = Arc<[EventLine]>;

impl EventLine {
    fn new(json: impl Into<Box<str>>) -> Self {
        Self { json: json.into(), event: OnceLock::new() }
    }

    /// The event as one line of JSON, exactly as stored.
    pub(crate) fn json(&self) -> &str {
        &self.json
    }

    /// Its place in its session.
    pub(crate) fn seq(&self) -> Result<Seq, Error> {
        Ok(self.event()?.seq)
    }

    /// Whether it may be the start or the end of a task. Looks for a word only, because reading every event of a flood
    /// would cost more than all the rest of passing it on; one that only contains the word is read for nothing.
    pub(crate) fn may_bound_task(&self) -> bool {
        self.json.contains(TASK_TYPE)
    }

    /// The parsed event; parsed at the first call and then kept.
    pub(crate) fn event(&self) -> Result<&NormalizedEvent, Error> {
        let read = || serde_json::from_str(&self.json).map_err(|error| error.to_string());
        self.event.get_or_init(read).as_deref().map_err(|why| Error::Unreadable(why.clone()))
    }
}

/// Events as the daemon sent them.
pub(crate) fn received(events: Vec<Box<RawValue>>) -> EventLines {
    events.into_iter().map(|event| EventLine::new(Box::<str>::from(event))).collect()
}

/// A batch of the daemon.
pub(crate) fn batch(batch: EventBatch) -> EventLines {
    received(batch.events)
}

/// Events as the log has them.
pub(crate) fn stored(batch: &Batch) -> EventLines {
    batch.iter().map(|entry| EventLine::new(entry.json())).collect()
}

#[cfg(test)]
mod tests {
    use roost_model::event::NormalizedEventType as Type;

    use super::*;

    #[test]
    fn no_event_that_begins_or_ends_a_task_is_passed_over() {
        for known in [Type::TaskStarted, Type::TaskCompleted, Type::TaskFailed, Type::TaskStopped] {
            let json = serde_json::json!({ "type": known, "payload": {} }).to_string();
            assert!(EventLine::new(json.as_str()).may_bound_task(), "{json}");
        }
        assert!(!EventLine::new(r#"{"type":"model.output.delta"}"#).may_bound_task());
    }
}
