//! What sessions may use up. Who keeps the budgets is the composition root's choice; the engine asks at every tool call and
//! every report of usage, and stops the task or asks a person.

use async_trait::async_trait;
use roost_model::ids::SessionId;
use roost_model::session::SessionUsage;

/// The rule that stops a session, or asks a person, because it has used up its budget.
pub(crate) const BUDGET_RULE: &str = "budget";

/// A budget that a session has used up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpentBudget {
    /// What is used up and what to do about it, for the agent and its person.
    pub reason: String,
    /// Whether a person may give as much again; if not, the task is stopped.
    pub may_ask: bool,
}

/// Holds sessions to what they may use up.
#[async_trait]
pub trait SessionBudgets: Send + Sync {
    /// The budget that this session has used up; `None` if it may go on. `usage` is all that it used in its life, and its
    /// last tool call is the one that is being judged.
    async fn spent(&self, session: &SessionId, usage: &SessionUsage) -> Option<SpentBudget>;

    /// A person gave the session as much again.
    async fn raise(&self, session: &SessionId, usage: &SessionUsage);
}
