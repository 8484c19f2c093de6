//! Each tool call with everything that happened to it.

use std::collections::BTreeMap;

use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::payload::OutputStream;
use roost_model::tool::ToolCallIdentity;
use serde::Serialize;
use serde_json::{Value, json};

/// Bytes kept of a call's output; the events hold all of it.
const OUTPUT: usize = 64 << 10;

/// A JSON transcript of every tool call, by the sequence number of its first event.
#[derive(Default)]
pub(super) struct ToolTranscripts {
    order: BTreeMap<u64, Value>,
    first: BTreeMap<(String, u32), u64>,
}

impl ToolTranscripts {
    /// Every call, in the order of their first events.
    pub(super) fn transcripts(&self) -> Vec<&Value> {
        self.order.values().collect()
    }

    /// Adds an event to the transcript of its tool call; others are ignored.
    pub(super) fn add(&mut self, event: &NormalizedEvent) {
        match &event.body {
            EventBody::ToolCallRequested(it) => self.note(event, &it.identity, "requested", it),
            EventBody::ToolCallPolicyEvaluated(it) => self.list(event, &it.identity, "policy", it),
            EventBody::ApprovalRequested(it) => {
                let asked = json!({ "rule": it.rule, "offer": it.offer, "expires_at": it.expires_at });
                self.note(event, &it.identity, "asked", &asked);
            }
            EventBody::ApprovalResolved(it) => self.note(event, &it.identity, "answered", it),
            EventBody::ToolCallApproved(it) => self.note(event, &it.identity, "approved", &json!({})),
            EventBody::ToolCallDenied(it) => self.note(event, &it.identity, "denied", it),
            EventBody::ToolCallStarted(it) => self.note(event, &it.identity, "started", &json!({})),
            EventBody::ToolOutputDelta(it) => {
                let stream = match it.stream {
                    OutputStream::Stdout => "stdout",
                    OutputStream::Stderr => "stderr",
                };
                self.output(event, &it.identity, stream, &it.delta);
            }
            EventBody::ToolOutputCompleted(it) => self.note(event, &it.identity, "output", it),
            EventBody::ToolCallCompleted(it) => self.note(event, &it.identity, "completed", it),
            _ => {}
        }
    }

    fn call(&mut self, event: &NormalizedEvent, identity: &ToolCallIdentity) -> &mut Value {
        let key = (identity.tool_call_id.to_string(), identity.attempt);
        let first = *self.first.entry(key).or_insert(event.seq);
        self.order.entry(first).or_insert_with(|| {
            let mut call = json!(identity);
            call["task_id"] = json!(event.trace.task_id);
            call
        })
    }

    /// Sets a field that an attempt has once, without the identity, which is there already.
    fn note(&mut self, event: &NormalizedEvent, identity: &ToolCallIdentity, name: &str, what: &impl Serialize) {
        let what = described(event, identity, what);
        self.call(event, identity)[name] = what;
    }

    fn list(&mut self, event: &NormalizedEvent, identity: &ToolCallIdentity, name: &str, what: &impl Serialize) {
        let what = described(event, identity, what);
        match self.call(event, identity)[name].as_array_mut() {
            Some(list) => list.push(what),
            None => self.call(event, identity)[name] = json!([what]),
        }
    }

    fn output(&mut self, event: &NormalizedEvent, identity: &ToolCallIdentity, stream: &str, piece: &str) {
        let call = self.call(event, identity);
        let mut text = call[stream].as_str().unwrap_or_default().to_owned();
        if text.len() < OUTPUT {
            text.push_str(piece);
        } else if !text.ends_with('…') {
            text.push('…');
        }
        call[stream] = text.into();
    }
}

fn described(event: &NormalizedEvent, identity: &ToolCallIdentity, what: &impl Serialize) -> Value {
    let mut value = json!(what);
    if let (Value::Object(fields), Value::Object(known)) = (&mut value, json!(identity)) {
        fields.retain(|name, _| !known.contains_key(name));
        fields.insert("seq".into(), event.seq.into());
        fields.insert("time".into(), json!(event.time));
    }
    value
}
