//! Gives a further message of the user to the task that runs, if its runtime takes one.

use roost_model::content::{TranscriptContentBlock, TranscriptMessage};
use roost_model::ids::TaskId;
use roost_model::payload::TaskSteeredPayload;
use tokio::time::timeout;

use super::drafts::CONTROL_TIMEOUT;
use super::{Actor, PromptOptions};
use crate::error::Error;
use crate::task::{Phase, Task};

impl Actor {
    /// Returns the task that took the message; `None` if it has to wait until the task has ended. It is recorded after the
    /// runtime took it, and before anything that the runtime makes of it.
    pub(super) async fn steer(
        &mut self,
        message: &TranscriptMessage,
        options: &PromptOptions,
    ) -> Result<Option<TaskId>, Error> {
        let Some(Task { id, mode, phase: Phase::Running(running), stop: None, unresponsive: false, .. }) = &self.task
        else {
            return Ok(None);
        };
        let changes_model = options.model.is_some() && options.model != self.profile.input.model;
        let changes_mode = options.mode.is_some_and(|wanted| wanted != *mode);
        if changes_mode || changes_model || options.is_forbidden_in(*mode) || !can_steer(message) {
            return Ok(None);
        }
        let id = id.clone();
        let sent = timeout(CONTROL_TIMEOUT, running.control.steer(message.clone())).await;
        let is_late = sent.is_err();
        match self.note_delivery(sent) {
            Ok(()) => {}
            // It may reach the runtime after all, so it must not wait in the queue too.
            Err(error) if is_late => return Err(error.into()),
            Err(_) => return Ok(None),
        }
        self.writer.set_prompted_by(options.by.clone());
        self.write(vec![TaskSteeredPayload { message: message.clone() }.into()]).await?.await?;
        Ok(Some(id))
    }
}

/// Whether a message is plain text. Images have to be fetched for a runtime, and a slash command stands for another text:
/// both is done when a task starts.
fn can_steer(message: &TranscriptMessage) -> bool {
    let is_text = |block: &TranscriptContentBlock| matches!(block, TranscriptContentBlock::Text { .. });
    message.content.iter().all(is_text) && !message.text().trim_start().starts_with('/')
}
