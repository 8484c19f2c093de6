//! Permission modes: one internal set, the several vocabularies that clients speak, and the seed's three on the wire.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The seed's three permission modes, which events carry as `permission_mode` beside the finer `mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PermissionMode {
    /// Ask before anything that is not a read.
    Ask,
    /// Run safe tools without asking.
    Auto,
    /// Run every tool without asking.
    Yolo,
}

/// How much a session may do without asking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Reads run; every other call is denied.
    Plan,
    /// Reads run; every other call asks first.
    #[default]
    Ask,
    /// Reads and edits inside the workspace run; every other call asks first.
    AcceptEdits,
    /// Reads, writes and network run; dangerous calls ask first.
    Auto,
    /// Every call runs without asking.
    Yolo,
}

/// The text is not the name of a permission mode in any vocabulary.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the permission mode must be one of: plan, ask, accept-edits, auto, yolo; \"{0}\" is none of them")]
pub struct UnknownMode(pub String);

impl Mode {
    /// The one spelling that Roost itself writes.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Ask => "ask",
            Self::AcceptEdits => "accept_edits",
            Self::Auto => "auto",
            Self::Yolo => "yolo",
        }
    }
}

impl From<Mode> for PermissionMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Plan | Mode::Ask | Mode::AcceptEdits => Self::Ask,
            Mode::Auto => Self::Auto,
            Mode::Yolo => Self::Yolo,
        }
    }
}

impl From<PermissionMode> for Mode {
    fn from(mode: PermissionMode) -> Self {
        match mode {
            PermissionMode::Ask => Self::Ask,
            PermissionMode::Auto => Self::Auto,
            PermissionMode::Yolo => Self::Yolo,
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Mode {
    type Err = UnknownMode;

    /// Reads every vocabulary's words, in upper or lower case, with `-`, `_` or nothing between them.
    fn from_str(text: &str) -> Result<Self, UnknownMode> {
        match text.to_ascii_lowercase().replace('_', "-").as_str() {
            "plan" => Ok(Self::Plan),
            "ask" | "default" | "interactive" => Ok(Self::Ask),
            "acceptedits" | "accept-edits" => Ok(Self::AcceptEdits),
            "auto" => Ok(Self::Auto),
            "yolo" | "bypasspermissions" | "bypass-permissions" | "danger" | "danger-full-access" => Ok(Self::Yolo),
            _ => Err(UnknownMode(text.into())),
        }
    }
}

/// A permission mode in any spelling that some client uses; written in Roost's own spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AnyMode(pub Mode);

/// Every spelling in its usual case, ours first.
#[cfg(any(test, feature = "schema"))]
pub(crate) const SPELLINGS: [&str; 14] = [
    "plan",
    "ask",
    "accept_edits",
    "auto",
    "yolo",
    "default",
    "interactive",
    "acceptEdits",
    "accept-edits",
    "bypassPermissions",
    "bypass-permissions",
    "bypass_permissions",
    "danger",
    "danger-full-access",
];

impl TryFrom<String> for AnyMode {
    type Error = UnknownMode;

    fn try_from(text: String) -> Result<Self, UnknownMode> {
        text.parse().map(Self)
    }
}

impl From<AnyMode> for String {
    fn from(mode: AnyMode) -> Self {
        mode.0.as_str().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_means_one_mode() {
        let cases = [
            ("plan", Mode::Plan),
            ("ask", Mode::Ask),
            ("default", Mode::Ask),
            ("interactive", Mode::Ask),
            ("acceptEdits", Mode::AcceptEdits),
            ("accept-edits", Mode::AcceptEdits),
            ("accept_edits", Mode::AcceptEdits),
            ("auto", Mode::Auto),
            ("yolo", Mode::Yolo),
            ("bypassPermissions", Mode::Yolo),
            ("bypass-permissions", Mode::Yolo),
            ("bypass_permissions", Mode::Yolo),
            ("danger", Mode::Yolo),
            ("danger-full-access", Mode::Yolo),
        ];
        for (text, mode) in cases {
            assert_eq!(text.parse(), Ok(mode), "{text}");
            assert_eq!(text.to_uppercase().parse(), Ok(mode), "{text}");
            assert!(SPELLINGS.contains(&text), "{text}");
        }
    }

    #[test]
    fn an_unknown_mode_names_the_known_ones() {
        let error = "root".parse::<Mode>().unwrap_err().to_string();
        assert!(error.contains("root") && error.contains("accept-edits"), "{error}");
    }
}
