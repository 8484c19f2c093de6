//! A call that is under way: who hears what the server says before it answers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::{mpsc, oneshot};

use super::call_limiter::{AdmittedCall, CallQueue, CallTurn};
use super::pausable_deadline::PausableDeadline;
use super::request_params::with_progress_token;
use super::{Interjection, MAX_QUESTIONS, ServerAnswer, UpstreamError};
use crate::client_profile::ClientProfile;

/// The requests that a client may answer for a server.
const QUESTIONS: [&str; 3] = ["elicitation/create", "sampling/createMessage", "roots/list"];

/// A call that is under way.
pub(super) struct OpenCall {
    pub(super) deadline: PausableDeadline,
    interjections: Option<mpsc::Sender<Interjection>>,
    /// The client's own token for the progress of this call.
    progress_token: Option<Box<RawValue>>,
    /// Which of [`QUESTIONS`] the client answers.
    answers: [bool; 3],
    questions: AtomicUsize,
    place: Mutex<Place>,
}

/// What the call has of its service's turns.
#[derive(Default)]
struct Place {
    admitted: Option<(AdmittedCall, CallQueue)>,
    turn: Option<CallTurn>,
    /// Questions that wait for the client. Until they are answered, another call may have the turn.
    open_questions: u32,
    is_turn_lent: bool,
}

impl OpenCall {
    pub(super) fn new(
        client: &ClientProfile,
        interjections: Option<mpsc::Sender<Interjection>>,
        progress_token: Option<Box<RawValue>>,
        limit: Duration,
    ) -> Self {
        let answers = QUESTIONS.map(|method| client.answers(method));
        Self {
            deadline: PausableDeadline::new(limit),
            interjections,
            progress_token,
            answers,
            questions: AtomicUsize::new(0),
            place: Mutex::default(),
        }
    }

    /// Waits until the call may be under way.
    pub(super) async fn take_turn(&self, queue: &CallQueue) -> Result<(), UpstreamError> {
        self.place.lock().admitted = Some((queue.enter()?, queue.clone()));
        let turn = queue.turn().await;
        self.place.lock().turn = Some(turn);
        Ok(())
    }

    /// Gives back what the call has of its service's turns, because it is over.
    pub(super) fn end(&self) {
        let place = std::mem::take(&mut *self.place.lock());
        drop(place);
    }

    /// Whether somebody hears what the server says.
    pub(super) fn is_heard(&self) -> bool {
        self.interjections.is_some()
    }

    /// Whether the client can answer this request of the server.
    pub(super) fn can_answer(&self, method: &str) -> bool {
        let known = QUESTIONS.iter().position(|question| *question == method);
        self.is_heard() && known.is_some_and(|question| self.answers[question])
    }

    /// Passes a notification on without waiting: what the client has no room for is lost, so that it cannot delay the
    /// other calls of a connection.
    pub(super) fn try_notify(&self, method: String, params: Option<&RawValue>) {
        if let (Some(sender), Some(notification)) = (&self.interjections, self.notification(method, params)) {
            // A client that reads nothing, or has left, misses it.
            let _ = sender.try_send(notification);
        }
    }

    /// Passes a notification on, and waits until the client has room for it.
    pub(super) async fn notify(&self, method: String, params: Option<&RawValue>) {
        if let (Some(sender), Some(notification)) = (&self.interjections, self.notification(method, params)) {
            // A client that has left misses it.
            let _ = sender.send(notification).await;
        }
    }

    /// The notification as the client is to read it; `None` if the client did not want it.
    fn notification(&self, method: String, params: Option<&RawValue>) -> Option<Interjection> {
        let params = match (method.as_str(), params) {
            ("notifications/progress", Some(params)) => {
                Some(with_progress_token(params, self.progress_token.as_deref()?))
            }
            (_, params) => params.map(ToOwned::to_owned),
        };
        Some(Interjection::Notification { method, params })
    }

    /// Asks the client and waits for its answer; the time does not count as the service's.
    pub(super) async fn ask(&self, method: String, params: Option<Box<RawValue>>) -> ServerAnswer {
        let Some(sender) = self.interjections.as_ref().filter(|_| self.can_answer(&method)) else {
            return Err(refusal(-32601, "the client of this call does not answer such requests"));
        };
        if self.questions.fetch_add(1, Ordering::Relaxed) >= MAX_QUESTIONS {
            return Err(refusal(-32600, "this call has asked too often"));
        }
        let _paused = self.deadline.pause();
        let lent = LentTurn::of(self);
        let is_elicitation = method == "elicitation/create";
        let (reply, answer) = oneshot::channel();
        let asked = sender.send(Interjection::Request { method, params, reply }).await;
        let answered = match asked {
            Ok(()) => answer.await.ok(),
            Err(_) => None,
        };
        lent.take_back().await;
        answered.unwrap_or_else(|| match is_elicitation {
            true => Ok(raw(&serde_json::json!({ "action": "cancel" }))),
            false => Err(refusal(-1, "the client did not answer")),
        })
    }
}

/// The turn of a call whose client is asked something: meanwhile others have it.
struct LentTurn<'a> {
    call: &'a OpenCall,
    is_open: bool,
}

impl<'a> LentTurn<'a> {
    fn of(call: &'a OpenCall) -> Self {
        let turn = {
            let mut place = call.place.lock();
            place.open_questions += 1;
            place.is_turn_lent |= place.turn.is_some();
            place.turn.take()
        };
        drop(turn);
        Self { call, is_open: true }
    }

    /// Ends the question; returns the queue if the turn is to be taken back now.
    fn close(&mut self) -> Option<CallQueue> {
        let mut place = self.call.place.lock();
        // A call that is over forgets its questions.
        place.open_questions = place.open_questions.saturating_sub(1);
        self.is_open = false;
        if place.open_questions > 0 || !std::mem::take(&mut place.is_turn_lent) {
            return None;
        }
        place.admitted.as_ref().map(|(_, queue)| queue.clone())
    }

    /// Waits for a turn, with which the service goes on.
    async fn take_back(mut self) {
        let Some(queue) = self.close() else { return };
        self.keep(queue.turn().await);
    }

    fn keep(&self, turn: CallTurn) {
        let mut place = self.call.place.lock();
        if place.open_questions > 0 {
            place.is_turn_lent = true;
        } else if place.admitted.is_some() {
            place.turn = Some(turn);
            return;
        }
        drop(place);
        drop(turn);
    }
}

impl Drop for LentTurn<'_> {
    fn drop(&mut self) {
        // The service took its question back and goes on already.
        if self.is_open
            && let Some(queue) = self.close()
        {
            self.keep(queue.turn_at_once());
        }
    }
}

/// An error object of ours.
pub(super) fn refusal(code: i32, message: &str) -> Box<RawValue> {
    raw(&serde_json::json!({ "code": code, "message": message }))
}

fn raw(value: &serde_json::Value) -> Box<RawValue> {
    // A value that is in memory can always be written.
    to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
