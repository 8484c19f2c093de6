//! An event as it is stored, wherever it was read.

use std::sync::{Arc, OnceLock};

use roost_log::{Batch, Seq};
use roost_model::event::NormalizedEvent;
use roost_rpc::EventBatch;
use serde_json::value::RawValue;

use crate::error::Error;

/// One event: the text as it is stored, and what it says once somebody asks.
pub(crate) struct Line {
    json: Box<str>,
    event: OnceLock<Result<NormalizedEvent, String>>,
}

/// Some events in order.
pub(crate) type Lines = Arc<[Line]>;

impl Line {
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

    /// The event itself.
    pub(crate) fn event(&self) -> Result<&NormalizedEvent, Error> {
        let read = || serde_json::from_str(&self.json).map_err(|error| error.to_string());
        self.event.get_or_init(read).as_ref().map_err(|why| Error::Unreadable(why.clone()))
    }
}

/// Events as the daemon sent them.
pub(crate) fn received(events: Vec<Box<RawValue>>) -> Lines {
    events.into_iter().map(|event| Line::new(Box::<str>::from(event))).collect()
}

/// A batch of the daemon.
pub(crate) fn batch(batch: EventBatch) -> Lines {
    received(batch.events)
}

/// Events as the log has them.
pub(crate) fn stored(batch: &Batch) -> Lines {
    batch.iter().map(|entry| Line::new(entry.json())).collect()
}
