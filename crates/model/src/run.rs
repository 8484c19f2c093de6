//! Agent runs: what orchestration clients report of their agents, what that adds up to, and hosted sessions as runs.
//!
//! Decisions:
//! * A reported event is kept under its own `kind` (`agent.run_started`, …) in the host's stream; kinds that are not known
//!   here are kept, too, and change nothing but the times and counts of their run.
//! * A run's summary is a fold over its events ([`RunSummary::after`]), so a replay of the log gives the same.
//! * Every hosted session is a run whose id is the session's. Its events are a projection of its stream
//!   ([`AgentEvent::from_session`]), its summary of its record ([`RunSummary::from_session`]): nothing is stored twice.

mod agent_event;
mod run_summary;
mod session_run;

pub use agent_event::{AgentEvent, EventLevel, InvalidAgentEvent};
pub use run_summary::{RunStatus, RunSummary, Trigger};
