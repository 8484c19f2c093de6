//! The levels of log lines, from the least to the most important.

/// A level of syslog, as MCP names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LogLevel {
    /// For developers; what clients get that named no level.
    #[default]
    Debug,
    /// What happens normally.
    Info,
    /// Normal, but of note.
    Notice,
    /// Something may go wrong.
    Warning,
    /// Something went wrong.
    Error,
    /// A part has failed.
    Critical,
    /// Somebody must act at once.
    Alert,
    /// The whole system is unusable.
    Emergency,
}

impl LogLevel {
    /// The level of this name.
    pub(super) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "debug" => Self::Debug,
            "info" => Self::Info,
            "notice" => Self::Notice,
            "warning" => Self::Warning,
            "error" => Self::Error,
            "critical" => Self::Critical,
            "alert" => Self::Alert,
            "emergency" => Self::Emergency,
            _ => return None,
        })
    }

    /// The name of the level.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }
}
