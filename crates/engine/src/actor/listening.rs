//! What a session does about what its runtime says.

use std::time::Duration;

use roost_policy::Approver;
use roost_proto::payload::{NoticeLevel, NoticeSource, QuestionOutcome, RuntimeNoticePayload, SessionUpdatedPayload};
use roost_proto::time::Timestamp;
use roost_proto::tool::{PolicyDecision, PolicyResult, PolicySource, ToolPolicyEvaluation};
use tokio::time::{Instant, timeout};

use super::ending::EXIT_GRACE;
use super::{Actor, Flow};
use crate::adapter::{Answer, Draft, Fact};
use crate::error::Error;
use crate::ledger::{Asked, Next};
use crate::task::{Phase, Task};

/// How long a runtime has to take a message; one that does not read its input must not hold up the session.
pub(super) const CONTROL_PATIENCE: Duration = Duration::from_secs(1);
/// What is said to an agent whose tool call nobody could approve.
const NOBODY: &str = "nobody is there to approve it";

impl Actor {
    /// Writes what the runtime did; the hot path.
    pub(super) async fn take(&mut self, drafts: Vec<Draft>) -> Result<Flow, Error> {
        if let Some(Task { exit_deadline: Some(deadline), .. }) = &mut self.task {
            // The adapter of a runtime that exited still has something to tell.
            *deadline = Instant::now() + EXIT_GRACE;
        }
        let now = Timestamp::now();
        let mut events = Vec::with_capacity(drafts.len());
        let mut bodies = Vec::new();
        for Draft { fact, raw } in drafts {
            let Some(task) = &mut self.task else { return Ok(Flow::Continue) };
            if let Fact::Session(SessionUpdatedPayload { runtime_session_id: Some(native), .. }) = &fact {
                self.native = Some(native.clone());
                self.scribe.runtime.runtime_session_id.clone_from(&self.native);
            }
            let next = task.ledger.enter(fact, &mut bodies);
            let mut raw = raw;
            events.extend(bodies.drain(..).map(|body| self.scribe.stamp(now, body, raw.take())));
            match next {
                Next::Nothing => {}
                Next::Decide(asked) => {
                    self.hand_over(std::mem::take(&mut events)).await?;
                    self.decide(asked).await?;
                }
                Next::End(end) => {
                    self.hand_over(events).await?;
                    return self.end(end).await;
                }
            }
        }
        self.hand_over(events).await?;
        Ok(Flow::Continue)
    }

    /// Decides what the runtime waits for, writes the decision, and only then tells the runtime.
    pub(super) async fn decide(&mut self, asked: Asked) -> Result<(), Error> {
        let Some(task) = &mut self.task else { return Ok(()) };
        // One that did not take the last message is not waited for again.
        let patience = if task.deaf { Duration::ZERO } else { CONTROL_PATIENCE };
        let told = match asked {
            Asked::Tool(call) => {
                let (words, reason) = match task.stop {
                    None => (roost_policy::evaluate(task.mode, Approver::Nobody), NOBODY),
                    Some(_) => (vec![stopping()], "the task is being stopped"),
                };
                if task.ledger.decision(&call).is_none() {
                    let events = task.ledger.decide(&call, words, reason);
                    self.write(events).await?.await?;
                }
                let Some(Task { ledger, phase: Phase::Running(running), .. }) = &self.task else { return Ok(()) };
                match ledger.decision(&call) {
                    Some(PolicyDecision::Allow) => timeout(patience, running.control.send_tool_approved(&call)).await,
                    Some(PolicyDecision::Deny) => {
                        timeout(patience, running.control.send_tool_denied(&call, reason)).await
                    }
                    None => return Ok(()),
                }
            }
            Asked::Question(question) => {
                let resolved =
                    task.ledger.resolve(&question, QuestionOutcome::Declined, Some(roost_policy::NO_APPROVER));
                self.write(resolved.into_iter().collect()).await?.await?;
                let Some(Task { phase: Phase::Running(running), .. }) = &self.task else { return Ok(()) };
                timeout(patience, running.control.send_answer(&question, Answer::Declined)).await
            }
        };
        let failure = match &told {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("it does not read its input".into()),
        };
        if let Some(task) = &mut self.task {
            task.deaf = told.is_err();
        }
        if let Some(failure) = failure {
            let message = format!("the runtime did not take a decision: {failure}");
            let notice = RuntimeNoticePayload { level: NoticeLevel::Warning, source: NoticeSource::Engine, message };
            self.write(vec![notice.into()]).await?;
        }
        Ok(())
    }
}

/// The policy's word on a tool that is asked for after the task was asked to stop.
fn stopping() -> ToolPolicyEvaluation {
    let rule = Some("task_stopping".into());
    ToolPolicyEvaluation { source: PolicySource::Codesdk, result: PolicyResult::Deny, rule }
}
