//! Which further calls a remembered answer covers.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::approval::ApprovalScope;
use crate::ids::SessionId;
use crate::tool::PolicyDecision;

/// What a call does or reaches, as far as two calls are compared.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Touches {
    /// A program with exactly these arguments. If the last word is `*`, any further arguments match.
    Command(Vec<String>),
    /// Files that match this glob, relative to the workspace's root.
    File(String),
    /// A host name, or `*.domain` for every host below that domain.
    Host(String),
    /// Only an input with this hash (`sha256:<hex>` of its canonical JSON).
    Exact(String),
}

/// A pattern for tool calls. A field that is absent matches every call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallPattern {
    /// Only calls by this runtime, by its id such as `claude`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// Only calls of this tool, as the runtime names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Only calls that run, change or contact this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub touches: Option<Touches>,
}

impl CallPattern {
    /// Whether the pattern means the same in every workspace. A file glob does not: it is relative to one workspace.
    pub fn holds_anywhere(&self) -> bool {
        !matches!(self.touches, Some(Touches::File(_)))
    }
}

impl fmt::Display for CallPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.touches, &self.tool) {
            (Some(Touches::Command(argv)), _) => match argv.split_last() {
                Some((last, first)) if last == "*" => write!(f, "`{} …`", first.join(" ")),
                _ => write!(f, "`{}`", argv.join(" ")),
            },
            (Some(Touches::File(glob)), Some(tool)) => write!(f, "{tool} on {glob}"),
            (Some(Touches::File(glob)), None) => write!(f, "changes to {glob}"),
            (Some(Touches::Host(host)), _) => write!(f, "addresses on {host}"),
            (Some(Touches::Exact(_)), _) => f.write_str("exactly this call"),
            (None, Some(tool)) => write!(f, "every call of {tool}"),
            (None, None) => f.write_str("every call"),
        }
    }
}

/// A remembered answer: matching calls are decided by it without asking.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RememberedRule {
    /// How far it applies; never `once`.
    pub scope: ApprovalScope,
    /// The answer that matching calls get.
    pub decision: PolicyDecision,
    /// The calls that it decides.
    pub pattern: CallPattern,
    /// The session it applies to; present only for the scope `session`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The root of the workspace it applies to; present only for the scope `workspace`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
}
