//! Answers of a person that count for more than one call.

use std::path::PathBuf;

use roost_model::ids::SessionId;
use serde::{Deserialize, Serialize};

use crate::assignments::{self, is_assignment};
use crate::class::ToolClass;
use crate::decide::{Context, ResolvedPath, Unresolved};
use crate::entry::{Entry, PolicyQuery};
use crate::index::Index;
use crate::line_parts;
use crate::open_commands::remembered_words;
use crate::pattern::{ANY, Pattern, host_of};
use crate::rules::{Effect, Error};
use crate::shell::base;
use crate::subject::{ParsedCommand, Subject};
use crate::toolset;

/// Where a remembered answer counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Only in this session, for as long as it exists.
    Session(SessionId),
    /// In every session whose working directory is exactly this resolved path.
    Workspace(PathBuf),
    /// In every session of this host.
    Always,
}

impl Scope {
    /// The scope's name in events.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Session(_) => "session",
            Self::Workspace(_) => "workspace",
            Self::Always => "always",
        }
    }
}

/// An answer that is not to be asked for again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remembered {
    /// The sessions in which it counts.
    pub scope: Scope,
    /// Whether the person allowed or denied.
    pub effect: Effect,
    /// Counts only for this runtime, by its id; `None` means for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// Counts only for the tool of this exact name; `None` means for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Counts only for calls that touch this; `None` means for all calls of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Pattern>,
}

impl Remembered {
    /// Whether the answer's scope covers the session of the call.
    pub fn applies(&self, context: &Context<'_>) -> bool {
        match &self.scope {
            Scope::Session(session) => session == context.session,
            Scope::Workspace(workspace) => workspace == context.workspace,
            Scope::Always => true,
        }
    }
}

/// Remembered answers, compiled into an index.
#[derive(Debug, Default)]
pub struct Memory {
    pub(crate) deny: Index,
    pub(crate) allow: Index,
}

impl Memory {
    /// Compiles answers. Fails if one of them has an invalid pattern, or names neither a tool nor a pattern.
    pub fn new(answers: &[Remembered]) -> Result<Self, Error> {
        let (mut deny, mut allow) = (Vec::new(), Vec::new());
        for (at, answer) in answers.iter().enumerate() {
            let label = format!("remembered:{}", answer.scope.as_str());
            let invalid = |problem| Error::Rule { number: at + 1, rule: label.clone(), problem };
            if answer.tool.is_none() && answer.pattern.is_none() {
                return Err(invalid("an answer must be about a tool or a pattern".into()));
            }
            let list = if answer.effect == Effect::Deny { &mut deny } else { &mut allow };
            list.push(Entry::from_answer(answer, label.clone()).map_err(invalid)?);
        }
        Ok(Self { deny: Index::new(deny), allow: Index::new(allow) })
    }
}

/// The most commands of one line that are offered together; nobody would read more.
const MOST_OFFERED: usize = 6;

/// The answers that "yes, and do not ask again" could mean for a call, the narrowest scope first; for a line of several
/// commands, one for each command that nothing covers yet, which are remembered together. None for calls that are
/// dangerous or not understood: those are asked about every time.
pub(crate) fn offers(query: &PolicyQuery<'_>) -> Vec<Remembered> {
    let PolicyQuery { call, classified, context } = *query;
    let runtime = Some(call.runtime.to_owned());
    let tool = Some(call.name.to_owned());
    let dangerous = classified.classes.worst() == ToolClass::Dangerous;
    let (runtime, tool, patterns) = match &classified.subject {
        // Whoever allows an unknown tool by its name has judged that tool; a name that many tools share says nothing.
        Subject::Other if toolset::is_generic(call.name) => return Vec::new(),
        Subject::Other => (runtime, tool, vec![None]),
        _ if dangerous || context.unresolved != Unresolved::Nothing => return Vec::new(),
        Subject::Shell(command) => (None, None, offered_commands(command, query).into_iter().map(Some).collect()),
        Subject::Files(files) => match (files.as_slice(), context.resolved_inside(files)) {
            ([_], Some(inside)) => {
                let tool = tool.filter(|name| !toolset::is_generic(name));
                (None, tool, vec![Some(exactly(inside[0], context))])
            }
            _ => return Vec::new(),
        },
        Subject::Url(url) => match host_of(url) {
            Some(host) => (None, None, vec![Some(Pattern::Host(host))]),
            None => return Vec::new(),
        },
    };
    let mut scopes = vec![Scope::Session(context.session.clone()), Scope::Workspace(context.workspace.to_owned())];
    // A path inside one workspace means nothing in another.
    if !matches!(patterns.first(), Some(Some(Pattern::File(_)))) {
        scopes.push(Scope::Always);
    }
    let answer = |scope: &Scope, pattern: &Option<Pattern>| {
        let (scope, runtime, tool, pattern) = (scope.clone(), runtime.clone(), tool.clone(), pattern.clone());
        Remembered { scope, effect: Effect::Allow, runtime, tool, pattern }
    };
    scopes.iter().flat_map(|scope| patterns.iter().map(|pattern| answer(scope, pattern))).collect()
}

/// The command patterns that would let a line run; none if no patterns would.
fn offered_commands(command: &ParsedCommand, query: &PolicyQuery<'_>) -> Vec<Pattern> {
    let single = command.line.as_ref().ok().and_then(|line| line.single());
    let folder = command.cwd.as_deref().unwrap_or(".");
    let single = single.filter(|argv| !is_assignment(argv[0]) && query.context.answer_holds_in(folder, argv[0]));
    let commands: Vec<(&[String], Vec<&str>)> = match (single, line_parts::uncovered(query)) {
        (Some(argv), _) => vec![(&[], argv)],
        (_, Some(parts)) => {
            parts.iter().map(|part| (&*part.assignments, part.argv.iter().map(String::as_str).collect())).collect()
        }
        _ => return Vec::new(),
    };
    if commands.len() > MOST_OFFERED || commands.iter().any(|(_, argv)| !may_be_offered(argv)) {
        return Vec::new();
    }
    let mut patterns: Vec<Pattern> = Vec::new();
    for (assignments, argv) in commands {
        let pattern = Pattern::Command([assignments, &remembered_words(&argv)].concat());
        if !patterns.contains(&pattern) {
            patterns.push(pattern);
        }
    }
    patterns
}

/// Whether a pattern can name the command exactly, and no argument of it sets a variable that is never remembered.
fn may_be_offered(argv: &[&str]) -> bool {
    let sets_variables = ["env", "cross-env"].contains(&base(argv[0]));
    let fits = |word: &&str| !is_assignment(word) || assignments::may_be_remembered(word);
    !argv.contains(&ANY) && (!sets_variables || argv.iter().all(fits))
}

fn exactly(path: &ResolvedPath, context: &Context<'_>) -> Pattern {
    let relative = path.real.as_deref().and_then(|real| real.strip_prefix(context.workspace).ok());
    Pattern::File(globset::escape(&relative.unwrap_or(context.workspace).to_string_lossy()))
}
