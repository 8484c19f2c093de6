//! The method table as an OpenRPC document, for other people's tools.

#[cfg(feature = "schema")]
mod generate;

#[cfg(feature = "schema")]
pub use generate::generate;
use serde_json::Value;

/// The document as `generate` writes it; a test compares the two.
const COMMITTED: &str = include_str!("../schemas/openrpc.json");

/// The OpenRPC document that a daemon of this version serves.
pub fn document(version: &str) -> Value {
    #[expect(clippy::expect_used, reason = "the tests parse the committed document")]
    let mut document: Value = serde_json::from_str(COMMITTED).expect("the committed document is valid JSON");
    document["info"]["version"] = version.into();
    document
}
