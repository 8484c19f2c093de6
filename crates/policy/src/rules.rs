//! Allow and deny lists, as the configuration holds them.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::class::ToolClass;
use crate::entry::Entry;
use crate::index::Index;
use crate::pattern::Pattern;

/// Whether a rule allows or denies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// What it is about may run unasked.
    Allow,
    /// What it is about may not run.
    Deny,
}

/// One rule: it speaks about the calls that fit everything it names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// What it says.
    pub effect: Effect,
    /// Its name in events and questions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Only this runtime (`claude`, `codex`, …).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// Only this workspace, by its resolved path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<PathBuf>,
    /// Only tools whose name matches this glob.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Only calls of this class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<ToolClass>,
    /// Only calls that touch this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Pattern>,
}

impl Rule {
    /// A rule about everything, to be narrowed.
    pub fn new(effect: Effect) -> Self {
        Self { effect, name: None, runtime: None, workspace: None, tool: None, class: None, pattern: None }
    }

    fn label(&self) -> String {
        let verb = match self.effect {
            Effect::Allow => "allow",
            Effect::Deny => "deny",
        };
        match (&self.name, &self.pattern, &self.tool) {
            (Some(name), ..) => format!("rule:{name}"),
            (None, Some(pattern), _) => format!("rule:{pattern}"),
            (None, None, Some(_)) => format!("override:{verb}_tool"),
            (None, None, None) => format!("override:{verb}_permission"),
        }
    }
}

/// Why rules cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A rule makes no sense.
    #[error("policy rule {number} (`{rule}`) cannot be used: {problem}")]
    Rule {
        /// Its place in the list, from 1.
        number: usize,
        /// How events would name it.
        rule: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
}

/// Rules, ready to be asked.
#[derive(Debug, Default)]
pub struct RuleSet {
    pub(crate) deny: Index,
    pub(crate) allow: Index,
}

impl RuleSet {
    /// Prepares rules; those that come first win among their kind, and every deny wins over every allow.
    pub fn new(rules: &[Rule]) -> Result<Self, Error> {
        let (mut deny, mut allow) = (Vec::new(), Vec::new());
        for (at, rule) in rules.iter().enumerate() {
            let label = rule.label();
            let wrong = |problem: String| Error::Rule { number: at + 1, rule: label.clone(), problem };
            let unbounded = rule.tool.is_none() && rule.class.is_none() && rule.pattern.is_none();
            if rule.effect == Effect::Allow && unbounded {
                return Err(wrong("an allow rule must name a tool, a class or a pattern".into()));
            }
            let list = if rule.effect == Effect::Deny { &mut deny } else { &mut allow };
            list.push(Entry::of_rule(rule, label.clone()).map_err(wrong)?);
        }
        Ok(Self { deny: Index::new(deny), allow: Index::new(allow) })
    }
}
