//! An agent's plan: whole at first, then only the steps that moved.

use roost_model::payload::{PlanEntry, PlanStatus, PlanUpdatedPayload};

use crate::screen::visible;
use crate::style::Style;

/// The plan as it was last shown.
#[derive(Default)]
pub(super) struct Plan(Vec<PlanEntry>);

impl Plan {
    /// The lines that tell what changed.
    pub(super) fn update(&mut self, style: Style, plan: &PlanUpdatedPayload) -> String {
        let before = std::mem::replace(&mut self.0, plan.entries.clone());
        let changed = plan.entries.iter().filter(|entry| !before.contains(entry));
        let line = |entry: &PlanEntry| {
            let sign = match entry.status {
                PlanStatus::Pending => style.dim("[ ]"),
                PlanStatus::InProgress => style.yellow("[>]"),
                PlanStatus::Completed => style.green("[x]"),
            };
            format!("{sign} {}\n", visible(&entry.content))
        };
        changed.map(line).collect()
    }
}
