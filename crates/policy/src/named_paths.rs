//! Collects every path that a call names, in whatever way, because rules about files must see them all.
//!
//! Denying is eager, so a word is taken for a path if it might be one: `--file=a`, `-fa`, `@a`, and each from every
//! folder that a `cd` or `-C` of the line goes to. Where a line is not certain (a variable, a substitution, a syntax
//! that is not understood), every piece of its text counts.

use std::collections::BTreeSet;

use crate::commands::join_folder;
use crate::line_parts::LinePart;
use crate::shell::{ReachedCommand, ShellLine, SimpleCommand, Word, base};
use crate::subject::{ParsedCommand, Subject};

/// A path that a call names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedPath {
    /// The path as the call names it, relative to the current folder of the runtime or its shell.
    pub text: String,
    /// It is a shell glob: it stands for all matching files, and a leading `~` for the home folder.
    pub is_pattern: bool,
}

/// The most paths of a call that are resolved. With more, every deny rule about files counts as matching.
pub const MOST_PATHS: usize = 4096;

/// The paths that a subject names, and the folder that a command runs in (`.`).
pub(crate) fn from_subject(subject: &Subject, git_folders: &[String]) -> BTreeSet<NamedPath> {
    let exact = |text: &str| NamedPath { text: text.to_owned(), is_pattern: false };
    match subject {
        Subject::Files(files) => files.iter().map(|file| exact(file)).collect(),
        Subject::Shell(command) => {
            let mut found = BTreeSet::new();
            found.insert(exact(command.cwd.as_deref().unwrap_or(".")));
            found.extend(git_folders.iter().map(|folder| exact(folder)));
            for part in command.parts.iter().flatten() {
                let LinePart::Run(run) = part else { continue };
                let start = command.cwd.as_deref().unwrap_or(".");
                found.extend(run.folders.iter().map(|folder| exact(&join_folder(start, folder))));
            }
            add_command_paths(command, &mut found);
            found
        }
        Subject::Url(_) | Subject::Other => BTreeSet::new(),
    }
}

fn add_command_paths(command: &ParsedCommand, found: &mut BTreeSet<NamedPath>) {
    let start = command.cwd.clone().unwrap_or_default();
    let mut folders = BTreeSet::from([(start, false)]);
    let mut words: Vec<(String, bool)> = Vec::new();
    match &command.line {
        Ok(line) => {
            line.reach(&mut |reached| match reached {
                ReachedCommand::Command(simple) => read_words(simple, &mut words, &mut folders),
                ReachedCommand::Behind { .. } => {}
                ReachedCommand::Opaque(text) => words.extend(pieces(text)),
            });
            if !is_certain(line) {
                words.extend(pieces(&command.text).chain(open_paths(&command.text)));
            }
        }
        Err(_) => words.extend(pieces(&command.text).chain(open_paths(&command.text))),
    }
    for (folder, folder_is_pattern) in &folders {
        for (word, is_pattern) in &words {
            if found.len() > MOST_PATHS {
                return;
            }
            let whole = folder.is_empty() || word.starts_with(['/', '~']);
            let text = if whole { word.clone() } else { format!("{folder}/{word}") };
            found.insert(NamedPath { text, is_pattern: *is_pattern || (!whole && *folder_is_pattern) });
        }
    }
}

/// The most folders that are combined with the paths of a line. A line with more `cd`s names them all as words anyway.
const MOST_FOLDERS: usize = 16;

/// Programs whose arguments may be a program of their own, which names files wherever it likes.
const INTERPRETERS: [&str; 14] =
    ["awk", "bun", "deno", "gawk", "jq", "mawk", "node", "perl", "php", "python", "python3", "ruby", "sed", "tclsh"];
/// Options whose value is the folder in which a program works.
const FOLDER_OPTIONS: [&str; 7] = ["-C", "--directory", "--cwd", "--chdir", "--prefix", "--git-dir", "--work-tree"];

fn read_words(simple: &SimpleCommand, words: &mut Vec<(String, bool)>, folders: &mut BTreeSet<(String, bool)>) {
    let program = base(simple.argv.first().and_then(Word::literal).unwrap_or_default());
    let enters = ["cd", "pushd"].contains(&program);
    let mut after_folder_option = false;
    for word in simple.argv.iter().skip(1) {
        let (text, is_pattern) = match word {
            Word::Literal(text) => (text, false),
            Word::Pattern(text) => (text, true),
            Word::Dynamic => continue,
        };
        // Git takes patterns in quotes, too.
        let is_pattern = is_pattern || (program == "git" && text.contains(['*', '?', '[']));
        words.extend(readings(text).map(|text| (text.to_owned(), is_pattern)));
        if INTERPRETERS.contains(&program) {
            words.extend(pieces(text));
        }
        let (name, value) = text.split_once('=').unwrap_or((text, text));
        let is_option = FOLDER_OPTIONS.contains(&name);
        let has_value = is_option && value.len() < text.len();
        if (enters || after_folder_option || has_value) && folders.len() < MOST_FOLDERS {
            let below = |(from, from_pattern): &(String, bool)| (joined(from, value), is_pattern || *from_pattern);
            let below: Vec<_> = folders.iter().map(below).collect();
            folders.extend(below);
        }
        after_folder_option = is_option && !has_value;
    }
    for redirect in &simple.redirects {
        match &redirect.target {
            Word::Literal(text) => words.push((text.clone(), false)),
            Word::Pattern(text) => words.push((text.clone(), true)),
            Word::Dynamic => {}
        }
    }
}

fn joined(folder: &str, path: &str) -> String {
    if folder.is_empty() || path.starts_with('/') { path.to_owned() } else { format!("{folder}/{path}") }
}

/// What a word may name: itself, the value of an option behind any of its letters, and what follows `=`, `@` or `:`.
fn readings(word: &str) -> impl Iterator<Item = &str> {
    let whole = (!word.starts_with('-')).then_some(word);
    let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default();
    let attached = letters.char_indices().skip(1).take(MOST_LETTERS).map(|(at, _)| &letters[at..]);
    let behind = word.match_indices(['=', '@', ':']).map(|(at, mark)| &word[at + mark.len()..]);
    // Git takes `:/a` for a path from the top of the repository.
    let from_top = word.strip_prefix(":/");
    whole.into_iter().chain(attached).chain(behind).chain(from_top).filter(|text| !text.is_empty())
}

/// Further letters of a word are not those of options.
const MOST_LETTERS: usize = 8;

fn is_certain(line: &ShellLine) -> bool {
    let certain = |word: &Word| *word != Word::Dynamic;
    let commands = &line.commands;
    !line.substitution
        && commands.iter().all(|simple| {
            !simple.assigns
                && simple.argv.iter().all(certain)
                && simple.redirects.iter().all(|redirect| certain(&redirect.target))
        })
}

/// The words of a text whose braces or variables leave a part of a path open, as patterns.
fn open_paths(text: &str) -> impl Iterator<Item = (String, bool)> {
    let apart = |c: char| c.is_whitespace() || "'\"`<>|;&".contains(c);
    text.split(apart).filter(|word| word.contains('/') && word.contains(['{', '$'])).map(|word| {
        let (mut pattern, mut depth, mut in_name) = (String::new(), 0_usize, false);
        for c in word.chars() {
            in_name = in_name && (c.is_alphanumeric() || c == '_');
            match c {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                '$' => in_name = true,
                _ if depth == 0 && !in_name => pattern.push(c),
                _ => {}
            }
            if matches!(c, '{' | '$') && !pattern.ends_with('*') {
                pattern.push('*');
            }
        }
        (pattern, true)
    })
}

/// The pieces of a text that could be names of files.
fn pieces(text: &str) -> impl Iterator<Item = (String, bool)> {
    let apart = |c: char| c.is_whitespace() || "'\"`$(){}<>|;&=,\\".contains(c);
    text.split(apart).filter(|piece| !piece.is_empty() && !piece.starts_with('-')).map(|piece| {
        let is_pattern = piece.contains(['*', '?', '[']) || piece.starts_with('~');
        (piece.to_owned(), is_pattern)
    })
}
