//! The error breaker: takes a service out of use when most of its recent calls failed through its own fault.

use std::collections::VecDeque;
use std::time::Duration;

use roost_model::time::Timestamp;

/// More outcomes than these are not kept: what counts is the recent past.
const MAX_CALLS: usize = 256;

/// When the breaker trips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerRules {
    /// How long an outcome counts; 60 seconds.
    pub window: Duration,
    /// Fewer outcomes say nothing; 8.
    pub min_calls: usize,
    /// The share of faults from which on it trips, in percent; 60.
    pub fault_percent: usize,
}

impl Default for BreakerRules {
    fn default() -> Self {
        Self { window: Duration::from_secs(60), min_calls: 8, fault_percent: 60 }
    }
}

impl BreakerRules {
    /// The rules with what the variables `CLARITY_TOOL_CIRCUIT_WINDOW_SECONDS`, `…_MIN_CALLS` and `…_ERROR_RATE` say; a
    /// value that makes no sense is ignored.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let read = |name: &str| variable(&format!("CLARITY_TOOL_CIRCUIT_{name}"));
        let count = |name| read(name)?.trim().parse::<u32>().ok().filter(|count| *count > 0);
        let rate = || read("ERROR_RATE")?.trim().parse::<f64>().ok().filter(|rate| *rate > 0.0 && *rate <= 1.0);
        let mut rules = Self::default();
        if let Some(seconds) = count("WINDOW_SECONDS") {
            rules.window = Duration::from_secs(seconds.into());
        }
        if let Some(calls) = count("MIN_CALLS") {
            rules.min_calls = (calls as usize).min(MAX_CALLS);
        }
        if let Some(rate) = rate() {
            rules.fault_percent = (rate * 100.0).ceil() as usize;
        }
        rules
    }
}

/// How a call ended, as far as the service itself is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    /// It answered: with a result, with an error of the tool, or that the arguments are wrong.
    Answered,
    /// It broke the connection, took too long, or answered with nonsense or an internal error.
    UpstreamFault,
}

/// The outcomes of the recent calls of one service.
#[derive(Clone, Debug, Default)]
pub struct Breaker {
    rules: BreakerRules,
    outcomes: VecDeque<(Timestamp, CallOutcome)>,
}

impl Breaker {
    /// A breaker that has seen no calls.
    pub fn new(rules: BreakerRules) -> Self {
        Self { rules, outcomes: VecDeque::new() }
    }

    /// Forgets the calls so far.
    pub fn forget(&mut self) {
        self.outcomes.clear();
    }

    /// Takes note of an outcome; true if the service is to be taken out of use.
    pub fn record(&mut self, now: Timestamp, outcome: CallOutcome) -> bool {
        self.outcomes.push_back((now, outcome));
        let window = i64::try_from(self.rules.window.as_millis()).unwrap_or(i64::MAX);
        let is_old = |(at, _): &(Timestamp, _)| now.as_millis() - at.as_millis() > window;
        while self.outcomes.len() > MAX_CALLS || self.outcomes.front().is_some_and(is_old) {
            self.outcomes.pop_front();
        }
        let faults = self.outcomes.iter().filter(|(_, outcome)| *outcome == CallOutcome::UpstreamFault).count();
        self.outcomes.len() >= self.rules.min_calls && faults * 100 >= self.outcomes.len() * self.rules.fault_percent
    }
}

#[cfg(test)]
mod tests {
    use CallOutcome::{Answered, UpstreamFault};

    use super::*;

    /// Whether the breaker trips at the last of these calls, which are this many milliseconds apart.
    fn trips(outcomes: &[(CallOutcome, usize)], apart: i64) -> bool {
        let mut breaker = Breaker::default();
        let all = outcomes.iter().flat_map(|(outcome, times)| std::iter::repeat_n(*outcome, *times));
        let record = |(at, outcome)| breaker.record(Timestamp::from_millis(at as i64 * apart), outcome);
        all.enumerate().map(record).last().unwrap_or_default()
    }

    #[test]
    fn the_variables_of_clarity_runtime_say_when_it_trips() {
        let rules = |values: [&str; 3]| {
            BreakerRules::from_variables(|name| {
                let at = ["WINDOW_SECONDS", "MIN_CALLS", "ERROR_RATE"].iter().position(|end| name.ends_with(end))?;
                Some(values[at].to_owned()).filter(|value| !value.is_empty())
            })
        };
        let expected = BreakerRules { window: Duration::from_secs(5), min_calls: 2, fault_percent: 50 };
        assert_eq!(rules(["5", " 2 ", "0.5"]), expected);
        for nonsense in [["", "", ""], ["0", "-1", "2"], ["x", "0", "0"]] {
            assert_eq!(rules(nonsense), BreakerRules::default(), "{nonsense:?}");
        }
        let mut breaker = Breaker::new(expected);
        let record = |breaker: &mut Breaker, at, outcome| breaker.record(Timestamp::from_millis(at), outcome);
        assert!(!record(&mut breaker, 0, UpstreamFault));
        assert!(record(&mut breaker, 1, Answered));
        assert!(!record(&mut breaker, 6_000, UpstreamFault), "the others are too old to count");
    }

    #[test]
    fn it_trips_when_most_of_enough_recent_calls_are_faults_of_the_service() {
        let cases: [(&[_], i64, bool); 6] = [
            (&[(UpstreamFault, 7)], 1, false),
            (&[(UpstreamFault, 8)], 1, true),
            (&[(Answered, 4), (UpstreamFault, 6)], 1, true),
            (&[(Answered, 5), (UpstreamFault, 6)], 1, false),
            (&[(UpstreamFault, 8)], 10_000, false),
            (&[(Answered, 5_000), (UpstreamFault, 200)], 1, true),
        ];
        for (outcomes, apart, expected) in cases {
            assert_eq!(trips(outcomes, apart), expected, "{outcomes:?} {apart}");
        }
    }
}
