//! How optional JSON values are read.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Reads a field that is there, `null` included: serde alone takes `null` for absent, and an event read back from the
/// log would then differ from the one that was written.
pub(crate) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
