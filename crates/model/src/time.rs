//! Points in time as the wire shows them: UTC with exactly three decimals.

use std::borrow::Cow;
use std::fmt;

use jiff::fmt::temporal::DateTimePrinter;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

const PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(3));

/// Milliseconds since the Unix epoch, written as `2026-11-15T09:10:48.123Z`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(jiff::Timestamp);

impl Timestamp {
    /// The current time, cut to milliseconds.
    pub fn now() -> Self {
        Self::from_millis(jiff::Timestamp::now().as_millisecond())
    }

    /// The time this many milliseconds after the epoch; values no calendar can show become the epoch.
    pub fn from_millis(millis: i64) -> Self {
        Self(jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::UNIX_EPOCH))
    }

    /// Milliseconds since the epoch.
    pub fn as_millis(self) -> i64 {
        self.0.as_millisecond()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&PRINTER.timestamp_to_string(&self.0))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&PRINTER.timestamp_to_string(&self.0))
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        let parsed: jiff::Timestamp = text.parse().map_err(de::Error::custom)?;
        Ok(Self::from_millis(parsed.as_millisecond()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_is_written_with_three_decimals_and_z() {
        let cases = [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_763_197_848_005, "2025-11-15T09:10:48.005Z"),
            (1_763_197_848_500, "2025-11-15T09:10:48.500Z"),
        ];
        for (millis, text) in cases {
            let json = serde_json::to_string(&Timestamp::from_millis(millis)).unwrap();
            assert_eq!(json, format!("\"{text}\""));
            let back: Timestamp = serde_json::from_str(&json).unwrap();
            assert_eq!(back.as_millis(), millis);
        }
    }
}
