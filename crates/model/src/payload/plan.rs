//! Events about the agent's plan, its list of steps.

use serde::{Deserialize, Serialize};

/// How far the agent is with a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    /// The agent has not begun it.
    Pending,
    /// The agent is working on it.
    InProgress,
    /// The agent says that it is finished.
    Completed,
}

/// How important the agent considers a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PlanPriority {
    /// The agent ranks it first.
    High,
    /// The usual rank, and that of runtimes that have no priorities.
    Medium,
    /// The agent ranks it last.
    Low,
}

payload! {
    /// One step of a plan.
    PlanEntry {
        /// The step in the agent's words.
        content: String,
        /// The step's rank; `medium` if the runtime has none.
        priority: PlanPriority,
        /// The step's progress, as the agent reports it.
        status: PlanStatus,
    }
}

payload! {
    /// `plan.updated`: the complete plan, which replaces the one before.
    PlanUpdatedPayload {
        /// All steps in order.
        entries: Vec<PlanEntry>,
    }
}
