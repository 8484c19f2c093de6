//! Secrets that were streamed in pieces: no piece looks like a secret, only the whole text does.

use std::collections::HashMap;

use roost_log::Batch;
use roost_policy::redact;
use serde_json::Value;

/// Texts that were streamed in pieces, by stream. A first pass over the events collects them, a second one replaces them.
#[derive(Default)]
pub(crate) struct Split {
    texts: HashMap<String, String>,
    /// The sequence number of the last event that was read.
    pub(crate) last: u64,
}

impl Split {
    /// Joins the pieces of text in these events by their stream.
    pub(crate) fn add(&mut self, batch: &Batch) -> serde_json::Result<()> {
        for entry in batch.iter() {
            self.last = entry.seq();
            let value: Value = serde_json::from_str(entry.json())?;
            if let (Some(stream), Some(piece)) = (stream(&value), value["payload"]["delta"].as_str()) {
                self.texts.entry(stream).or_default().push_str(piece);
            }
        }
        Ok(())
    }

    /// Drops texts without secrets, and redacts the others.
    pub(crate) fn redacted(mut self) -> Self {
        self.texts.retain(|_, text| {
            let clean = redact(text).into_owned();
            let held_a_secret = clean != *text;
            *text = clean;
            held_a_secret
        });
        self
    }

    /// Puts the whole of a text that held a secret into its first piece, and nothing into the others.
    pub(super) fn replace(&mut self, event: &mut Value) {
        if let Some(text) = stream(event).and_then(|stream| self.texts.get_mut(&stream)) {
            event["payload"]["delta"] = std::mem::take(text).into();
        }
    }
}

/// The stream that an event is a piece of.
fn stream(event: &Value) -> Option<String> {
    let payload = &event["payload"];
    payload.get("delta")?;
    let parts = [
        &event["type"],
        &event["trace"]["task_id"],
        &payload["kind"],
        &payload["block_id"],
        &payload["tool_call_id"],
        &payload["attempt"],
        &payload["stream"],
    ];
    Some(parts.map(Value::to_string).join(" "))
}
