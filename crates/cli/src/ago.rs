//! Words durations for people, in as few characters as possible.

use std::time::Duration;

use roost_model::time::Timestamp;

/// A time before now such as `5m ago`; a time in the future is `0s ago`.
pub(crate) fn ago(then: Timestamp, now: Timestamp) -> String {
    let millis = u64::try_from(now.as_millis() - then.as_millis()).unwrap_or(0);
    format!("{} ago", span(Duration::from_millis(millis)))
}

/// A duration in its largest whole unit, such as `5m`.
pub(crate) fn span(span: Duration) -> String {
    match span.as_secs() {
        seconds @ 0..60 => format!("{seconds}s"),
        seconds @ 60..3600 => format!("{}m", seconds / 60),
        seconds @ 3600..86_400 => format!("{}h", seconds / 3600),
        seconds => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_whole_unit_is_shown() {
        let table = [
            (-5, "0s ago"),
            (59, "59s ago"),
            (60, "1m ago"),
            (3599, "59m ago"),
            (7200, "2h ago"),
            (86_400 * 40, "40d ago"),
        ];
        for (seconds, text) in table {
            assert_eq!(ago(Timestamp::from_millis(0), Timestamp::from_millis(seconds * 1000)), text);
        }
    }
}
