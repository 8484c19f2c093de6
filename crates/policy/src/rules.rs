//! The allow and deny rules of the configuration.

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
    /// Matching calls run without a question.
    Allow,
    /// Matching calls never run.
    Deny,
}

/// One rule. It applies to the calls that match all of its fields; a field that is absent matches every call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Whether matching calls are allowed or denied.
    pub effect: Effect,
    /// The name under which events and questions show it.
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
    /// A rule about every call, to be narrowed by setting fields.
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
    /// A rule is invalid.
    #[error("policy rule {number} (`{rule}`) cannot be used: {problem}")]
    Rule {
        /// Its place in the list, from 1.
        number: usize,
        /// The label that events would show.
        rule: String,
        /// What is wrong and what would be right, in words for people.
        problem: String,
    },
}

/// Rules, compiled into an index.
#[derive(Debug, Default)]
pub struct RuleSet {
    pub(crate) deny: Index,
    pub(crate) allow: Index,
}

impl RuleSet {
    /// Compiles rules. Every deny wins over every allow; among rules with the same effect the first one wins.
    pub fn new(rules: &[Rule]) -> Result<Self, Error> {
        let (mut deny, mut allow) = (Vec::new(), Vec::new());
        for (at, rule) in rules.iter().enumerate() {
            let label = rule.label();
            let invalid = |problem: String| Error::Rule { number: at + 1, rule: label.clone(), problem };
            let unbounded = rule.tool.is_none() && rule.class.is_none() && rule.pattern.is_none();
            if rule.effect == Effect::Allow && unbounded {
                return Err(invalid("an allow rule must name a tool, a class or a pattern".into()));
            }
            let list = if rule.effect == Effect::Deny { &mut deny } else { &mut allow };
            list.push(Entry::from_rule(rule, label.clone()).map_err(invalid)?);
        }
        Ok(Self { deny: Index::new(deny), allow: Index::new(allow) })
    }
}
