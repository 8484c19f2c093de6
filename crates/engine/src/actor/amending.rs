//! Changes to a session's title, model, mode and queue.

use roost_model::canonical;
use roost_model::ids::PromptId;
use roost_model::payload::SessionUpdatedPayload;
use serde_json::{Map, Value};

use super::Actor;
use crate::command::Amendment;
use crate::error::Error;
use crate::session_secrets::SessionSecrets;

impl Actor {
    /// Applies changes from the next task on. A running task is not affected.
    pub(super) async fn amend(&mut self, amendment: Amendment) -> Result<(), Error> {
        if self.writer.is_stalled() {
            return Err(Error::DiskFull);
        }
        let Amendment { title, model, mode, thought_level } = amendment;
        let settings = thought_level.map(|level| self.with_thought_level(level)).transpose()?.flatten();
        let model = model.filter(|model| self.profile.input.model.as_ref() != Some(model));
        let mode = mode.filter(|mode| *mode != self.mode);
        let runtime_config = settings.as_ref().map(roost_policy::redact_settings);
        let runtime_config_hash = settings.as_ref().map(|settings| canonical::hash(&settings.clone().into()));
        let update =
            SessionUpdatedPayload { title, model, mode, runtime_config, runtime_config_hash, ..Default::default() };
        if update == SessionUpdatedPayload::default() {
            return Ok(());
        }
        if settings.is_some() {
            let secrets = SessionSecrets { runtime_config: settings.clone(), ..self.profile.secrets() };
            secrets.store(&*self.shared.log, &self.profile.id).await?;
        }
        let SessionUpdatedPayload { title, model, mode, .. } = update.clone();
        self.write(vec![update.into()]).await?.await?;
        self.mode = mode.unwrap_or(self.mode);
        self.is_outdated |= model.is_some();
        self.profile.input.title = title.or(self.profile.input.title.take());
        self.profile.input.model = model.or(self.profile.input.model.take());
        self.has_new_settings |= settings.is_some();
        self.profile.input.runtime_config = settings.or(self.profile.input.runtime_config.take());
        Ok(())
    }

    /// The runtime's settings with this thought level; `None` if they have it already.
    fn with_thought_level(&self, level: String) -> Result<Option<Map<String, Value>>, Error> {
        let (setting, known) = self.profile.adapter.facts().thought_levels().unwrap_or_default();
        if !known.contains(&level.as_str()) {
            return Err(Error::UnknownThoughtLevel { level, known });
        }
        let mut settings = self.profile.input.runtime_config.clone().unwrap_or_default();
        let level = Value::from(level);
        let before = settings.insert(setting.into(), level.clone());
        Ok((before != Some(level)).then_some(settings))
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
