//! What a run may use up, and how much it has.
//!
//! Everything is counted from what the log holds, so a restarted daemon goes on counting where the last one ended. What a
//! hosted agent used is in its session's record; the engine asks about it at every call and every report of usage
//! ([`SessionBudgets`]). What other clients used are the calls that came through the gateway with their run's id, or those
//! that they reported, if they are more, and the tokens and the cost that they reported.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use lru::LruCache;
use parking_lot::Mutex;
use roost_engine::{SessionBudgets, SpentBudget};
use roost_log::{Log, Seq, StreamId};
use roost_model::event::{EventBody, NewEvent, NormalizedEventType};
use roost_model::ids::{RunId, SessionId};
use roost_model::payload::{BudgetKind, McpBudgetExceededPayload};
use roost_model::session::SessionUsage;
use roost_model::time::Timestamp;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::{RunsError, reported};

/// Runs whose calls are counted at once; the one that made none for longest is forgotten.
const COUNTED_RUNS: NonZeroUsize = NonZeroUsize::new(4096).unwrap();
/// Calls that a restarted daemon counts again, the latest ones.
const RECOUNTED_CALLS: usize = 100_000;
/// Of them, those that are read at once.
const PAGE: usize = 4096;
/// The rule that denies the calls of a run that has used up its budget. They do not count.
pub(crate) const BUDGET_RULE: &str = "gateway:budget";

/// What each run may use up; what is `None` is not limited.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BudgetLimits {
    /// Tool calls: all of a hosted agent's, those through the gateway of others.
    pub calls: Option<u64>,
    /// Tokens that models read and wrote.
    pub tokens: Option<u64>,
    /// Cost of models in US dollars.
    pub cost_usd: Option<f64>,
    /// What happens to a run beyond that.
    pub on_exceeded: OnExceeded,
}

/// What happens to a run that has used up its budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnExceeded {
    /// A hosted agent's task is stopped; the calls of others are denied.
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
    /// Calls through the gateway of a client that is no hosted agent.
    calls: u64,
    /// How often a person gave as much again.
    raised: u32,
    /// Whether the log says that this budget is used up.
    is_recorded: bool,
}

/// What the runs of a daemon spend, by the run.
type SpendingByRun = Mutex<LruCache<RunId, Spending>>;

/// Decides whether a run may go on. A daemon has one, which the engine and every door share.
pub struct RunBudgets {
    limits: BudgetLimits,
    log: Arc<dyn Log>,
    /// Read from the log when the first run is looked at.
    runs: OnceCell<SpendingByRun>,
}

impl RunBudgets {
    /// The same limits for every run. `None` if there are none, so that nothing is counted.
    pub fn new(limits: BudgetLimits, log: Arc<dyn Log>) -> Option<Arc<Self>> {
        let is_limited = limits.calls.is_some() || limits.tokens.is_some() || limits.cost_usd.is_some();
        is_limited.then(|| Arc::new(Self { limits, log, runs: OnceCell::new() }))
    }

    /// What happens to a run that has used up its budget.
    pub fn on_exceeded(&self) -> OnExceeded {
        self.limits.on_exceeded
    }

    /// Counts a call that a client's run wants to make. If the run has used up a budget, the call does not count, the log
    /// says so once, and the budget is returned.
    pub async fn count_call(&self, run: &RunId) -> Result<Option<ExceededBudget>, RunsError> {
        let used = self.used(run).await?;
        self.check(run, &used, true).await
    }

    /// Gives the run as much again as it may use up, after it had used this.
    pub async fn raise(&self, exceeded: &ExceededBudget) -> Result<(), RunsError> {
        let ExceededBudget { run, .. } = exceeded;
        {
            let mut runs = self.runs().await?.lock();
            let spending = runs.get_or_insert_mut(run.clone(), Spending::default);
            spending.raised += 1;
            spending.is_recorded = false;
        }
        self.record(exceeded, true).await
    }

    /// The budget that a run has used up. If there is none, a call counts.
    async fn check(&self, run: &RunId, used: &Used, counts: bool) -> Result<Option<ExceededBudget>, RunsError> {
        let exceeded = {
            let mut runs = self.runs().await?.lock();
            let spending = runs.get_or_insert_mut(run.clone(), Spending::default);
            match self.exceeded(run, used, *spending) {
                Some(exceeded) => (exceeded, std::mem::replace(&mut spending.is_recorded, true)),
                None => {
                    spending.calls += u64::from(counts);
                    return Ok(None);
                }
            }
        };
        let (exceeded, is_recorded) = exceeded;
        if !is_recorded {
            self.record(&exceeded, false).await?;
        }
        Ok(Some(exceeded))
    }

    async fn record(&self, exceeded: &ExceededBudget, raised: bool) -> Result<(), RunsError> {
        let ExceededBudget { run, kind, spent, limit } = exceeded.clone();
        let payload = McpBudgetExceededPayload { run_id: run, budget: kind, spent, limit, raised };
        self.log.append(&StreamId::host(), vec![NewEvent::for_host(Timestamp::now(), payload)]).await?.await?;
        Ok(())
    }

    async fn runs(&self) -> Result<&SpendingByRun, RunsError> {
        self.runs.get_or_try_init(|| async { recorded(&*self.log).await.map(Mutex::new) }).await
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

    /// What is known of a client's run: what its client reported, or what the session used whose id it gives.
    async fn used(&self, run: &RunId) -> Result<Used, RunsError> {
        if let Some(record) = self.log.session(run.as_str()).await?
            && record.session_id.as_str() == run.as_str()
        {
            return Ok(Used::of_session(&record.usage));
        }
        Ok(reported(&*self.log, run).await?.map_or_else(Used::default, |run| Used {
            calls: run.tool_call_count,
            tokens: run.input_tokens.saturating_add(run.output_tokens),
            cost_usd: run.cost_usd,
        }))
    }

    async fn check_session(
        &self,
        session: &SessionId,
        usage: &SessionUsage,
    ) -> Result<Option<ExceededBudget>, RunsError> {
        let used = Used::of_session(usage);
        // The call that is being judged has been counted already.
        let used = Used { calls: used.calls.saturating_sub(1), ..used };
        self.check(&RunId::from(session.as_str()), &used, false).await
    }
}

#[async_trait]
impl SessionBudgets for RunBudgets {
    async fn spent(&self, session: &SessionId, usage: &SessionUsage) -> Option<SpentBudget> {
        match self.check_session(session, usage).await {
            Ok(exceeded) => exceeded.map(|exceeded| SpentBudget {
                reason: exceeded.reason(),
                may_ask: self.limits.on_exceeded == OnExceeded::Ask,
            }),
            // In doubt, no: what cannot be counted may be beyond every limit.
            Err(error) => {
                Some(SpentBudget { reason: format!("the budget cannot be looked at: {error}"), may_ask: false })
            }
        }
    }

    async fn raise(&self, session: &SessionId, usage: &SessionUsage) {
        let raised = match self.check_session(session, usage).await {
            Ok(Some(exceeded)) => Self::raise(self, &exceeded).await,
            // Another answer raised it already.
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = raised {
            tracing::error!(%session, %error, "That a budget was raised could not be recorded.");
        }
    }
}

/// What the log says that runs made of their budgets: the latest calls of clients, and who was given more.
async fn recorded(log: &dyn Log) -> Result<LruCache<RunId, Spending>, RunsError> {
    let types = [NormalizedEventType::McpToolCalled, NormalizedEventType::McpBudgetExceeded];
    let (mut by_run, mut latest_first) = (HashMap::<RunId, Spending>::new(), Vec::new());
    let (mut before, mut read) = (Seq::MAX, 0);
    while read < RECOUNTED_CALLS {
        let page = log.read_back(&StreamId::host(), before, &types, PAGE).await?;
        let events = page.batch.iter().map(|entry| entry.event()).collect::<Result<Vec<_>, _>>()?;
        let Some(first) = events.first().map(|event| event.seq) else { break };
        for event in events.iter().rev() {
            let run = match &event.body {
                EventBody::McpToolCalled(called) if called.policy.rule.as_deref() != Some(BUDGET_RULE) => {
                    called.run_id.clone()
                }
                EventBody::McpBudgetExceeded(exceeded) => Some(exceeded.run_id.clone()),
                _ => None,
            };
            let Some(run) = run else { continue };
            if !by_run.contains_key(&run) {
                latest_first.push(run.clone());
            }
            let spending = by_run.entry(run).or_default();
            match &event.body {
                EventBody::McpBudgetExceeded(exceeded) if exceeded.raised => spending.raised += 1,
                // Only the latest word counts: a budget that was raised after it may be used up once more.
                EventBody::McpBudgetExceeded(_) => spending.is_recorded |= spending.raised == 0,
                _ => spending.calls += 1,
            }
        }
        read += events.len();
        before = first;
        if !page.has_more {
            break;
        }
    }
    let mut runs = LruCache::new(COUNTED_RUNS);
    for run in latest_first.into_iter().take(COUNTED_RUNS.get()).rev() {
        let spending = by_run.remove(&run).unwrap_or_default();
        runs.put(run, spending);
    }
    Ok(runs)
}

/// What a run has used up by what is known of it.
#[derive(Default)]
struct Used {
    calls: u64,
    tokens: u64,
    cost_usd: f64,
}

impl Used {
    fn of_session(usage: &SessionUsage) -> Self {
        let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
        Self { calls: usage.tool_calls, tokens, cost_usd: usage.cost_usd }
    }
}
