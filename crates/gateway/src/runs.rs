//! Agent runs at the daemon: what orchestration clients report is recorded, hosted sessions are runs too, and a run may
//! have a budget. What a run is, and what its events add up to, is in [`roost_model::run`].

mod agent_calls;
mod agent_descriptor;
mod agent_services;
mod budget;
mod messages;
mod recorder;
mod schedule;
mod timeline;
mod timers;

use std::collections::HashSet;
use std::sync::Arc;

use roost_log::{Log, RowKind};
use roost_model::ids::RunId;
use roost_model::run::{AgentEvent, RunStatus, RunSummary};
use roost_model::session::SessionRecord;
use tokio::sync::OnceCell;

pub use agent_calls::AgentCalls;
pub(crate) use agent_descriptor::wrong_schedule;
pub use agent_services::{AgentServices, UnfitService};
pub(crate) use budget::BUDGET_RULE;
pub use budget::{BudgetLimits, ExceededBudget, OnExceeded, RunBudgets};
pub use messages::{MessageRole, RunMessages};
use recorder::Recorder;
pub use timeline::TimelineEvent;
pub use timers::Timers;

/// The most sessions that are counted when all runs are: as many as reported runs are kept.
const MAX_COUNTED: usize = 10_000;

/// Why runs cannot be recorded or read.
#[derive(Debug, thiserror::Error)]
pub enum RunsError {
    /// The log failed.
    #[error(transparent)]
    Log(#[from] roost_log::Error),
    /// The events could not be recorded; none of them was.
    #[error("the events were not recorded: {0}")]
    NotRecorded(String),
    /// A service is no agent of this kind.
    #[error(transparent)]
    Service(#[from] UnfitService),
    /// No client reported a run of this name, and no session has it.
    #[error("there is no run \"{0}\"; `run/list` has those that there are")]
    Unknown(RunId),
    /// The run has ended, so nobody reads what is said in it.
    #[error("the run {0} is over; begin another one")]
    Over(RunId),
    /// The agent of a run failed to answer.
    #[error("{why}")]
    NoAnswer {
        /// The run that the message was for.
        run: RunId,
        /// What went wrong, for people.
        why: String,
    },
    /// The daemon is ending.
    #[error("the daemon is shutting down, so the events were not recorded; send them again later")]
    Closing,
}

impl RunsError {
    pub(crate) fn not_recorded(why: impl ToString) -> Self {
        Self::NotRecorded(why.to_string())
    }
}

/// The runs of a daemon. What they need in memory is made when the first run is reported or listed.
pub struct Runs {
    log: Arc<dyn Log>,
    services: Option<Arc<dyn AgentServices>>,
    recorder: OnceCell<Recorder>,
}

impl Runs {
    /// The runs that this log holds. Events that name a service are held against `services`.
    pub fn new(log: Arc<dyn Log>, services: Option<Arc<dyn AgentServices>>) -> Self {
        Self { log, services, recorder: OnceCell::new() }
    }

    async fn recorder(&self) -> Result<&Recorder, RunsError> {
        self.recorder.get_or_try_init(|| Recorder::start(self.log.clone())).await
    }

    /// Records these events in one transaction with what they mean for their runs; all of them or none. One whose key was
    /// recorded before is not recorded again. Resolves when everything is committed.
    pub async fn report(&self, events: Vec<AgentEvent>) -> Result<(), RunsError> {
        for event in &events {
            agent_services::check(self.services.as_deref(), event)?;
        }
        self.recorder().await?.record(events).await
    }

    /// The runs that changed last, the latest first: reported ones and hosted sessions.
    pub async fn list(&self, limit: usize) -> Result<Vec<RunSummary>, RunsError> {
        let (sessions, pending) = (self.log.sessions(limit).await?, self.log.pending(None).await?);
        let mut runs = Vec::new();
        for record in sessions.iter().filter(|record| !record.hidden) {
            let asks: Vec<_> =
                pending.iter().filter(|ask| ask.session_id == record.session_id).map(|ask| &**ask).collect();
            let run = RunSummary::from_session(record, &asks);
            runs.push(match self.reported(&run.run_id).await? {
                Some(reported) => run.with_reported(&reported),
                None => run,
            });
        }
        for id in self.recorder().await?.latest(limit) {
            // What an agent reported of its own session belongs to that session, which may be too old to be listed.
            if self.log.session(id.as_str()).await?.is_none_or(|record| record.session_id.as_str() != id.as_str()) {
                runs.extend(self.reported(&id).await?);
            }
        }
        runs.sort_by_key(|run| std::cmp::Reverse(run.updated_at));
        runs.truncate(limit);
        Ok(runs.into_iter().map(RunSummary::shown).collect())
    }

    /// The states of all runs that are kept, at most 10,000 sessions among them.
    pub async fn statuses(&self) -> Result<Vec<RunStatus>, RunsError> {
        let (sessions, pending) = (self.log.sessions(MAX_COUNTED).await?, self.log.pending(None).await?);
        let waiting: HashSet<_> = pending.iter().map(|ask| &ask.session_id).collect();
        let hosted: HashSet<_> = sessions.iter().map(|record| record.session_id.as_str()).collect();
        let of_session = |record: &SessionRecord| match RunSummary::from_session(record, &[]).status {
            RunStatus::Running if waiting.contains(&record.session_id) => RunStatus::Waiting,
            status => status,
        };
        let mut statuses: Vec<_> = sessions.iter().filter(|record| !record.hidden).map(of_session).collect();
        for (id, body) in self.log.rows(RowKind::Run).await? {
            let reported = serde_json::from_str::<RunSummary>(&body).ok().filter(|_| !hosted.contains(id.as_str()));
            statuses.extend(reported.map(|run| run.status));
        }
        Ok(statuses)
    }

    /// The last events, of one run or of all, in order of time.
    pub async fn events(&self, run: Option<&RunId>, limit: usize) -> Result<Vec<TimelineEvent>, RunsError> {
        match run {
            None => timeline::newest_of_all_runs(&*self.log, limit).await,
            Some(run) => {
                let reported = self.reported(run).await?;
                let session = self.log.session(run.as_str()).await?;
                let session = session.filter(|record| record.session_id.as_str() == run.as_str());
                if reported.is_none() && session.is_none() {
                    return Err(RunsError::Unknown(run.clone()));
                }
                timeline::of_run(&*self.log, run, reported.as_ref(), session.is_some(), limit).await
            }
        }
    }

    /// Returns when everything that was reported is recorded, and ends the task that does it.
    pub async fn close(&self) {
        if let Some(recorder) = self.recorder.get() {
            recorder.close().await;
        }
    }

    async fn reported(&self, run: &RunId) -> Result<Option<RunSummary>, RunsError> {
        reported(&*self.log, run).await
    }
}

/// What was reported of a run.
async fn reported(log: &dyn Log, run: &RunId) -> Result<Option<RunSummary>, RunsError> {
    let row = log.row(RowKind::Run, run.as_str()).await?;
    Ok(row.and_then(|body| serde_json::from_str(&body).ok()))
}
