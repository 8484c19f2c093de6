//! What a run may use up, and how much it has.
//!
//! Tokens and cost are what the run's row or the session's record says, which is what was reported. Calls are those that
//! came through the gateway since the daemon began, or those that were reported, if they are more.

use std::num::NonZeroUsize;
use std::sync::Arc;

use lru::LruCache;
use parking_lot::Mutex;
use roost_log::{Log, StreamId};
use roost_model::event::NewEvent;
use roost_model::ids::RunId;
use roost_model::payload::{BudgetKind, McpBudgetExceededPayload};
use roost_model::time::Timestamp;
use serde_json::{Value, json};

use super::{RunsError, reported};

/// Runs whose calls are counted at once; the one that made none for longest is forgotten.
const COUNTED_RUNS: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

/// What each run may use up; what is `None` is not limited.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BudgetLimits {
    /// Tool calls through the gateway.
    pub calls: Option<u64>,
    /// Tokens that models read and wrote.
    pub tokens: Option<u64>,
    /// Cost of models in US dollars.
    pub cost_usd: Option<f64>,
    /// What happens to a call beyond that.
    pub on_exceeded: OnExceeded,
}

/// What happens to the calls of a run that has used up its budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnExceeded {
    /// They are denied.
    #[default]
    Deny,
    /// A person is asked for as much again.
    Ask,
}

/// A budget that is used up.
#[derive(Clone, Debug, PartialEq)]
pub struct ExceededBudget {
    /// The run that used it up.
    pub run: RunId,
    /// What is used up.
    pub kind: BudgetKind,
    /// How much was used.
    pub spent: f64,
    /// How much may be used.
    pub limit: f64,
}

impl ExceededBudget {
    /// Why a call is denied, for the agent and its person.
    pub fn reason(&self) -> String {
        let Self { run, kind, spent, limit } = self;
        let what = match kind {
            BudgetKind::Calls => format!("{spent} of {limit} tool calls"),
            BudgetKind::Tokens => format!("{spent} of {limit} tokens"),
            BudgetKind::CostUsd => format!("${spent:.2} of ${limit:.2}"),
        };
        format!("the run {run} has used up its budget: {what}; raise it in [budgets] of roost.toml")
    }

    /// What a person is shown who is asked for more.
    pub fn question(&self) -> Value {
        json!({ "run": self.run, "budget": self.kind, "spent": self.spent, "limit": self.limit })
    }
}

/// The calls of a run, and what a person granted it.
#[derive(Clone, Copy, Default)]
struct Spending {
    calls: u64,
    /// How often a person gave as much again.
    raised: u32,
    /// Whether the log says that this budget is used up.
    is_recorded: bool,
}

/// Decides whether a run may go on calling tools.
pub struct RunBudgets {
    limits: BudgetLimits,
    log: Arc<dyn Log>,
    runs: Mutex<LruCache<RunId, Spending>>,
}

impl RunBudgets {
    /// The same limits for every run. `None` if there are none, so that nothing is counted.
    pub fn new(limits: BudgetLimits, log: Arc<dyn Log>) -> Option<Self> {
        let is_limited = limits.calls.is_some() || limits.tokens.is_some() || limits.cost_usd.is_some();
        is_limited.then(|| Self { limits, log, runs: Mutex::new(LruCache::new(COUNTED_RUNS)) })
    }

    /// What happens to the calls of a run that has used up its budget.
    pub fn on_exceeded(&self) -> OnExceeded {
        self.limits.on_exceeded
    }

    /// Counts a call that the run wants to make. If the run has used up a budget, the call does not count, the log says
    /// so once, and the budget is returned.
    pub async fn count_call(&self, run: &RunId) -> Result<Option<ExceededBudget>, RunsError> {
        let used = self.used(run).await?;
        let exceeded = {
            let mut runs = self.runs.lock();
            let spending = runs.get_or_insert_mut(run.clone(), Spending::default);
            let exceeded = self.exceeded(run, &used, *spending);
            if exceeded.is_none() {
                spending.calls += 1;
            }
            exceeded.map(|exceeded| (exceeded, std::mem::replace(&mut spending.is_recorded, true)))
        };
        let Some((exceeded, is_recorded)) = exceeded else { return Ok(None) };
        if !is_recorded {
            let ExceededBudget { run, kind, spent, limit } = exceeded.clone();
            let payload = McpBudgetExceededPayload { run_id: run, budget: kind, spent, limit };
            self.log.append(&StreamId::host(), vec![NewEvent::for_host(Timestamp::now(), payload)]).await?;
        }
        Ok(Some(exceeded))
    }

    /// Gives the run as much again as it may use up.
    pub fn raise(&self, run: &RunId) {
        let mut runs = self.runs.lock();
        let spending = runs.get_or_insert_mut(run.clone(), Spending::default);
        spending.raised += 1;
        spending.is_recorded = false;
    }

    fn exceeded(&self, run: &RunId, used: &Used, spending: Spending) -> Option<ExceededBudget> {
        let BudgetLimits { calls, tokens, cost_usd, .. } = self.limits;
        let times = f64::from(spending.raised) + 1.0;
        let used_calls = used.calls.max(spending.calls);
        [
            (BudgetKind::Calls, used_calls as f64, calls.map(|limit| limit as f64)),
            (BudgetKind::Tokens, used.tokens as f64, tokens.map(|limit| limit as f64)),
            (BudgetKind::CostUsd, used.cost_usd, cost_usd),
        ]
        .into_iter()
        .find_map(|(kind, spent, limit)| {
            let limit = limit? * times;
            (spent >= limit).then(|| ExceededBudget { run: run.clone(), kind, spent, limit })
        })
    }

    /// What was reported of a run: of a hosted agent by its runtime, of others by their clients.
    async fn used(&self, run: &RunId) -> Result<Used, RunsError> {
        if let Some(record) = self.log.session(run.as_str()).await?
            && record.session_id.as_str() == run.as_str()
        {
            let usage = record.usage;
            return Ok(Used {
                calls: 0,
                tokens: usage.input_tokens.saturating_add(usage.output_tokens),
                cost_usd: usage.cost_usd,
            });
        }
        Ok(reported(&*self.log, run).await?.map_or_else(Used::default, |run| Used {
            calls: run.tool_call_count,
            tokens: run.input_tokens.saturating_add(run.output_tokens),
            cost_usd: run.cost_usd,
        }))
    }
}

/// What a run has used up by what was reported of it.
#[derive(Default)]
struct Used {
    calls: u64,
    tokens: u64,
    cost_usd: f64,
}
