//! How long ago something was, in as few characters as possible.

use roost_proto::time::Timestamp;

/// Such as `5m ago`.
pub(crate) fn ago(then: Timestamp, now: Timestamp) -> String {
    let seconds = (now.as_millis() - then.as_millis()).max(0) / 1000;
    match seconds {
        0..60 => format!("{seconds}s ago"),
        60..3600 => format!("{}m ago", seconds / 60),
        3600..86_400 => format!("{}h ago", seconds / 3600),
        _ => format!("{}d ago", seconds / 86_400),
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
