//! Changes to a session's title, model, mode and queue.

use roost_model::ids::PromptId;
use roost_model::payload::SessionUpdatedPayload;

use super::Actor;
use crate::command::Amendment;
use crate::error::Error;

impl Actor {
    /// Applies changes from the next task on. A running task is not affected.
    pub(super) async fn amend(&mut self, amendment: Amendment) -> Result<(), Error> {
        if self.writer.is_stalled() {
            return Err(Error::DiskFull);
        }
        let Amendment { title, model, mode } = amendment;
        let model = model.filter(|model| self.profile.input.model.as_ref() != Some(model));
        let mode = mode.filter(|mode| *mode != self.mode);
        let update = SessionUpdatedPayload { title, model, mode, ..Default::default() };
        if update == SessionUpdatedPayload::default() {
            return Ok(());
        }
        let SessionUpdatedPayload { title, model, mode, .. } = update.clone();
        self.write(vec![update.into()]).await?.await?;
        self.mode = mode.unwrap_or(self.mode);
        self.is_outdated |= model.is_some();
        self.profile.input.title = title.or(self.profile.input.title.take());
        self.profile.input.model = model.or(self.profile.input.model.take());
        Ok(())
    }

    /// Takes a prompt out of the queue, so that it never becomes a task.
    pub(super) async fn remove_queued(&mut self, prompt: &PromptId) -> Result<(), Error> {
        if self.writer.is_stalled() {
            return Err(Error::DiskFull);
        }
        let at = self.queue.iter().position(|queued| queued.prompt_id == *prompt);
        self.queue.remove(at.ok_or_else(|| Error::NotQueued(prompt.clone()))?);
        self.prompt_options.remove(prompt);
        let queue = Some(self.queue.clone());
        self.write(vec![SessionUpdatedPayload { queue, ..Default::default() }.into()]).await?.await?;
        Ok(())
    }
}
