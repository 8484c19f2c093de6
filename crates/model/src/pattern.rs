//! What an answer covers beyond the one call it was given for.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::approval::{Answerer, ApprovalScope};
use crate::canonical;
use crate::ids::SessionId;
use crate::tool::PolicyDecision;

/// What calls touch that are alike.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Touches {
    /// A program with exactly these arguments; a last word `*` stands for any further ones. Variables that are set for
    /// it come first, as `NAME=value`.
    Command(Vec<String>),
    /// Each of these commands, alone or in one line.
    Commands(Vec<Vec<String>>),
    /// Files, as a glob seen from the workspace's root.
    File(String),
    /// A host, or `*.domain` for every host below a domain.
    Host(String),
    /// The input of this hash and no other.
    Exact(String),
}

/// Calls that are alike; what is absent does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct CallPattern {
    /// The runtime's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// The tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What the call touches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub touches: Option<Touches>,
}

impl CallPattern {
    /// It means the same in every workspace; a file of one means nothing in another.
    pub fn holds_anywhere(&self) -> bool {
        !matches!(self.touches, Some(Touches::File(_)))
    }
}

impl fmt::Display for CallPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.touches, &self.tool) {
            (Some(Touches::Command(words)), _) => f.write_str(&shown(words)),
            (Some(Touches::Commands(commands)), _) => {
                let shown: Vec<_> = commands.iter().map(|words| shown(words)).collect();
                f.write_str(&shown.join(" and "))
            }
            (Some(Touches::File(glob)), Some(tool)) => write!(f, "{tool} on {glob}"),
            (Some(Touches::File(glob)), None) => write!(f, "changes to {glob}"),
            (Some(Touches::Host(host)), _) => write!(f, "addresses on {host}"),
            (Some(Touches::Exact(_)), _) => f.write_str("exactly this call"),
            (None, Some(tool)) => write!(f, "every call of {tool}"),
            (None, None) => f.write_str("every call"),
        }
    }
}

/// A command pattern for people; a word with spaces in it is shown as the one word that it is.
fn shown(words: &[String]) -> String {
    let (words, more) = match words.split_last() {
        Some((last, first)) if last == "*" => (first, " …"),
        _ => (words, ""),
    };
    let quoted = |word: &String| match word.is_empty() || word.contains(char::is_whitespace) {
        true => format!("'{word}'"),
        false => word.clone(),
    };
    format!("`{}{more}`", words.iter().map(quoted).collect::<Vec<_>>().join(" "))
}

/// An answer that counts for longer than once.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct RememberedRule {
    /// For how long it counts; never once.
    pub scope: ApprovalScope,
    /// What was said.
    pub decision: PolicyDecision,
    /// The calls that are meant.
    pub pattern: CallPattern,
    /// The session, for an answer that counts for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The workspace's root, for an answer that counts for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Who gave the answer; absent in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Answerer>,
}

impl RememberedRule {
    /// The name under which the rule is listed and removed. An answer about the same calls in the same place has the
    /// same one, whoever gave it and whatever it says, because it replaces this one.
    pub fn id(&self) -> String {
        let subject = json!([self.scope, self.session_id, self.workspace, self.pattern]);
        let hash = canonical::hash(&subject);
        let digits = hash.trim_start_matches("sha256:").chars().take(ID_DIGITS);
        format!("rule_{}", digits.collect::<String>())
    }
}

/// Hexadecimal digits of a rule's id: 48 bits, which a person can still copy.
const ID_DIGITS: usize = 12;
