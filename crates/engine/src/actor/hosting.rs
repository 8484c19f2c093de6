//! Runs the host's tools for the runtime: never in the session's own time, never without leave.

use roost_model::ids::ToolCallId;
use serde_json::Value;
use tokio::time::timeout;

use super::Actor;
use super::deciding::patience;
use crate::error::Error;
use crate::host_tools::HostToolDone;
use crate::task::{Phase, Task};

impl Actor {
    /// Begins a call that was allowed and is the host's to run; false if it is not the host's.
    pub(super) async fn run_on_host(&mut self, call: &ToolCallId) -> Result<bool, Error> {
        let Some(task) = self.task.as_mut().filter(|task| task.ledger.is_the_hosts(call)) else { return Ok(false) };
        // One that runs already was decided before; its result is told once.
        let Some(begun) = task.ledger.start_on_host(call) else { return Ok(true) };
        self.write(vec![begun.started]).await?.await?;
        if let Some(task) = &mut self.task {
            task.host.start(self.shared.config.host_tools.clone(), begun.attempt, begun.name, begun.input);
        }
        Ok(true)
    }

    /// Records what came of the host's tool, then tells the runtime, if that is still what it waits for.
    pub(super) async fn host_tool_done(&mut self, done: HostToolDone) -> Result<(), Error> {
        let HostToolDone { attempt, result } = done;
        let is_error = result.is_err();
        let result = result.unwrap_or_else(Value::String);
        let Some(task) = &mut self.task else { return Ok(()) };
        let events = task.ledger.complete_on_host(&attempt, result.clone(), is_error);
        let question = task.ledger.question_about(&attempt.tool_call_id).filter(|_| !events.is_empty()).cloned();
        self.write(events).await?.await?;
        let Some(Task { phase: Phase::Running(running), deaf, .. }) = &self.task else { return Ok(()) };
        let Some(question) = question else { return Ok(()) };
        let told = timeout(patience(*deaf), running.control.send_tool_result(&question, result)).await;
        let told = self.heard(told);
        self.note_untold(told).await
    }
}
