//! Calls of modern clients that wait for input which a legacy service asked for.
//!
//! The call goes on at the service while the client has its answer `input_required`; the client's next request takes it up
//! again. A call that nobody takes up within 10 minutes is cancelled.

use std::collections::HashMap;

use futures::FutureExt;
use parking_lot::Mutex;
use roost_model::time::Timestamp;
use serde_json::value::RawValue;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::ANSWER_LIMIT;
use super::refusal::McpRefusal;
use super::request_state::StateKey;
use super::running_call::{CallEvent, OpenTicket, RunningCall};
use crate::fair_share::{Admission, FairShare, Occupant};
use crate::principal::Principal;
use crate::upstream::{Interjection, ServerAnswer, UpstreamError};

/// Calls that may wait at once; beyond it the oldest is cancelled.
const SHARE: FairShare = FairShare { of_all: 1024, of_one: 64 };

/// A call with what its service waits for.
pub(super) struct ParkedCall {
    pub(super) call: RunningCall,
    pub(super) ticket: Option<OpenTicket>,
    /// How many requests the service has made in this call.
    pub(super) asked: usize,
    pub(super) questions: Vec<Question>,
    /// The answer, if the service gave one without waiting for the client.
    pub(super) answered: Option<Result<ServerAnswer, UpstreamError>>,
}

/// What a service waits for.
pub(super) struct Question {
    /// Names it among the input requests of the client's answer.
    pub(super) key: String,
    pub(super) method: String,
    pub(super) params: Option<Box<RawValue>>,
    pub(super) reply: oneshot::Sender<ServerAnswer>,
}

/// The calls that wait, by number.
pub(super) struct ParkedCalls {
    key: StateKey,
    entries: Mutex<Entries>,
    tasks: TaskTracker,
    closing: CancellationToken,
}

#[derive(Default)]
struct Entries {
    last: u64,
    open: HashMap<u64, ParkedEntry>,
}

/// Dropping it cancels the call.
struct ParkedEntry {
    principal: Principal,
    resume: oneshot::Sender<()>,
    holding: JoinHandle<Option<ParkedCall>>,
}

impl ParkedCalls {
    pub(super) fn new(key: StateKey, tasks: TaskTracker, closing: CancellationToken) -> Self {
        Self { key, entries: Mutex::default(), tasks, closing }
    }

    /// Parks a call; returns the state by which this principal can take it up with the same call.
    pub(super) fn park(&self, call: ParkedCall, principal: &Principal, digest: &str) -> String {
        let mut entries = self.entries.lock();
        entries.open.retain(|_, entry| !entry.holding.is_finished());
        let occupants = entries.open.iter();
        let occupants = occupants.map(|(id, entry)| Occupant { key: *id, owner: &entry.principal, since: Some(*id) });
        if let Admission::Evict(oldest) = SHARE.admit(principal, occupants) {
            entries.open.remove(&oldest);
        }
        entries.last += 1;
        let id = entries.last;
        let (resume, resumed) = oneshot::channel();
        let holding = self.tasks.spawn(hold(call, resumed, self.closing.clone()));
        entries.open.insert(id, ParkedEntry { principal: principal.clone(), resume, holding });
        self.key.sign(id, Timestamp::now(), principal, digest)
    }

    /// Takes a parked call up again.
    pub(super) async fn resume(
        &self,
        state: &str,
        principal: &Principal,
        digest: &str,
    ) -> Result<ParkedCall, McpRefusal> {
        let invalid = || {
            McpRefusal::invalid_params(
                "requestState is not valid for this call, or it has expired; call again without it",
            )
        };
        let id = self.key.verify(state, Timestamp::now(), principal, digest).ok_or_else(invalid)?;
        let entry = self.entries.lock().open.remove(&id).ok_or_else(invalid)?;
        // A call that has expired holds nothing any more.
        let _ = entry.resume.send(());
        entry.holding.await.ok().flatten().ok_or_else(invalid)
    }
}

/// Keeps a call alive until it is taken up, or its time is over.
async fn hold(
    mut parked: ParkedCall,
    mut resumed: oneshot::Receiver<()>,
    closing: CancellationToken,
) -> Option<ParkedCall> {
    let mut expiry = std::pin::pin!(tokio::time::sleep(ANSWER_LIMIT));
    loop {
        tokio::select! {
            resumed = &mut resumed => return resumed.is_ok().then_some(parked),
            () = &mut expiry => return None,
            () = closing.cancelled() => return None,
            event = parked.call.next(), if parked.answered.is_none() => match event {
                CallEvent::Answered(answer) => parked.answered = Some(answer),
                CallEvent::Said(Interjection::Request { method, params, reply }) => parked.question(method, params, reply),
                // Nobody listens while a call waits.
                CallEvent::Said(Interjection::Notification { .. }) => {}
            },
        }
    }
}

impl ParkedCall {
    /// Adds what the service has asked for already besides, so that the client is asked once.
    pub(super) fn gather(&mut self) {
        while self.answered.is_none()
            && let Some(event) = self.call.next().now_or_never()
        {
            match event {
                CallEvent::Answered(answer) => self.answered = Some(answer),
                CallEvent::Said(Interjection::Request { method, params, reply }) => {
                    self.question(method, params, reply)
                }
                CallEvent::Said(Interjection::Notification { .. }) => {}
            }
        }
    }

    /// Adds what the service asks for.
    pub(super) fn question(
        &mut self,
        method: String,
        params: Option<Box<RawValue>>,
        reply: oneshot::Sender<ServerAnswer>,
    ) {
        self.asked += 1;
        self.questions.push(Question { key: format!("request-{}", self.asked), method, params, reply });
    }
}
