//! The agent's plan.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far a step of a plan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    /// Not begun.
    Pending,
    /// Under way.
    InProgress,
    /// Done.
    Completed,
}

/// How much a step of a plan matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PlanPriority {
    /// Much.
    High,
    /// Some.
    Medium,
    /// Little.
    Low,
}

payload! {
    /// One step of a plan.
    PlanEntry {
        /// What is to be done.
        content: String,
        /// How much it matters.
        priority: PlanPriority,
        /// How far it is.
        status: PlanStatus,
    }
}

payload! {
    /// `plan.updated`: the whole plan as it now stands.
    PlanUpdatedPayload {
        /// Its steps.
        entries: Vec<PlanEntry>,
    }
}
