//! When a timer fires.

use std::time::Duration;

/// The shortest and the longest time between two firings.
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_hours(24);

/// The units of a schedule and their milliseconds.
const UNITS: [(&[&str], u64); 4] = [
    (&["ms", "millisecond", "milliseconds"], 1),
    (&["s", "sec", "secs", "second", "seconds"], 1000),
    (&["m", "min", "mins", "minute", "minutes"], 60_000),
    (&["h", "hr", "hour", "hours"], 3_600_000),
];

/// The time between two firings that an expression such as `every 5 min` says, or what is wrong with it.
pub(super) fn parse_period(expression: &str) -> Result<Duration, String> {
    let wrong = || {
        let how = "write it as `every NUMBER UNIT`, with the unit ms, s, min or h";
        format!("\"{expression}\" is no schedule; {how}")
    };
    let rest = expression.trim().strip_prefix("every").filter(|rest| rest.starts_with(char::is_whitespace));
    let rest = rest.ok_or_else(wrong)?.trim();
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (number, unit) = rest.split_at(digits);
    let is_meant = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(unit.trim()));
    let (_, millis) = UNITS.iter().find(|(names, _)| is_meant(names)).ok_or_else(wrong)?;
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let period = Duration::from_millis(number.saturating_mul(*millis));
    match (SHORTEST..=LONGEST).contains(&period) {
        true => Ok(period),
        false => Err(format!("\"{expression}\" is no schedule; it must be between 1 second and 24 hours")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_is_read_in_every_unit_and_kept_within_bounds() {
        for (text, seconds) in [
            ("every 1500 ms", 1.5),
            ("every 5 min", 300.0),
            ("every 30s", 30.0),
            (" every 24 H ", 86400.0),
            ("every 1 sec", 1.0),
        ] {
            assert_eq!(parse_period(text), Ok(Duration::from_secs_f64(seconds)), "{text}");
        }
        for text in [
            "",
            "every",
            "every 5",
            "every min",
            "every5 min",
            "every 0 s",
            "every 999 ms",
            "every 25 h",
            "every -1 s",
            "every 1 week",
            "every 99999999999999999999 s",
            "0 0 * * *",
        ] {
            assert!(parse_period(text).is_err(), "{text}");
        }
    }
}
