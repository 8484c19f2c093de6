//! Runs the host's tools for the runtime: beside the actor's loop, and only if they were allowed.

use roost_model::ids::ToolCallId;
use serde_json::Value;
use tokio::time::timeout;

use super::Actor;
use super::deciding::delivery_timeout;
use crate::error::Error;
use crate::host_tools::HostToolDone;
use crate::task::{Phase, Task};

impl Actor {
    /// Starts a call that was allowed and that the host runs; `false` if the runtime runs it.
    pub(super) async fn run_on_host(&mut self, call: &ToolCallId) -> Result<bool, Error> {
        let Some(task) = self.task.as_mut().filter(|task| task.ledger.runs_host_tool(call)) else { return Ok(false) };
        // A call that runs already was started by an earlier decision; its result is sent once.
        let Some(begun) = task.ledger.start_on_host(call) else { return Ok(true) };
        self.write(vec![begun.started]).await?.await?;
        if let Some(task) = &mut self.task {
            task.host.start(self.shared.config.host_tools.clone(), begun.attempt, begun.name, begun.input);
        }
        Ok(true)
    }

    /// Records the result of a host tool, then sends it to the runtime if that still waits for this attempt.
    pub(super) async fn host_tool_done(&mut self, done: HostToolDone) -> Result<(), Error> {
        let HostToolDone { attempt, result } = done;
        let is_error = result.is_err();
        let result = result.unwrap_or_else(Value::String);
        let Some(task) = &mut self.task else { return Ok(()) };
        let events = task.ledger.complete_on_host(&attempt, result.clone(), is_error);
        let question = task.ledger.question_about(&attempt.tool_call_id).filter(|_| !events.is_empty()).cloned();
        self.write(events).await?.await?;
        let Some(Task { phase: Phase::Running(running), unresponsive, .. }) = &self.task else { return Ok(()) };
        let Some(question) = question else { return Ok(()) };
        let sent = timeout(delivery_timeout(*unresponsive), running.control.send_tool_result(&question, result)).await;
        let sent = self.note_delivery(sent);
        self.report_undelivered(sent).await
    }
}
