//! Coalesces the pieces of messages that agents write, for a client that asked for `agent_message_delta`.

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::ids::SessionId;
use roost_model::payload::ModelOutputDeltaKind;
use roost_model::time::Timestamp;
use tokio::time::Instant;

use crate::cdev::prelude::{Prelude, block_uuid};

/// The name of the event that a client asks for.
pub(crate) const EVENT: &str = "agent_message_delta";

/// How long pieces are collected, so that at most 20 events per second are sent of a session.
const PERIOD: Duration = Duration::from_millis(50);
/// Pieces of so many bytes are sent without waiting any longer.
const MOST: usize = 16 << 10;

/// The pieces that one feed has not sent yet.
#[derive(Default)]
pub(super) struct DeltaBuffer {
    sessions: HashMap<SessionId, OpenMessage>,
    /// When the oldest piece has waited long enough.
    due: Option<Instant>,
}

/// What of a session's message was not sent yet.
#[derive(Default)]
struct OpenMessage {
    /// The first block of the answer, from which all of its pieces have their UUID.
    answer: Option<Arc<str>>,
    pieces: Vec<MessagePiece>,
}

/// Some text to append to a message.
pub(super) struct MessagePiece {
    pub(super) uuid: String,
    /// `text` or `thinking`.
    pub(super) kind: &'static str,
    pub(super) text: String,
    /// When the last of it was written.
    pub(super) time: Timestamp,
}

impl DeltaBuffer {
    /// Adds a piece of a session's output; kinds that no client shows are passed over.
    pub(super) fn push(&mut self, event: &NormalizedEvent) {
        let EventBody::ModelOutputDelta(delta) = &event.body else { return };
        let message = self.sessions.entry(event.trace.session_id.clone()).or_default();
        let (kind, block) = match delta.kind {
            ModelOutputDeltaKind::TextDelta | ModelOutputDeltaKind::CodeDelta => {
                ("text", message.answer.get_or_insert_with(|| delta.block_id.clone()).clone())
            }
            ModelOutputDeltaKind::ReasoningDelta => ("thinking", delta.block_id.clone()),
            ModelOutputDeltaKind::JsonDelta | ModelOutputDeltaKind::UnknownDelta => return,
        };
        let uuid = block_uuid(&event.trace.session_id, event.trace.task_id.as_ref(), &block);
        match message.pieces.last_mut() {
            Some(last) if last.uuid == uuid => {
                last.text.push_str(&delta.delta);
                last.time = event.time;
            }
            _ => message.pieces.push(MessagePiece { uuid, kind, text: delta.delta.clone(), time: event.time }),
        }
        let waiting: usize = message.pieces.iter().map(|piece| piece.text.len()).sum();
        let due = Instant::now() + if waiting < MOST { PERIOD } else { Duration::ZERO };
        self.due = Some(self.due.map_or(due, |earlier| earlier.min(due)));
    }

    /// What of a session was not sent yet, before another event of it is.
    pub(super) fn take(&mut self, event: &NormalizedEvent) -> Vec<MessagePiece> {
        let session = &event.trace.session_id;
        if Prelude::ends_blocks(&event.body) {
            return self.sessions.remove(session).map(|message| message.pieces).unwrap_or_default();
        }
        self.sessions.get_mut(session).map(|message| mem::take(&mut message.pieces)).unwrap_or_default()
    }

    /// Waits until some pieces have waited long enough; for ever if there are none.
    pub(super) async fn due(&self) {
        match self.due {
            Some(due) => tokio::time::sleep_until(due).await,
            None => std::future::pending().await,
        }
    }

    /// Everything that was not sent yet, by session.
    pub(super) fn take_all(&mut self) -> Vec<(SessionId, Vec<MessagePiece>)> {
        self.due = None;
        let waiting = self.sessions.iter_mut().filter(|(_, message)| !message.pieces.is_empty());
        waiting.map(|(session, message)| (session.clone(), mem::take(&mut message.pieces))).collect()
    }
}
