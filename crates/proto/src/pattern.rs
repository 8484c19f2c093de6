//! What an answer or a rule covers beyond the one call it was given for.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::approval::ApprovalScope;
use crate::ids::SessionId;
use crate::runtime::RuntimeName;
use crate::tool::PolicyDecision;

/// The calls of a tool that are alike.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CallPattern {
    /// One simple command that begins with these words, or has exactly them.
    Command {
        /// The words.
        argv: Vec<String>,
        /// More words may follow.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        open: bool,
    },
    /// Files whose real path matches, seen from the workspace's root.
    File {
        /// A glob.
        glob: String,
    },
    /// Addresses on this host, or on any below it when it begins with `*.`.
    Host {
        /// The host.
        host: String,
    },
    /// This input and no other.
    Exact {
        /// Its hash.
        input_hash: String,
    },
    /// Every call of the tool.
    Any,
}

impl fmt::Display for CallPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command { argv, open: false } => write!(f, "`{}`", argv.join(" ")),
            Self::Command { argv, open: true } => write!(f, "`{} …`", argv.join(" ")),
            Self::File { glob } => write!(f, "files {glob}"),
            Self::Host { host } => write!(f, "addresses on {host}"),
            Self::Exact { .. } => f.write_str("exactly this call"),
            Self::Any => f.write_str("every call of this tool"),
        }
    }
}

/// An answer that counts for longer than once.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct RememberedRule {
    /// For how long it counts; never once.
    pub scope: ApprovalScope,
    /// What was said.
    pub decision: PolicyDecision,
    /// The runtime whose tool it is.
    pub runtime: RuntimeName,
    /// The tool.
    pub tool: String,
    /// Its calls that are meant.
    pub pattern: CallPattern,
    /// The session, for an answer that counts for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The workspace's root, for an answer that counts for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
}
