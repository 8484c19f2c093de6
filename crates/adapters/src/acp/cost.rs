//! The cost of a session: agents report the running total, Roost reports what each update added.

/// The running total in US dollars that the agent reported last. `None` for a resumed session until its first report,
/// because its earlier total is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct SessionCost(Option<f64>);

impl SessionCost {
    /// The cost of a new session.
    pub(super) const ZERO: Self = Self(Some(0.0));

    /// Records the new total and returns what it added; `None` if the total before is unknown.
    pub(super) fn record_total(&mut self, total: f64) -> Option<f64> {
        let before = self.0.replace(total)?;
        // A total that fell was started anew after a restart, so all of it is new.
        let added = if total < before { total } else { total - before };
        // A difference of floating-point sums; less than a billionth of a dollar is rounding noise.
        Some((added * 1e9).round() / 1e9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_what_was_added_since_the_last_one() {
        let added = |mut cost: SessionCost| [0.1, 0.3, 0.3, 0.05].map(|total| cost.record_total(total));
        assert_eq!(added(SessionCost::ZERO), [Some(0.1), Some(0.2), Some(0.0), Some(0.05)]);
        assert_eq!(added(SessionCost::default()), [None, Some(0.2), Some(0.0), Some(0.05)], "resumed");
    }
}
