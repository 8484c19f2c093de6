//! Judges a line of several commands part by part: it runs unasked if every part only reads, or is allowed by a rule or
//! by a remembered answer.
//!
//! An answer holds in every folder of the workspace, as it does where a runtime names the folder beside the command: so
//! `cd sub && npm test` is covered by `npm test`. Git obeys the settings and hooks of the repository that it finds, so an
//! answer about git holds only where that is the workspace's own.

use crate::assignments;
use crate::class::ToolClass;
use crate::commands;
use crate::decide::Unresolved;
use crate::entry::{Entry, PolicyQuery};
use crate::subject::Subject;

/// One command of a plain line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LinePart {
    /// It only reads.
    Read {
        /// The folders in which it runs git. Git runs programs that a repository's configuration names, so each must
        /// belong to the workspace's own repository.
        git_folders: Vec<String>,
    },
    /// It may do more, so somebody must allow it.
    Run(RunPart),
}

/// A command that does more than read. Its input is neither a file nor the output of another command, and it does not
/// change the shell that runs the rest of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunPart {
    /// `NAME=value`, each of which may be remembered.
    pub(crate) assignments: Vec<String>,
    /// The program and its arguments.
    pub(crate) argv: Vec<String>,
    /// The folders in which it may run, relative to where the line begins (`.`).
    pub(crate) folders: Vec<String>,
}

impl LinePart {
    pub(crate) fn only_reads(&self) -> bool {
        matches!(self, Self::Read { .. })
    }

    /// The folders in which the part runs git.
    pub(crate) fn git_folders(&self) -> &[String] {
        match self {
            Self::Read { git_folders } => git_folders,
            Self::Run(run) if run.argv[0] == "git" => &run.folders,
            Self::Run(_) => &[],
        }
    }
}

impl RunPart {
    /// The part with these assignments; `None` if one of them must never be remembered, or if the program is a builtin
    /// that changes the shell and so what the other parts mean.
    pub(crate) fn new(assignments: &[String], argv: Vec<String>, folders: Vec<String>) -> Option<Self> {
        let plain = !SHELL_BUILTINS.contains(&argv.first()?.as_str());
        (plain && assignments.iter().all(|assignment| assignments::may_be_remembered(assignment))).then(|| Self {
            assignments: assignments.to_vec(),
            argv,
            folders,
        })
    }
}

/// Builtins and reserved words of bash, dash and zsh that are no programs of their own and do more than print.
#[rustfmt::skip]
const SHELL_BUILTINS: [&str; 78] = [
    ".", ":", "alias", "autoload", "bg", "bind", "bindkey", "break", "builtin", "bye", "caller", "cd", "chdir",
    "command", "compgen", "complete", "compopt", "continue", "declare", "dirs", "disable", "disown", "emulate",
    "enable", "eval", "exec", "exit", "export", "fc", "fg", "float", "functions", "getopts", "hash", "history",
    "integer", "jobs", "kill", "let", "limit", "local", "logout", "mapfile", "nocorrect", "noglob", "popd", "print",
    "pushd", "read", "readarray", "readonly", "rehash", "repeat", "return", "sched", "set", "setopt", "shift", "shopt",
    "source", "suspend", "times", "trap", "ttyctl", "type", "typeset", "ulimit", "umask", "unalias", "unfunction",
    "unhash", "unlimit", "unset", "unsetopt", "vared", "wait", "zle", "zmodload",
];

/// The rule or answer that allows the first part of the line that needs one, if every part is covered.
pub(crate) fn allows<'a>(query: &PolicyQuery<'a>) -> Option<&'a Entry> {
    let mut first = None;
    for part in parts(query)? {
        match part {
            _ if !git_stays_at_home(part, query) => return None,
            LinePart::Run(run) => first = first.or(Some(allowed_by(run, query)?)),
            LinePart::Read { .. } => {}
        }
    }
    first
}

/// The commands of the line that nothing covers yet; `None` if the line would not run even if all of them were covered.
pub(crate) fn uncovered<'a>(query: &PolicyQuery<'a>) -> Option<Vec<&'a RunPart>> {
    let mut found: Vec<&RunPart> = Vec::new();
    for part in parts(query)? {
        match part {
            _ if !git_stays_at_home(part, query) => return None,
            LinePart::Run(run) if !stays_inside(run, query) => return None,
            LinePart::Run(run) if allowed_by(run, query).is_none() => found.push(run),
            _ => {}
        }
    }
    Some(found)
}

fn parts<'a>(query: &PolicyQuery<'a>) -> Option<&'a [LinePart]> {
    let Subject::Shell(command) = &query.classified.subject else { return None };
    command.parts.as_deref().filter(|_| query.context.unresolved == Unresolved::Nothing)
}

/// Whether git, wherever the part runs it, uses the workspace's own repository.
fn git_stays_at_home(part: &LinePart, query: &PolicyQuery<'_>) -> bool {
    part.git_folders().iter().all(|folder| query.context.owns_repository(&from_start(query, folder)))
}

fn allowed_by<'a>(run: &RunPart, query: &PolicyQuery<'a>) -> Option<&'a Entry> {
    if !stays_inside(run, query) {
        return None;
    }
    let words: Vec<_> = run.assignments.iter().chain(&run.argv).map(String::as_str).collect();
    let exactly = query.classified.classes.worst() == ToolClass::Dangerous;
    let context = query.context;
    let by = |index: &'a crate::index::Index| index.allows_words(&words, query, exactly);
    by(&context.rules.allow).or_else(|| by(&context.memory.allow))
}

fn stays_inside(run: &RunPart, query: &PolicyQuery<'_>) -> bool {
    let folders: Vec<_> = run.folders.iter().map(|folder| from_start(query, folder)).collect();
    query.context.resolved_inside(&folders).is_some()
}

/// A folder of the line as the call names it.
fn from_start(query: &PolicyQuery<'_>, folder: &str) -> String {
    match &query.classified.subject {
        Subject::Shell(command) => commands::join_folder(command.cwd.as_deref().unwrap_or("."), folder),
        _ => folder.to_owned(),
    }
}
