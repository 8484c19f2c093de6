//! A rule or a remembered answer, compiled for matching.

use std::path::PathBuf;

use globset::{GlobBuilder, GlobMatcher};
use roost_model::ids::SessionId;
use roost_model::runtime::RuntimeName;

use crate::class::{Call, Classified, ToolClass};
use crate::decide::Context;
use crate::pattern::{ANY, Pattern};
use crate::remembered::{Remembered, Scope};
use crate::rules::Rule;

/// A call together with everything that the decision depends on.
pub(crate) struct PolicyQuery<'a> {
    pub(crate) call: &'a Call<'a>,
    pub(crate) classified: &'a Classified,
    pub(crate) context: &'a Context<'a>,
}

/// Which tools an entry is about, by name.
#[derive(Debug)]
pub(crate) enum ToolMatcher {
    Exact(String),
    Glob(Box<GlobMatcher>),
}

/// A rule or a remembered answer. A field that is `None` matches every call.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The rule's name in events.
    pub(crate) label: String,
    session: Option<SessionId>,
    workspace: Option<PathBuf>,
    runtime: Option<String>,
    pub(crate) tool: Option<ToolMatcher>,
    class: Option<ToolClass>,
    pub(crate) pattern: Option<Pattern>,
    /// It is a person's answer about commands that they saw; a rule was written for many.
    pub(crate) is_answer: bool,
}

impl Entry {
    pub(crate) fn from_rule(rule: &Rule, label: String) -> Result<Self, String> {
        let Rule { runtime, workspace, class, .. } = rule.clone();
        let runtime = runtime.map(|runtime| RuntimeName::from_id(&runtime).id().to_owned());
        let tool = rule.tool.as_deref().map(tool_matcher).transpose()?;
        let pattern = rule.pattern.clone();
        Self { label, session: None, workspace, runtime, tool, class, pattern, is_answer: false }.checked()
    }

    pub(crate) fn from_answer(answer: &Remembered, label: String) -> Result<Self, String> {
        let Remembered { runtime, tool, pattern, .. } = answer.clone();
        let (session, workspace) = match &answer.scope {
            Scope::Session(session) => (Some(session.clone()), None),
            Scope::Workspace(workspace) => (None, Some(workspace.clone())),
            Scope::Always => (None, None),
        };
        let tool = tool.map(ToolMatcher::Exact);
        Self { label, session, workspace, runtime, tool, class: None, pattern, is_answer: true }.checked()
    }

    fn checked(mut self) -> Result<Self, String> {
        if let Some(problem) = self.pattern.as_ref().and_then(Pattern::problem) {
            return Err(problem.into());
        }
        match &mut self.pattern {
            Some(Pattern::Host(host)) => *host = host.to_ascii_lowercase(),
            Some(Pattern::File(glob)) => drop(path_glob(glob)?),
            _ => {}
        }
        Ok(self)
    }

    /// Whether the entry's runtime, workspace, session, class and tool match. The pattern is checked by the index.
    pub(crate) fn fits(&self, query: &PolicyQuery<'_>, class_fits: impl Fn(ToolClass) -> bool) -> bool {
        let PolicyQuery { call, context, .. } = query;
        self.runtime.as_deref().is_none_or(|runtime| runtime == call.runtime)
            && self.workspace.as_deref().is_none_or(|workspace| workspace.as_os_str() == context.workspace.as_os_str())
            && self.session.as_ref().is_none_or(|session| session == context.session)
            && self.class.is_none_or(class_fits)
            && match &self.tool {
                None => true,
                Some(ToolMatcher::Exact(name)) => name == call.name,
                Some(ToolMatcher::Glob(glob)) => glob.is_match(call.name),
            }
    }

    /// Whether the entry's command pattern matches exactly these words.
    pub(crate) fn allows_command(&self, argv: &[&str]) -> bool {
        let Some(Pattern::Command(words)) = &self.pattern else { return false };
        match words.split_last() {
            Some((last, start)) if last == ANY => {
                argv.len() >= start.len() && argv.iter().zip(start).all(|(a, b)| a == b)
            }
            _ => argv.len() == words.len() && argv.iter().zip(words).all(|(a, b)| a == b),
        }
    }

    /// How many words the command pattern has before `*`, with the assignments.
    pub(crate) fn named_words(&self) -> usize {
        match &self.pattern {
            Some(Pattern::Command(words)) => words.iter().take_while(|word| *word != ANY).count(),
            _ => 0,
        }
    }

    /// Whether the command pattern ends with `*`.
    pub(crate) fn is_open(&self) -> bool {
        matches!(&self.pattern, Some(Pattern::Command(words)) if words.last().is_some_and(|word| word == ANY))
    }
}

fn tool_matcher(glob: &str) -> Result<ToolMatcher, String> {
    if !glob.contains(['*', '?', '[', '{', '\\']) {
        return Ok(ToolMatcher::Exact(glob.to_owned()));
    }
    let glob = globset::Glob::new(glob).map_err(|error| format!("its tool is no glob: {error}"))?;
    Ok(ToolMatcher::Glob(Box::new(glob.compile_matcher())))
}

pub(crate) fn path_glob(glob: &str) -> Result<globset::Glob, String> {
    let built = GlobBuilder::new(glob).literal_separator(true).backslash_escape(true).build();
    built.map_err(|error| format!("its file pattern is no glob: {error}"))
}
