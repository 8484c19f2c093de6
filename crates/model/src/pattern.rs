//! Which further calls a remembered answer covers.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::approval::{Answerer, ApprovalScope};
use crate::canonical;
use crate::ids::SessionId;
use crate::tool::PolicyDecision;

/// What a call does or reaches, as far as two calls are compared.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Touches {
    /// A program with exactly these arguments. If the last word is `*`, any further arguments match. Variables that are
    /// set for the program come first, as `NAME=value`.
    Command(Vec<String>),
    /// Each of these commands, alone or in one line.
    Commands(Vec<Vec<String>>),
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

    /// Whether the pattern is about commands, so that it also counts for parts of longer lines and in every folder.
    pub fn is_about_commands(&self) -> bool {
        matches!(self.touches, Some(Touches::Command(_) | Touches::Commands(_)))
    }

    /// What a person who is offered the pattern is told that it covers.
    pub fn offer_text(&self) -> String {
        if self.is_about_commands() { format!("{self}, in every folder of this workspace") } else { self.to_string() }
    }
}

impl fmt::Display for CallPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.touches, &self.tool) {
            (Some(Touches::Command(words)), _) => f.write_str(&quote_command(words)),
            (Some(Touches::Commands(commands)), _) => {
                let quoted: Vec<_> = commands.iter().map(|words| quote_command(words)).collect();
                f.write_str(&quoted.join(" and "))
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

/// A command pattern for people. A word with anything unusual in it is quoted, so that it reads as the one word that it
/// is.
fn quote_command(words: &[String]) -> String {
    let (words, more) = match words.split_last() {
        Some((last, first)) if last == "*" => (first, " …"),
        _ => (words, ""),
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,@%+=".contains(c);
    let quoted = |word: &String| match !word.is_empty() && word.chars().all(is_plain) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    format!("`{}{more}`", words.iter().map(quoted).collect::<Vec<_>>().join(" "))
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
    /// The client that gave the answer; absent in events of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Answerer>,
}

impl RememberedRule {
    /// The id by which the rule is listed and removed: a hash of its scope and pattern. A later answer about the same
    /// calls in the same place has the same id, whoever gave it and whatever it says, because it replaces this one.
    pub fn id(&self) -> String {
        let subject = json!([self.scope, self.session_id, self.workspace, self.pattern]);
        let hash = canonical::hash(&subject);
        let digits = hash.trim_start_matches("sha256:").chars().take(ID_DIGITS);
        format!("rule_{}", digits.collect::<String>())
    }
}

/// Hexadecimal digits of a rule's id: 48 bits, which a person can still copy.
const ID_DIGITS: usize = 12;
