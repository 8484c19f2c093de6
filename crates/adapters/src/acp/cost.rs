//! What a session costs: agents tell the sum so far, Roost tells what was added.

/// What a session has cost by its agent's count; unknown of one that was resumed and has not said it yet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Spent(Option<f64>);

impl Spent {
    /// A session that has cost nothing yet.
    pub(super) const NOTHING: Self = Self(Some(0.0));

    /// What was added when this is the sum; `None` where that cannot be known.
    pub(super) fn now(&mut self, total: f64) -> Option<f64> {
        let before = self.0.replace(total)?;
        // An agent that counts anew after a restart has added all that it counts.
        let added = if total < before { total } else { total - before };
        // A difference of floating-point sums; beyond a billionth of a dollar it is noise.
        Some((added * 1e9).round() / 1e9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_what_was_added_since_the_last_one() {
        let told = |mut spent: Spent| [0.1, 0.3, 0.3, 0.05].map(|total| spent.now(total));
        assert_eq!(told(Spent::NOTHING), [Some(0.1), Some(0.2), Some(0.0), Some(0.05)]);
        assert_eq!(told(Spent::default()), [None, Some(0.2), Some(0.0), Some(0.05)], "resumed");
    }
}
