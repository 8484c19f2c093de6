//! The error breaker: takes a service out of use when most of its recent calls failed through its own fault.

use std::collections::VecDeque;

use roost_model::time::Timestamp;

/// How long an outcome counts, in milliseconds.
const WINDOW_MILLIS: i64 = 60_000;
/// Fewer outcomes say nothing.
const MIN_CALLS: usize = 8;
/// The breaker trips from this share of faults on, in tenths.
const FAULT_TENTHS: usize = 6;
/// More outcomes than these are not kept: what counts is the recent past.
const MAX_CALLS: usize = 256;

/// How a call ended, as far as the service itself is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    /// It answered: with a result, with an error of the tool, or with an error of the protocol.
    Answered,
    /// It broke the connection, took too long, or answered with nonsense.
    UpstreamFault,
}

/// The outcomes of the recent calls of one service.
#[derive(Clone, Debug, Default)]
pub struct Breaker {
    outcomes: VecDeque<(Timestamp, CallOutcome)>,
}

impl Breaker {
    /// Takes note of an outcome; true if the service is to be taken out of use.
    pub fn record(&mut self, now: Timestamp, outcome: CallOutcome) -> bool {
        self.outcomes.push_back((now, outcome));
        let is_old = |(at, _): &(Timestamp, _)| now.as_millis() - at.as_millis() > WINDOW_MILLIS;
        while self.outcomes.len() > MAX_CALLS || self.outcomes.front().is_some_and(is_old) {
            self.outcomes.pop_front();
        }
        let faults = self.outcomes.iter().filter(|(_, outcome)| *outcome == CallOutcome::UpstreamFault).count();
        self.outcomes.len() >= MIN_CALLS && faults * 10 >= self.outcomes.len() * FAULT_TENTHS
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
