//! When to tell that git's state may be another.

use std::time::Duration;

use tokio::time::Instant;

/// Nothing is told so soon after the start.
const QUIET: Duration = Duration::from_secs(2);

/// How long it must be still before it is told.
const STILL: Duration = Duration::from_millis(500);

/// It is told at most so often.
const APART: Duration = Duration::from_secs(1);

/// It is told so late at most, even if it is never still.
const PATIENCE: Duration = Duration::from_secs(2);

/// Decides when to tell: not too often, and always once more after the last touch.
#[derive(Debug)]
pub(super) struct Pace {
    not_before: Instant,
    /// The first and the last touch that was not told.
    touched: Option<(Instant, Instant)>,
}

impl Pace {
    pub(super) fn new(now: Instant) -> Self {
        Self { not_before: now + QUIET, touched: None }
    }

    pub(super) fn touch(&mut self, now: Instant) {
        let first = self.touched.map_or(now, |(first, _)| first);
        self.touched = Some((first, now));
    }

    /// When to tell, if there is anything to tell.
    pub(super) fn due(&self) -> Option<Instant> {
        self.touched.map(|(first, last)| (last + STILL).min(first + PATIENCE).max(self.not_before))
    }

    /// It is told now.
    pub(super) fn told(&mut self, now: Instant) {
        *self = Self { not_before: now + APART, touched: None };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// When it is told, in milliseconds, if it is touched at these.
    fn told(touches: &[u64]) -> Vec<u64> {
        let start = Instant::now();
        let at = |millis: u64| start + Duration::from_millis(millis);
        let mut pace = Pace::new(start);
        let mut told = Vec::new();
        let mut tell = |pace: &mut Pace, until: Option<Instant>| {
            if let Some(due) = pace.due().filter(|due| until.is_none_or(|until| *due <= until)) {
                pace.told(due);
                told.push((due - start).as_millis() as u64);
            }
        };
        for &touch in touches {
            tell(&mut pace, Some(at(touch)));
            pace.touch(at(touch));
        }
        tell(&mut pace, None);
        told
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
            assert_eq!(told(touches), expected, "{name}");
        }
    }

    proptest! {
        #[test]
        fn the_last_state_is_always_told_and_never_two_in_a_second(
            mut touches in prop::collection::vec(0_u64..20_000, 1..40)
        ) {
            touches.sort_unstable();
            let told = told(&touches);
            prop_assert!(told.first() >= Some(&2000));
            prop_assert!(told.last() >= touches.last());
            prop_assert!(told.windows(2).all(|pair| pair[1] - pair[0] >= 1000));
        }
    }
}
