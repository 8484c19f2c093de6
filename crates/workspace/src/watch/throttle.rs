//! Throttles the event that git's state may have changed.

use std::time::Duration;

use tokio::time::Instant;

/// Nothing is sent this soon after the start.
const QUIET: Duration = Duration::from_secs(2);

/// How long nothing must happen before the event is sent.
const STILL: Duration = Duration::from_millis(500);

/// The shortest time between two events.
const APART: Duration = Duration::from_secs(1);

/// The longest delay of an event, even if something always happens.
const PATIENCE: Duration = Duration::from_secs(2);

/// Decides when to send the event: not too often, and always once more after the last touch.
#[derive(Debug)]
pub(super) struct GitThrottle {
    not_before: Instant,
    /// The first and the last touch since the last event.
    touched: Option<(Instant, Instant)>,
}

impl GitThrottle {
    pub(super) fn new(now: Instant) -> Self {
        Self { not_before: now + QUIET, touched: None }
    }

    pub(super) fn touch(&mut self, now: Instant) {
        let first = self.touched.map_or(now, |(first, _)| first);
        self.touched = Some((first, now));
    }

    /// When to send the event; `None` if nothing happened since the last one.
    pub(super) fn due(&self) -> Option<Instant> {
        self.touched.map(|(first, last)| (last + STILL).min(first + PATIENCE).max(self.not_before))
    }

    /// Notes that the event is sent now, and forgets the touches so far.
    pub(super) fn mark_sent(&mut self, now: Instant) {
        *self = Self { not_before: now + APART, touched: None };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// When events are sent, in milliseconds, for touches at these times.
    fn sent_times(touches: &[u64]) -> Vec<u64> {
        let start = Instant::now();
        let at = |millis: u64| start + Duration::from_millis(millis);
        let mut throttle = GitThrottle::new(start);
        let mut sent = Vec::new();
        let mut send = |throttle: &mut GitThrottle, until: Option<Instant>| {
            if let Some(due) = throttle.due().filter(|due| until.is_none_or(|until| *due <= until)) {
                throttle.mark_sent(due);
                sent.push((due - start).as_millis() as u64);
            }
        };
        for &touch in touches {
            send(&mut throttle, Some(at(touch)));
            throttle.touch(at(touch));
        }
        send(&mut throttle, None);
        sent
    }

    #[test]
    fn touches_are_told_in_time_and_not_too_often() {
        let cases: [(&str, &[u64], &[u64]); 6] = [
            ("nothing", &[], &[]),
            ("in the quiet at the start", &[0, 100], &[2000]),
            ("one", &[5000], &[5500]),
            ("a burst", &[5000, 5100, 5200], &[5700]),
            ("again soon", &[5000, 5600], &[5500, 6500]),
            ("without end", &[5000, 5400, 5800, 6200, 6600, 7000, 7400], &[7000, 8000]),
        ];
        for (name, touches, expected) in cases {
            assert_eq!(sent_times(touches), expected, "{name}");
        }
    }

    proptest! {
        #[test]
        fn the_last_state_is_always_told_and_never_two_in_a_second(
            mut touches in prop::collection::vec(0_u64..20_000, 1..40)
        ) {
            touches.sort_unstable();
            let sent = sent_times(&touches);
            prop_assert!(sent.first() >= Some(&2000));
            prop_assert!(sent.last() >= touches.last());
            prop_assert!(sent.windows(2).all(|pair| pair[1] - pair[0] >= 1000));
        }
    }
}
