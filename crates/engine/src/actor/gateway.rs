//! Calls of the MCP gateway in this session: each waits until it is decided, and is answered exactly once.

use std::future::poll_fn;
use std::task::Poll;

use roost_model::approval::ApprovalEnd;
use roost_model::content::TranscriptMessage;
use roost_model::ids::{TaskId, ToolCallId};
use roost_model::mode::PermissionMode;
use roost_model::payload::TaskStartedPayload;
use roost_model::runtime::{InteractionMode, RuntimeName};
use roost_model::session::SessionStep;
use roost_model::tool::{PolicyDecision, ToolCallIdentity};
use serde_json::Value;

use super::Actor;
use crate::adapter::TaskEnd;
use crate::command::Reply;
use crate::error::Error;
use crate::gateway_calls::GatewayVerdict;
use crate::ledger::{GatewayToolCall, Ledger, Verdict};
use crate::mcp_client;
use crate::policy_context::Approver;
use crate::task::{Phase, Task};

/// A call whose sender waits for the decision.
struct WaitingCall {
    identity: ToolCallIdentity,
    /// The hash of the input that it would run with, which a person may have changed for the runtime.
    input_hash: String,
    /// It is not asked about, unless the runtime asked before.
    only_looks: bool,
    /// It is asked about, whatever allows it.
    always_asks: bool,
    reply: Reply<GatewayVerdict>,
}

/// The calls whose senders wait for a decision.
#[derive(Default)]
pub(super) struct WaitingCalls(Vec<WaitingCall>);

impl WaitingCalls {
    /// Whether the call with this id is one of a tool that changes nothing.
    pub(super) fn only_looks(&self, id: &ToolCallId) -> bool {
        self.0.iter().any(|call| call.only_looks && call.identity.tool_call_id == *id)
    }

    /// Whether a person is asked about the call with this id in any case.
    pub(super) fn always_asks(&self, id: &ToolCallId) -> bool {
        self.0.iter().any(|call| call.always_asks && call.identity.tool_call_id == *id)
    }

    /// Waits until the sender of a call no longer does, and returns that call. Cancel safe.
    pub(super) async fn withdrawn(&mut self) -> ToolCallIdentity {
        poll_fn(|context| {
            let gone = self.0.iter_mut().position(|call| call.reply.poll_closed(context).is_ready());
            gone.map_or(Poll::Pending, |at| Poll::Ready(self.0.remove(at).identity))
        })
        .await
    }
}

impl Actor {
    /// Judges a call. Its sender is answered by [`Self::answer_gateway_calls`].
    pub(super) async fn on_gateway_call(
        &mut self,
        call: GatewayToolCall,
        reply: Reply<GatewayVerdict>,
    ) -> Result<(), Error> {
        if self.task.is_none() && self.is_mcp_client() {
            self.begin_client_task(&call.tool).await?;
        }
        let Some(task) = &mut self.task else {
            let _ = reply.send(Some(Ok(GatewayVerdict::no_task())));
            return Ok(());
        };
        let input_hash = roost_model::canonical::hash(&call.input);
        let mut events = Vec::new();
        let (only_looks, always_asks) = (call.only_looks, call.always_asks);
        let identity = task.ledger.join_gateway_call(call, &mut events);
        let id = identity.tool_call_id.clone();
        self.write(events).await?;
        self.gateway_calls.0.push(WaitingCall { identity, input_hash, only_looks, always_asks, reply });
        self.judge(&id).await
    }

    /// Answers every call that is decided by now. To be called after everything that may decide one.
    pub(super) async fn answer_gateway_calls(&mut self) -> Result<(), Error> {
        let mut at = 0;
        while let Some(call) = self.gateway_calls.0.get(at) {
            let decided = match &self.task {
                Some(task) => task.ledger.gateway_decision(&call.identity, &call.input_hash),
                None => Some((PolicyDecision::Deny, GatewayVerdict::no_task().evaluation)),
            };
            let Some((decision, evaluation)) = decided else {
                at += 1;
                continue;
            };
            let call = self.gateway_calls.0.remove(at);
            let id = &call.identity.tool_call_id;
            let ledger = self.task.as_mut().map(|task| &mut task.ledger);
            let started = match (decision, ledger) {
                (PolicyDecision::Allow, Some(ledger)) => ledger.start_in_gateway(id),
                _ => None,
            };
            let verdict = match started {
                Some(started) => {
                    // What runs is in the log before it runs.
                    self.write(vec![started]).await?.await?;
                    let (identity, reason) = (Some(call.identity), String::new());
                    GatewayVerdict { identity, decision, evaluation, reason }
                }
                None => {
                    let reason = self
                        .task
                        .as_ref()
                        .and_then(|task| task.ledger.denial(id))
                        .unwrap_or("the call was withdrawn or its task has ended, so it may not run");
                    let (decision, reason) = (PolicyDecision::Deny, reason.to_owned());
                    GatewayVerdict { identity: Some(call.identity), decision, evaluation, reason }
                }
            };
            // A sender that has gone meanwhile leaves a call that runs; the end of the task closes it.
            let _ = call.reply.send(Some(Ok(verdict)));
        }
        Ok(())
    }

    /// The sender of a call no longer waits, so nobody needs to be asked about it.
    pub(super) async fn on_gateway_call_withdrawn(&mut self, identity: &ToolCallIdentity) -> Result<(), Error> {
        let id = &identity.tool_call_id;
        let Some(task) = &mut self.task else { return Ok(()) };
        // The runtime itself may still wait for the same answer.
        if task.ledger.question_about(id).is_none() {
            let withdrawn = Verdict::denied(ApprovalEnd::Withdrawn, "the client no longer waits for it");
            let events = task.ledger.answer(id, withdrawn);
            self.write(events).await?.await?;
        }
        Ok(())
    }

    /// Records the result of a call that ran.
    pub(super) async fn on_gateway_done(
        &mut self,
        identity: &ToolCallIdentity,
        result: Value,
        is_error: bool,
    ) -> Result<(), Error> {
        let Some(task) = &mut self.task else { return Ok(()) };
        let events = task.ledger.complete_in_gateway(identity, result, is_error);
        self.write(events).await?;
        Ok(())
    }

    /// Ends the task of a client that has no open calls. The session stays open for its next call.
    pub(super) async fn end_idle_client_task(&mut self) -> Result<(), Error> {
        let is_idle = |task: &Task| task.ledger.is_idle() && task.stop.is_none();
        let nobody_waits = self.gateway_calls.0.is_empty() && self.gateway_questions.is_empty();
        if self.is_mcp_client() && nobody_waits && self.task.as_ref().is_some_and(is_idle) {
            self.finish(TaskEnd::Completed("end_turn".into())).await?;
        }
        Ok(())
    }

    pub(super) fn is_mcp_client(&self) -> bool {
        self.profile.adapter.name() == RuntimeName::McpClient
    }

    pub(super) async fn begin_client_task(&mut self, tool: &str) -> Result<(), Error> {
        if let Ok(status) = self.status.after(SessionStep::Prompt) {
            self.status = status;
        }
        let task_id = TaskId::new();
        let started = TaskStartedPayload {
            messages: vec![TranscriptMessage::user(format!("calls {tool} through the MCP gateway"))],
            permission_mode: PermissionMode::from(self.mode),
            mode: self.mode,
            interaction_mode: InteractionMode::Interactive,
            prompt_id: None,
        };
        self.writer.set_task(Some(task_id.clone()));
        self.write(vec![started.into()]).await?;
        let (ledger, phase) = (Ledger::new(self.mode), Phase::Running(mcp_client::task()));
        self.task = Some(Task::new(task_id, self.mode, Approver::Present, ledger, phase));
        Ok(())
    }
}
