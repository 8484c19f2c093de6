//! Handles the drafts of the runtime: turns them into events and asks for decisions.

use std::time::Duration;

use roost_model::payload::SessionUpdatedPayload;
use roost_model::time::Timestamp;
use roost_policy::folder_effect;
use tokio::time::Instant;

use super::ending::EXIT_GRACE;
use super::{Actor, Flow};
use crate::adapter::{Draft, Fact};
use crate::error::Error;
use crate::ledger::Next;
use crate::policy_context::call_of;
use crate::task::Task;

/// How long a runtime has to take a message. One that does not read its input must not block the session.
pub(super) const CONTROL_TIMEOUT: Duration = Duration::from_secs(1);

impl Actor {
    /// Writes what the runtime did. This is the hot path.
    pub(super) async fn on_drafts(&mut self, drafts: Vec<Draft>) -> Result<Flow, Error> {
        if let Some(Task { exit_deadline: Some(deadline), .. }) = &mut self.task {
            // The adapter of a runtime that has exited still reports.
            *deadline = Instant::now() + EXIT_GRACE;
        }
        let now = Timestamp::now();
        let mut events = Vec::with_capacity(drafts.len());
        let mut bodies = Vec::new();
        for Draft { fact, raw } in drafts {
            let Some(task) = &mut self.task else { return Ok(Flow::Continue) };
            if let Fact::Session(SessionUpdatedPayload { runtime_session_id: Some(native), .. }) = &fact {
                self.native = Some(native.clone());
                self.writer.runtime.runtime_session_id.clone_from(&self.native);
            }
            match &fact {
                Fact::ToolRequested(request) | Fact::ToolAsks(request) => {
                    let adapter = &self.profile.adapter;
                    let effect = folder_effect(&call_of(&adapter.name(), &adapter.facts().tools, request));
                    self.shell_folders.requested(&request.identity.tool_call_id, effect);
                }
                Fact::ToolCompleted(outcome) => self.shell_folders.ended(&outcome.call, !outcome.is_error),
                Fact::ToolRefused { call, .. } => self.shell_folders.ended(call, false),
                _ => {}
            }
            let next = task.ledger.enter(fact, &mut bodies);
            let mut raw = raw;
            for body in bodies.drain(..) {
                events.push(self.stamp(now, body, raw.take()).await);
            }
            match next {
                Next::Nothing => {}
                Next::Decide(asked) => {
                    self.append(std::mem::take(&mut events)).await?;
                    self.decide(asked).await?;
                }
                Next::End(end) => {
                    self.append(events).await?;
                    return self.end(end).await;
                }
            }
        }
        self.append(events).await?;
        self.stop_if_spent().await
    }
}
