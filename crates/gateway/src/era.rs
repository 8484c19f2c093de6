//! The two eras of MCP: with a handshake and sessions, and without.

/// The newest revision of each era.
pub const MODERN: &str = "2026-07-28";
/// The newest revision with a handshake.
pub const NEWEST_LEGACY: &str = "2025-11-25";
/// The revisions with a handshake, the newest first.
pub const LEGACY: [&str; 4] = [NEWEST_LEGACY, "2025-06-18", "2025-03-26", "2024-11-05"];

/// How one side of a connection speaks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// Since 2026-07-28: no handshake and no sessions; each request says who asks, and a server that needs something
    /// answers `input_required`.
    Modern,
    /// `initialize`, sessions, and requests of the server to the client; with the revision that was agreed on.
    Legacy(String),
}

impl Era {
    /// The revision that is spoken.
    pub fn revision(&self) -> &str {
        match self {
            Self::Modern => MODERN,
            Self::Legacy(revision) => revision,
        }
    }
}
