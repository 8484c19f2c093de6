//! Judges a line of several commands part by part: it runs unasked if every part only reads, or is allowed by a rule or
//! by a remembered answer.
//!
//! An answer holds in every folder of the workspace, as it does where a runtime names the folder beside the command: so
//! `cd sub && npm test` is covered by `npm test`. It does not hold in hidden folders and in `node_modules`. Git obeys the
//! settings and hooks of the repository that it finds, so an answer about git holds only where that is the workspace's
//! own.

use crate::assignments;
use crate::class::ToolClass;
use crate::commands;
use crate::decide::Unresolved;
use crate::entry::{Entry, PolicyQuery};
use crate::index::Index;
use crate::shell::base;
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
    /// The program and its arguments; never empty.
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
            Self::Run(run) if base(&run.argv[0]) == "git" => &run.folders,
            Self::Run(_) => &[],
        }
    }
}

impl RunPart {
    /// The part with these assignments; `None` if one of them must never be remembered, or if the program is a builtin,
    /// which may change the shell and so what the other parts mean.
    pub(crate) fn new(assignments: &[String], argv: Vec<String>, folders: Vec<String>) -> Option<Self> {
        let is_program = !SHELL_BUILTINS.contains(&argv.first()?.as_str());
        let remembered = assignments.iter().all(|assignment| assignments::may_be_remembered(assignment));
        (is_program && remembered).then(|| Self { assignments: assignments.to_vec(), argv, folders })
    }
}

/// The builtins of bash, dash and zsh. Those that only read are known before this list is asked.
#[rustfmt::skip]
const SHELL_BUILTINS: [&str; 100] = [
    "-", ".", ":", "[", "alias", "autoload", "bg", "bind", "bindkey", "break", "builtin", "bye", "caller", "cd", "chdir",
    "command", "compgen", "complete", "compopt", "continue", "declare", "dirs", "disable", "disown", "echo", "emulate",
    "enable", "eval", "exec", "exit", "export", "false", "fc", "fg", "float", "functions", "getln", "getopts", "hash",
    "help", "history", "integer", "jobs", "kill", "let", "limit", "local", "logout", "mapfile", "nocorrect", "noglob",
    "popd", "print", "printf", "private", "pushd", "pushln", "pwd", "r", "read", "readarray", "readonly", "rehash",
    "repeat", "return", "sched", "set", "setopt", "shift", "shopt", "source", "suspend", "test", "times", "trap", "true",
    "ttyctl", "type", "typeset", "ulimit", "umask", "unalias", "unfunction", "unhash", "unlimit", "unset", "unsetopt",
    "vared", "wait", "whence", "where", "which", "zcompile", "zle", "zmodload", "zparseopts", "zpty", "zstat", "zstyle",
    "ztcp",
];

/// The rule or answer that allows the first part of the line that needs one, if every part is covered.
pub(crate) fn allows<'a>(query: &PolicyQuery<'a>) -> Option<&'a Entry> {
    let mut first = None;
    for part in parts(query)? {
        if let LinePart::Run(run) = part {
            first = first.or(Some(allowed_by(run, query)?));
        }
    }
    first
}

/// The commands of the line that nothing covers yet; `None` if the line would not run even if all of them were covered.
pub(crate) fn uncovered<'a>(query: &PolicyQuery<'a>) -> Option<Vec<&'a RunPart>> {
    let runs = parts(query)?.iter().filter_map(|part| match part {
        LinePart::Run(run) => Some(run),
        LinePart::Read { .. } => None,
    });
    Some(runs.filter(|run| allowed_by(run, query).is_none()).collect())
}

/// The parts of the call's line, if each of them may run where it would, as soon as somebody allows it.
fn parts<'a>(query: &PolicyQuery<'a>) -> Option<&'a [LinePart]> {
    let Subject::Shell(command) = &query.classified.subject else { return None };
    let context = query.context;
    let from_start = |folder: &String| commands::join_folder(command.cwd.as_deref().unwrap_or("."), folder);
    let may_run_there = |part: &LinePart| match part {
        LinePart::Read { git_folders } => git_folders.iter().map(from_start).all(|at| context.owns_repository(&at)),
        LinePart::Run(run) => run.folders.iter().map(from_start).all(|at| context.answer_holds_in(&at, &run.argv[0])),
    };
    let parts = command.parts.as_deref().filter(|_| context.unresolved == Unresolved::Nothing)?;
    parts.iter().all(may_run_there).then_some(parts)
}

fn allowed_by<'a>(run: &RunPart, query: &PolicyQuery<'a>) -> Option<&'a Entry> {
    let words: Vec<_> = run.assignments.iter().chain(&run.argv).map(String::as_str).collect();
    let exactly = query.classified.classes.worst() == ToolClass::Dangerous;
    let by = |index: &'a Index| index.allows_words(&words, query, exactly);
    by(&query.context.rules.allow).or_else(|| by(&query.context.memory.allow))
}
