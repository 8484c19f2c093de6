//! The permission rules of a runtime's own settings, as one more layer: they deny in every mode, ask where the mode would
//! allow, and allow where the mode would ask. What they say comes from the runtime's adapter, which reads the settings.

use globset::{Glob, GlobMatcher};

use crate::class::ToolClass;
use crate::entry::{Entry, PolicyQuery};
use crate::index::Index;
use crate::pattern::{ANY, Pattern};
use crate::rules::{Effect, Rule};
use crate::shell::{self, ReachedCommand, Word};
use crate::subject::Subject;

/// What a rule of a runtime's settings says about the calls that it matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermissionEffect {
    /// They run unasked where the mode would ask, unless they are dangerous.
    Allow,
    /// They are asked about, except in the mode `yolo`.
    Ask,
    /// They never run.
    Deny,
}

/// One rule of a runtime's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionRule {
    /// The rule's name in events: which file it comes from and how it is written there.
    pub label: String,
    /// What becomes of the calls that it matches.
    pub effect: PermissionEffect,
    /// Only tools whose name matches this glob; `None` means every tool.
    pub tool: Option<String>,
    /// Only calls of this class; `None` means every class.
    pub class: Option<ToolClass>,
    /// What the call must touch.
    pub scope: PermissionScope,
}

/// What a call must touch for a [`PermissionRule`] to match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermissionScope {
    /// Whatever the tool may touch.
    Everything,
    /// What the pattern names.
    Pattern(Pattern),
    /// A text in which `*` stands for anything: `npm test *`. A rule that allows takes it as a command, of which only the
    /// last word may be `*`. The others also match it against each command that a line may run, and against every text
    /// in the input of a tool that is no shell.
    Text(String),
}

/// The rules of a runtime's settings, compiled.
#[derive(Debug, Default)]
pub struct RuntimePermissions {
    allow: Index,
    ask: EagerRules,
    deny: EagerRules,
}

/// Rules that match as soon as a part of the call might be what they name.
#[derive(Debug, Default)]
struct EagerRules {
    index: Index,
    texts: Vec<TextRule>,
}

#[derive(Debug)]
struct TextRule {
    label: String,
    tool: Option<GlobMatcher>,
    text: GlobMatcher,
}

impl RuntimePermissions {
    /// Compiles rules, the first of which wins among those with the same effect. Also returns the labels of the rules that
    /// cannot be used: with patterns that mean nothing here, or too wide for a rule that allows.
    pub fn new(rules: &[PermissionRule]) -> (Self, Vec<String>) {
        let (mut allow, mut ask, mut deny) = (Vec::new(), Vec::new(), Vec::new());
        let (mut permissions, mut unusable) = (Self::default(), Vec::new());
        for rule in rules {
            let compiled = match rule.effect {
                PermissionEffect::Allow => rule.allow_entry().map(|entry| allow.push(entry)),
                PermissionEffect::Ask => permissions.ask.add(rule, &mut ask),
                PermissionEffect::Deny => permissions.deny.add(rule, &mut deny),
            };
            if compiled.is_none() {
                unusable.push(rule.label.clone());
            }
        }
        permissions.allow = Index::new(allow);
        permissions.ask.index = Index::new(ask);
        permissions.deny.index = Index::new(deny);
        (permissions, unusable)
    }

    /// The label of the rule that denies the call.
    pub(crate) fn denies(&self, query: &PolicyQuery<'_>) -> Option<&str> {
        self.deny.matching(query)
    }

    /// The label of the rule that has the call asked about.
    pub(crate) fn asks(&self, query: &PolicyQuery<'_>) -> Option<&str> {
        self.ask.matching(query)
    }

    /// The label of the rule that allows the call. The caller makes sure that the call is not dangerous.
    pub(crate) fn allows(&self, query: &PolicyQuery<'_>) -> Option<&str> {
        self.allow.allows(query).map(|entry| entry.label.as_str())
    }
}

impl PermissionRule {
    fn entry(&self, pattern: Option<Pattern>) -> Option<Entry> {
        let (tool, class) = (self.tool.clone(), self.class);
        let rule = Rule { tool, class, pattern, ..Rule::new(Effect::Allow) };
        Entry::from_rule(&rule, self.label.clone()).ok()
    }

    /// The entry of a rule that allows; `None` if it does not say clearly enough what it is about.
    fn allow_entry(&self) -> Option<Entry> {
        match &self.scope {
            PermissionScope::Everything if self.tool.is_none() => None,
            PermissionScope::Everything => self.entry(None),
            PermissionScope::Pattern(pattern) => self.entry(Some(pattern.clone())),
            PermissionScope::Text(text) => self.entry(Some(command_pattern(text)?)),
        }
    }
}

/// The command that a text with at most one `*`, as its last word, names.
fn command_pattern(text: &str) -> Option<Pattern> {
    let (words, is_open) = match text.strip_suffix(" *") {
        Some(words) => (words, true),
        None => (text, false),
    };
    if words.contains('*') {
        return None;
    }
    let line = shell::parse(words).ok()?;
    let mut words: Vec<_> = line.single()?.into_iter().map(str::to_owned).collect();
    words.extend(is_open.then(|| ANY.to_owned()));
    Some(Pattern::Command(words))
}

impl EagerRules {
    /// Adds a rule, to `entries` where the index can find it; `None` if it cannot be used.
    fn add(&mut self, rule: &PermissionRule, entries: &mut Vec<Entry>) -> Option<()> {
        let text = match &rule.scope {
            PermissionScope::Everything => return rule.entry(None).map(|entry| entries.push(entry)),
            PermissionScope::Pattern(pattern) => {
                return rule.entry(Some(pattern.clone())).map(|entry| entries.push(entry));
            }
            PermissionScope::Text(text) => text,
        };
        let tool = match &rule.tool {
            None => None,
            Some(tool) => Some(Glob::new(tool).ok()?.compile_matcher()),
        };
        // `rm *` means `rm` alone too, and options may come before an argument that it names.
        let bare = text.strip_suffix(" *").filter(|bare| !bare.is_empty());
        if bare.is_some() {
            entries.extend(command_pattern(text).and_then(|pattern| rule.entry(Some(pattern))));
        }
        for text in [Some(text.as_str()), bare].into_iter().flatten() {
            let text = wildcard(text)?;
            self.texts.push(TextRule { label: rule.label.clone(), tool: tool.clone(), text });
        }
        Some(())
    }

    fn matching(&self, query: &PolicyQuery<'_>) -> Option<&str> {
        let entry = self.index.denies(query).map(|entry| entry.label.as_str());
        entry.or_else(|| {
            if self.texts.is_empty() {
                return None;
            }
            let texts = texts(query);
            let matches = |rule: &&TextRule| {
                rule.tool.as_ref().is_none_or(|tool| tool.is_match(query.call.name))
                    && texts.iter().any(|text| rule.text.is_match(text))
            };
            self.texts.iter().find(matches).map(|rule| rule.label.as_str())
        })
    }
}

/// A matcher for a text in which only `*` is special.
fn wildcard(text: &str) -> Option<GlobMatcher> {
    let parts: Vec<_> = text.split('*').map(globset::escape).collect();
    Glob::new(&parts.join("*")).ok().map(|glob| glob.compile_matcher())
}

/// The texts of a call that a rule may name: its shell line and every command that the line may run, or the texts of its
/// input.
fn texts(query: &PolicyQuery<'_>) -> Vec<String> {
    let Subject::Shell(command) = &query.classified.subject else {
        let fields = query.call.input.as_object().into_iter().flat_map(|fields| fields.values());
        return fields.filter_map(|value| value.as_str()).map(str::to_owned).collect();
    };
    let mut texts = vec![command.text.clone(), command.text.trim().to_owned()];
    let mut add = |argv: &[Word]| {
        let text = |word: &Word| match word {
            Word::Literal(text) | Word::Pattern(text) => text.clone(),
            Word::Dynamic => String::new(),
        };
        texts.push(argv.iter().map(text).collect::<Vec<_>>().join(" "));
    };
    let mut opaque = Vec::new();
    if let Ok(line) = &command.line {
        line.reach(&mut |reached| match reached {
            ReachedCommand::Command(command) => add(&command.argv),
            ReachedCommand::Behind { argv, .. } => add(argv),
            ReachedCommand::Opaque(text) => opaque.push(text.to_owned()),
        });
    }
    texts.append(&mut opaque);
    texts
}
