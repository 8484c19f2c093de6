//! What a session does now, in one line that says that it is alive.

use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::payload::ModelOutputDeltaKind as Delta;
use roost_model::time::Timestamp;

/// The pictures of the spinner, one after the other.
const FRAMES: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
/// How long each picture stays; also how often the line is worth drawing again.
pub(crate) const FRAME_MILLIS: u64 = 250;

/// What the session was last seen doing.
#[derive(Default)]
pub(super) struct Activity {
    /// `None` while no task runs.
    now: Option<(&'static str, Timestamp)>,
}

impl Activity {
    /// Takes note of an event.
    pub(super) fn note(&mut self, event: &NormalizedEvent) {
        let what = match &event.body {
            EventBody::TaskStarted(_) => "starting the agent",
            EventBody::TaskCompleted(_) | EventBody::TaskStopped(_) | EventBody::TaskFailed(_) => {
                self.now = None;
                return;
            }
            // Notices and usage come at any time, and say nothing about what the agent does.
            _ if self.now.is_none() => return,
            EventBody::ModelOutputDelta(delta) if delta.kind == Delta::ReasoningDelta => "thinking",
            EventBody::ModelOutputDelta(_) => "writing",
            EventBody::ApprovalRequested(_) | EventBody::QuestionAsked(_) => "waiting for an answer",
            EventBody::ModelInput(_)
            | EventBody::RuntimeRequestStarted(_)
            | EventBody::ModelOutputCompleted(_)
            | EventBody::ToolCallCompleted(_)
            | EventBody::ToolCallDenied(_)
            | EventBody::ApprovalResolved(_)
            | EventBody::QuestionResolved(_) => "waiting for the model",
            _ => return,
        };
        if self.now.is_none_or(|(before, _)| before != what) {
            self.now = Some((what, event.time));
        }
    }

    /// The line, with the call that runs if there is one.
    pub(super) fn line(&self, running: Option<(&str, Timestamp)>, now: Timestamp) -> Option<String> {
        let (what, since) = self.now.map(|idle| running.unwrap_or(idle))?;
        let frame = usize::try_from(now.as_millis() / FRAME_MILLIS as i64).unwrap_or(0) % FRAMES.len();
        let seconds = (now.as_millis() - since.as_millis()).max(0) / 1000;
        let time = match seconds {
            ..60 => format!("{seconds} s"),
            _ => format!("{} min {} s", seconds / 60, seconds % 60),
        };
        Some(format!("{} {what} · {time}", FRAMES[frame]))
    }
}
