//! Holds the session to its budget: a task that goes beyond it is stopped, or a person is asked about its next call.

use roost_model::event::{EventBody, NewEvent};
use roost_model::failure::{FailureCode, TaskError};
use roost_model::payload::{NoticeLevel, NoticeSource, RuntimeNoticePayload};
use roost_model::time::Timestamp;
use serde_json::Value;

use super::{Actor, Flow};
use crate::budgets::{BUDGET_RULE, SpentBudget};
use crate::error::Error;
use crate::policy_context::{Approver, Judgement};

impl Actor {
    /// A complete event of this session, counted if it says what was used.
    pub(super) async fn stamp(&mut self, now: Timestamp, body: EventBody, raw: Option<Value>) -> NewEvent {
        self.usage_changed |= self.usage.count(&body);
        self.writer.stamp_and_spill(&self.shared.artifacts, now, body, raw).await
    }

    /// The budget that this session has used up, and whether somebody can be asked for more. The runs of clients that
    /// are no hosted agents are not their sessions, so the gateway holds those to their budgets.
    async fn spent_budget(&mut self, approver: Approver) -> Option<SpentBudget> {
        if self.is_mcp_client() {
            return None;
        }
        let spent = self.shared.config.budgets.as_ref()?.spent(&self.profile.id, &self.usage).await?;
        Some(SpentBudget { may_ask: spent.may_ask && approver == Approver::Present, ..spent })
    }

    /// What becomes of a call that the policy has judged: it is denied if the budget is used up, or asked about, whatever
    /// mode or rule allows it.
    pub(super) async fn judge_spending(&mut self, judgement: Judgement) -> Result<Judgement, Error> {
        let Some(task) = self.task.as_ref().filter(|task| task.stop.is_none() && !judgement.is_denial()) else {
            return Ok(judgement);
        };
        let approver = task.approver;
        let Some(SpentBudget { reason, may_ask }) = self.spent_budget(approver).await else {
            return Ok(judgement);
        };
        if !may_ask {
            return Ok(judgement.denying(BUDGET_RULE, reason));
        }
        let (level, source) = (NoticeLevel::Warning, NoticeSource::Engine);
        self.write(vec![RuntimeNoticePayload { level, source, message: reason }.into()]).await?;
        Ok(judgement.asking(BUDGET_RULE))
    }

    /// A person allowed a call that was asked about because of this rule: if it was the budget, there is more of it.
    pub(super) async fn note_allowed(&mut self, rule: Option<&str>) {
        if let Some(budgets) = self.shared.config.budgets.as_ref().filter(|_| rule == Some(BUDGET_RULE)) {
            budgets.raise(&self.profile.id, &self.usage).await;
        }
    }

    /// Why no task may begin, because the budget is used up and nobody can be asked.
    pub(super) async fn out_of_budget(&mut self, approver: Approver) -> Option<TaskError> {
        let spent = self.spent_budget(approver).await.filter(|spent| !spent.may_ask)?;
        Some(TaskError::new(FailureCode::BudgetExceeded, spent.reason))
    }

    /// Stops the task if what it did since the last time goes beyond the budget, and nobody can be asked.
    pub(super) async fn stop_if_spent(&mut self) -> Result<Flow, Error> {
        let Some(task) = self.task.as_ref().filter(|task| task.stop.is_none() && self.usage_changed) else {
            return Ok(Flow::Continue);
        };
        let approver = task.approver;
        self.usage_changed = false;
        match self.out_of_budget(approver).await {
            Some(failure) => self.begin_stop(failure.message.clone(), None, Some(failure), Vec::new()).await,
            None => Ok(Flow::Continue),
        }
    }
}
